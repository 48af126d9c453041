# SPDX-License-Identifier: GPL-2.0-only
#
# Test programs and modules; scripts/check runs them.

TESTS := $(BUILD)/tests
ENGINE := $(wildcard engine/*.c engine/*.h)
SANITIZE := -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
ENGINE_TESTS := unit oracle interleave threads governor
HW := $(wildcard hw/*.c hw/*.h) engine/port.h $(wildcard include/pghot/*.h)
HW_TESTS := sample throttle relax chmu chmu_tune cxl
BENCH_TESTS := graph measure place zipf
GUEST_PROGRAMS := holder failnth prof chmu hotness
TEST_CFLAGS := -std=gnu11 -Wall -Wextra -Werror

.PHONY: check-programs check-guest-programs check-modules

check-programs: $(ENGINE_TESTS:%=$(TESTS)/engine/%) $(TESTS)/engine/threads-tsan \
	$(HW_TESTS:%=$(TESTS)/hw/%) $(BENCH_TESTS:%=$(TESTS)/bench/%) $(TESTS)/hw/sample-tsan $(TESTS)/lab/counters check-guest-programs

# All that the guests of tests/guest bring along.
check-guest-programs: $(GUEST_PROGRAMS:%=$(TESTS)/guest/%) check-modules

# What is the test's and what the engine's own: interleave brings the engine's sources itself.
$(TESTS)/engine/interleave: tests/engine/interleave.c $(ENGINE) $(wildcard tests/*.h tests/engine/*.h)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(TEST_CFLAGS) $(SANITIZE) -o $@ $<

$(TESTS)/engine/threads-tsan: tests/engine/threads.c $(ENGINE) $(wildcard tests/*.h tests/engine/*.h)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(TEST_CFLAGS) -g -O1 -fsanitize=thread -Wno-tsan -pthread -o $@ $< $(filter engine/%.c,$^)

$(TESTS)/engine/%: tests/engine/%.c $(ENGINE) $(wildcard tests/*.h tests/engine/*.h)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(TEST_CFLAGS) $(SANITIZE) -pthread -o $@ $< $(filter engine/%.c,$^)

$(TESTS)/hw/sample-tsan: tests/hw/sample.c $(HW) tests/tap.h
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(TEST_CFLAGS) -I. -Iinclude -g -O1 -fsanitize=thread -pthread -o $@ $< $(filter hw/%.c,$^)

$(TESTS)/hw/%: tests/hw/%.c $(HW) tests/tap.h
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(TEST_CFLAGS) -I. -Iinclude $(SANITIZE) -pthread -o $@ $< $(filter hw/%.c,$^)

$(TESTS)/bench/graph: bench/bfs_check.c $(WORKLOAD_SOURCES)
$(TESTS)/bench/measure: $(WORKLOAD_SOURCES)
$(TESTS)/bench/zipf: $(addprefix bench/,heat.c latency.c pattern.c)

# A test includes the source it is about, so that it sees what that has for itself.
$(TESTS)/bench/%: tests/bench/%.c bench/%.c $(BENCH_HEADERS) tests/tap.h
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(TEST_CFLAGS) -DPROGRAM_NAME='"$(@F)"' -I. -Iinclude $(SANITIZE) -pthread -o $@ $< \
		$(filter-out bench/$*.c,$(filter bench/%.c,$^)) -lm

$(TESTS)/lab/counters: tests/lab/counters.c lab/plugin/counters.c lab/plugin/counters.h tests/tap.h
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(TEST_CFLAGS) $(SANITIZE) -pthread -o $@ $(filter %.c,$^)

$(TESTS)/guest/hotness: $(wildcard tests/guest/hotness*.c) $(wildcard tests/guest/hotness*.h) include/pghot/chmu.h $(LABDEV)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) -std=gnu11 -O2 -static -Wall -Wextra -Werror -Iinclude -o $@ $(filter %.c,$^)

# Guests have no libraries.
$(TESTS)/guest/%: tests/guest/%.c $(LABDEV) include/pghot/chmu.h
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) -std=gnu11 -O2 -static -Wall -Wextra -Werror -Iinclude -o $@ $<

# A module in $(1), made of the files of $(2), that calls what pghot.ko exports.
define build_driver
	@echo '  KBUILD  $(TESTS)/$(1)/pghot_$(1).ko'
	$(Q)mkdir -p $(TESTS)/$(1)
	$(Q)cp -u $(2)/* $(TESTS)/$(1)/
	$(Q)scripts/kbuild $(TESTS)/$(1) '$(KVER)' PGHOT=$(CURDIR)/$(BUILD)/kmod \
		KBUILD_EXTRA_SYMBOLS=$(CURDIR)/$(BUILD)/kmod/Module.symvers
endef

# The module with its fault points, the example of a driver, and a driver with reports of all kinds.
check-modules: kmod
	@echo '  KBUILD  $(TESTS)/faults/pghot.ko'
	$(Q)scripts/stage $(TESTS)/faults
	$(Q)scripts/kbuild $(TESTS)/faults '$(KVER)' PGHOT_FAULTS=1
	$(call build_driver,tester,tests/guest/tester)
	$(call build_driver,tracker,examples/tracker)
