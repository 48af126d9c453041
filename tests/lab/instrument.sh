#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a run says of its region of interest: the numbers add up, they show where the pages are, and the
# time follows. Two short runs that differ in nothing but the node the hot pages are on, and one
# without the instrument.
# shellcheck disable=SC2016 # jq's variables, not the shell's
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

out=$tmp/out

# point NAME JQ-CONDITION: on the runs $far (numab0) and $near (ideal)
point() {
	jq -e '[.runs[] | select(.config == "numab0")][0] as $far |
		[.runs[] | select(.config == "ideal")][0] as $near | '"$2" "$out/results.json" >/dev/null
	ok $? "$1"
}

# The hot memory is larger than the modelled cache, and hotregion accesses one line of each page.
size=(--set region_mb=64 --set regions=1 --set accesses=3000000 --set cache_kb=256)
lab/run hotregion:free numab0 ideal --out "$out" "${size[@]}" --set access=zipf --set zipf_exponent=0.5 2>&1 |
	sed 's/^/# /' || true
point "all runs are ok" 'all(.runs[]; .status == "ok")'
point "an access is a hit, fast or slow" \
	'all(.runs[].roi; .loads + .stores == .hits + .fast + .slow)'
point "and either the user'\''s or the kernel'\''s" \
	'all(.runs[].roi; . as $roi | all("loads", "stores", "hits", "fast", "slow";
		. as $n | $roi[$n] == $roi.user[$n] + $roi.kernel[$n]))'
point "the time of memory is at most misses times latencies, and at least that of those not streamed" \
	'all(.runs[].roi; .memory_ns <= .fast * 80 + .slow * 250 and
		.memory_ns >= ([.fast + .slow - .streamed, 0] | max) * 80)'
point "the workload'\''s accesses are all there" \
	'all(.runs[]; .roi.user.loads > .results.accesses and .roi.user.stores > .results.stores)'
point "pages on the slow node: most misses are slow" '$far.roi.slow > 1.5 * $far.roi.fast'
point "pages on the fast node: misses are fast" '$near.roi.fast > 100 * $near.roi.slow'
point "and the run takes less time" '$near.seconds < 0.75 * $far.seconds'
point "the CPU time of kernel threads is there" 'all(.runs[]; .cpu_ms | type == "object")'
point "the table'\''s machine says how it was measured" \
	'.machine.instrument == {mode: "latency", cache_kb: 256, cache_ways: 8, delay_scale: 5, kernel_accesses: "on", prof_slots: 1024,
		prof_ops: 300, chmu: "exact", chmu_entries: 4096}'

lab/run hotregion:free numab0 --out "$out" "${size[@]}" --set kernel_accesses=off 2>&1 | sed 's/^/# /' || true
point "kernel_accesses=off: those of user code alone are seen" \
	'.runs[0] | .status == "ok" and .roi.kernel.loads == 0 and .roi.kernel.stores == 0 and
		.roi.user.loads > .results.loads'

lab/run hotregion:free numab0 --out "$out" "${size[@]}" --set plugin=off 2>&1 | sed 's/^/# /' || true
point "plugin=off: a run without a region of interest" \
	'.runs[0].status == "ok" and .runs[0].roi == null and .machine.instrument == null'

finish
