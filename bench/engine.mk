# SPDX-License-Identifier: GPL-2.0-only
#
# The engine's micro-benchmark.

BUILD ?= build
Q ?= $(if $(filter 1,$(V)),,@)

BENCH_ENGINE := $(BUILD)/bench/engine
BENCH_ENGINE_CFLAGS ?= -std=gnu11 -O2 -Wall -Wextra -Werror

$(BENCH_ENGINE): bench/engine.c $(wildcard engine/*.c engine/*.h)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(BENCH_ENGINE_CFLAGS) -o $@ $(filter %.c,$^)
