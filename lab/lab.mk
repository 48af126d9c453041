# SPDX-License-Identifier: GPL-2.0-only
#
# The part of the build that belongs to the lab; included by the top Makefile.

BUILD ?= build
Q ?= $(if $(filter 1,$(V)),,@)

LAB_INIT := $(BUILD)/lab/init
LAB_CFLAGS ?= -std=c11 -O2 -static -Wall -Wextra -Werror

.PHONY: lab
lab: $(LAB_INIT) ## Build what the lab's guests boot

# PID 1 of the guests: there is no C library in them, so it is static.
$(LAB_INIT): lab/guest/init.c
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(LAB_CFLAGS) -o $@ $<
