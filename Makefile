# SPDX-License-Identifier: GPL-2.0-only
#
# make help lists the targets.

BUILD := build
OUT := out
Q := $(if $(filter 1,$(V)),,@)
# Where `make kmod` builds for; empty: the kernel that the lab boots.
KVER ?=
# 1: make bench-lab takes a quick look only.
QUICK ?=
export V

.DEFAULT_GOAL := all
include bench/bench.mk bench/engine.mk lab/lab.mk tests/tests.mk

.PHONY: all kmod bench-programs setup demo check check-long check-debug bench bench-lab bench-publish clean help

all: kmod bench-programs lab ## Build the module, the workloads and the lab

kmod: ## Build the module; KVER=... for that kernel
	@echo '  KBUILD  $(BUILD)/kmod/pghot.ko'
	$(Q)scripts/stage $(BUILD)/kmod
	$(Q)scripts/kbuild $(BUILD)/kmod '$(KVER)'

bench-programs: $(HOTREGION) $(ROI) $(CALIBRATE) $(HOSTRUN) $(FILEREADER) $(WORKLOADS) $(BENCH_ENGINE) ## Build the workloads and the engine's benchmark

setup: ## Install the Debian packages that are missing
	$(Q)scripts/setup build lab check

demo: ## Boot the tiered machine: no tiering, the kernel's, pghot; print the table
	$(Q)scripts/setup build lab
	$(Q)$(MAKE) --no-print-directory all
	$(Q)lab/run hotregion numab0 numab2 hintfaults hwhints chmu --out $(OUT)/demo
	$(Q)lab/table --funnel $(OUT)/demo/results.json
	@echo
	@echo 'results: $(OUT)/demo/results.json; console logs: $(OUT)/demo/runs/'

check: ## Build and run all tests
	$(Q)scripts/setup build lab check
	$(Q)$(MAKE) --no-print-directory all check-programs
	$(Q)scripts/check

check-long: ## Run the tests that take minutes each, too long for make check
	$(Q)scripts/setup build lab check
	$(Q)$(MAKE) --no-print-directory all check-programs
	$(Q)scripts/check $(wildcard tests/*/long-*.sh)

# The guest tests to run on the debug kernel; how much slower than a stock one it is.
GUEST_TESTS ?= $(filter-out %/lib.sh,$(wildcard tests/guest/*.sh))
DEBUG_SLOW := 6
# Guests that run at a time; the one that is alone wants all CPUs.
DEBUG_JOBS ?= $(shell nproc)
DEBUG_ALONE := tests/guest/debug-stress.sh

check-debug: ## Run the guest tests on a kernel with KASAN, lockdep, ..., built the first time
	$(Q)scripts/setup build lab check debug
	$(Q)KVER=$$(scripts/assets kver --kver debug) && export KVER && scripts/assets kernel >/dev/null && \
		$(MAKE) --no-print-directory BUILD=$(BUILD)/debug KVER=$$KVER all check-guest-programs && \
		export BUILD=$(BUILD)/debug LAB_SLOW=$(DEBUG_SLOW) && status=0 && \
		{ set -- $(filter-out $(DEBUG_ALONE),$(GUEST_TESTS)); [ $$# -eq 0 ] || \
			JOBS=$(DEBUG_JOBS) LAB_GUESTS=$(DEBUG_JOBS) OUT=$(OUT)/debug scripts/check "$$@" || status=1; } && \
		{ set -- $(filter $(DEBUG_ALONE),$(GUEST_TESTS)); [ $$# -eq 0 ] || \
			OUT=$(OUT)/debug-alone scripts/check "$$@" || status=1; } && exit $$status

bench: ## Measure the engine; writes out/bench.json
	$(Q)scripts/setup build
	$(Q)$(MAKE) --no-print-directory $(BENCH_ENGINE)
	@mkdir -p $(OUT)
	$(Q)$(BENCH_ENGINE) --json $(OUT)/bench.json

bench-lab: ## Measure all workloads with all configs, for hours; QUICK=1: a look at five of them
	$(Q)scripts/setup build lab
	$(Q)$(MAKE) --no-print-directory all
	$(Q)lab/bench $(if $(filter 1,$(QUICK)),quick,full)

bench-publish: ## Write docs/results.md from what make bench-lab measured
	$(Q)lab/report --publish

clean: ## Remove what was built; out/ and the download cache stay
	$(Q)rm -rf $(BUILD)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile tests/tests.mk lab/lab.mk
	@echo
	@echo '  V=1 shows the commands.'
