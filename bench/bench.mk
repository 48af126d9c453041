# SPDX-License-Identifier: GPL-2.0-only
#
# Workload programs. Linked statically: the lab guest has no C library.

BUILD ?= build
Q ?= $(if $(filter 1,$(V)),,@)

HOTREGION := $(BUILD)/bench/hotregion
ROI := $(BUILD)/bench/roi
CALIBRATE := $(BUILD)/bench/calibrate
HOSTRUN := $(BUILD)/bench/hostrun
FILEREADER := $(BUILD)/bench/filereader
ROI_HEADERS := bench/roi.h include/pghot/labdev.h include/pghot/user/labdev.h
HOTREGION_CFLAGS ?= -std=c11 -O2 -static -Wall -Wextra -Werror -pthread
HOTREGION_SOURCES := $(addprefix bench/,hotregion.c args.c keys.c nodes.c overlap.c pattern.c probe.c range.c roi.c)

$(HOTREGION): $(HOTREGION_SOURCES) $(addprefix bench/,args.h base.h clock.h keys.h nodes.h overlap.h pattern.h probe.h range.h) $(ROI_HEADERS)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(HOTREGION_CFLAGS) -Iinclude -o $@ $(HOTREGION_SOURCES) -lm

$(ROI): bench/roi_main.c bench/roi.c $(ROI_HEADERS)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(HOTREGION_CFLAGS) -Iinclude -o $@ $(filter %.c,$^)

$(CALIBRATE): bench/calibrate.c bench/nodes.c bench/base.h bench/nodes.h $(ROI_HEADERS)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(HOTREGION_CFLAGS) -DPROGRAM_NAME='"calibrate"' -Iinclude -o $@ $(filter %.c,$^)

$(HOSTRUN): bench/hostrun.c bench/nodes.c bench/range.c bench/roi.c $(addprefix bench/,base.h nodes.h range.h) $(ROI_HEADERS)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(HOTREGION_CFLAGS) -DPROGRAM_NAME='"hostrun"' -Iinclude -o $@ $(filter %.c,$^)

$(FILEREADER): bench/filereader.c bench/keys.c bench/nodes.c bench/roi.c $(addprefix bench/,base.h clock.h keys.h nodes.h) $(ROI_HEADERS)
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(HOTREGION_CFLAGS) -DPROGRAM_NAME='"filereader"' -Iinclude -o $@ $(filter %.c,$^)
