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
# Benchmarks that share workload.h.
WORKLOADS := $(addprefix $(BUILD)/bench/,graph500 gups llm ptrchase scan twotenants xsbench zipfcache)
BENCH_CFLAGS ?= -std=c11 -O2 -static -Wall -Wextra -Werror -pthread
BENCH_HEADERS := $(wildcard bench/*.h) include/pghot/labdev.h include/pghot/user/labdev.h

# A program of several sources, which complains under its own name.
define bench_program
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(BENCH_CFLAGS) -DPROGRAM_NAME='"$(@F)"' -Iinclude -o $@ $(filter %.c,$^) -lm
endef

$(HOTREGION): $(addprefix bench/,hotregion.c args.c clock.c keys.c nodes.c overlap.c pattern.c place.c populate.c probe.c range.c roi.c sampler.c workload.c) $(BENCH_HEADERS)
	$(bench_program)

$(ROI): bench/roi_main.c bench/roi.c $(BENCH_HEADERS)
	$(bench_program)

$(CALIBRATE): bench/calibrate.c bench/nodes.c $(BENCH_HEADERS)
	$(bench_program)

$(HOSTRUN): bench/hostrun.c bench/nodes.c bench/populate.c bench/range.c bench/roi.c $(BENCH_HEADERS)
	$(bench_program)

$(FILEREADER): bench/filereader.c bench/keys.c bench/nodes.c bench/roi.c $(BENCH_HEADERS)
	$(bench_program)

WORKLOAD_SOURCES := $(addprefix bench/,keys.c measure.c nodes.c pattern.c place.c populate.c roi.c sampler.c workload.c)

# What a workload has beside its own file and those of all.
$(BUILD)/bench/graph500: $(addprefix bench/,bfs_check.c graph.c)
$(BUILD)/bench/gups: bench/words.c
$(BUILD)/bench/llm: $(addprefix bench/,layer.c layer_reference.c mapfile.c weights.c)
$(BUILD)/bench/twotenants: $(addprefix bench/,batch.c clock.c latency.c requests.c tenant.c words.c)
$(BUILD)/bench/xsbench: $(addprefix bench/,materials.c nuclides.c)
$(BUILD)/bench/zipfcache: $(addprefix bench/,cache.c heat.c latency.c zipf.c)

$(WORKLOADS): $(BUILD)/bench/%: bench/%.c $(WORKLOAD_SOURCES) $(BENCH_HEADERS)
	$(bench_program)
