#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ptrchase: how many loads are of cold memory, where the walk ends, and what a load takes.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash
# shellcheck source=tests/bench/lib.bash
. tests/bench/lib.bash
need ptrchase

OPS=123457
# 10 % of 64 MiB in whole pages.
HOT_PAGES=$((64 * 256 * 10 / 100))
HOT_BYTES=$((HOT_PAGES * 4096))

for percent in 0 1 33 99 100; do
	small ptrchase ops=$OPS cold_percent=$percent
	cold=$((OPS * percent / 100))
	is "$(value cold_loads)" $cold "cold_percent=$percent: so many loads are of cold memory"
	is "$(value place)" $(((OPS - cold) % (HOT_BYTES / 256))) "cold_percent=$percent: the walk ends where it must"
done
for bytes in 64 4096; do
	small ptrchase ops=$OPS node_bytes=$bytes
	is "$(value hot_nodes)" $((HOT_BYTES / bytes)) "node_bytes=$bytes: so many nodes are in hot memory"
done
is "$(value ops)" $OPS "an operation is a load"
near "$(value ns_per_load)" "$(awk -v rate="$(value rate)" 'BEGIN { print 1e9 / rate }')" 0.01 \
	"ns_per_load is what the rate says"
small ptrchase ops=1000000 cold_percent=0 hot_set=1 node_bytes=4096
small_ns=$(value ns_per_load)
small ptrchase ops=1000000 cold_percent=0 hot_set=49
awk -v small="$small_ns" -v large="$(value ns_per_load)" 'BEGIN { exit !(large > 1.5 * small) }'
ok $? "loads of memory take longer than those of a cache" "$small_ns and $(value ns_per_load) ns"
for bytes in 32 100 8192; do
	refuses 2 ptrchase node_bytes=$bytes "bad value in 'node_bytes=$bytes'" \
		"node_bytes=$bytes is refused"
done
refuses 1 ptrchase hot_set=60 "hot_set=60: it must be a page or more and less than working_set, which is 50" \
	"a hot set that is larger than all memory is refused"

finish
