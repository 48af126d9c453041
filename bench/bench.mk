# SPDX-License-Identifier: GPL-2.0-only
#
# Workload programs. Linked statically: the lab guest has no C library.

BUILD ?= build
Q ?= $(if $(filter 1,$(V)),,@)

HOTREGION := $(BUILD)/bench/hotregion
HOTREGION_CFLAGS ?= -std=c11 -O2 -static -Wall -Wextra -Werror -pthread
HOTREGION_SOURCES := $(addprefix bench/,hotregion.c args.c nodes.c range.c)

$(HOTREGION): $(HOTREGION_SOURCES) $(addprefix bench/,args.h base.h nodes.h range.h)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(HOTREGION_CFLAGS) -o $@ $(HOTREGION_SOURCES)
