# SPDX-License-Identifier: GPL-2.0-only
#
# The part of the build that belongs to the lab; included by the top Makefile.

BUILD ?= build
Q ?= $(if $(filter 1,$(V)),,@)

LAB_INIT := $(BUILD)/lab/init
LAB_CFLAGS ?= -std=c11 -O2 -static -Wall -Wextra -Werror
LAB_PLUGIN := $(BUILD)/lab/plugin/pghot-lab.so
LAB_PLUGIN_CFLAGS ?= -std=c11 -O2 -fPIC -shared -fvisibility=hidden -pthread -Wall -Wextra -Werror
LAB_QEMU := $(shell command -v qemu-system-x86_64)
LABDEV := include/pghot/labdev.h include/pghot/user/labdev.h

.PHONY: lab
lab: $(LAB_INIT) $(if $(LAB_QEMU),$(LAB_PLUGIN),lab-no-plugin) ## Build what the lab's guests boot

# PID 1 of the guests: there is no C library in them, so it is static.
$(LAB_INIT): lab/guest/init.c lab/guest/calibrate.c lab/guest/calibrate.h $(LABDEV)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(LAB_CFLAGS) -Iinclude -o $@ $(filter %.c,$^)

# QEMU before 9.0 knows version 1 of the plugin interface, later ones want at least 2.
$(LAB_PLUGIN): $(wildcard lab/plugin/*.c lab/plugin/*.h) $(LABDEV) $(LAB_QEMU)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)major=$$($(LAB_QEMU) --version | sed -n '1s/.*version \([0-9]*\).*/\1/p') && \
		$(CC) $(LAB_PLUGIN_CFLAGS) -DQEMU_PLUGIN_API=$$((major < 9 ? 1 : 2)) -Iinclude -o $@ $(filter %.c,$^)

.PHONY: lab-no-plugin
lab-no-plugin:
	@echo '  SKIP    $(LAB_PLUGIN): qemu-system-x86_64 is not installed'
