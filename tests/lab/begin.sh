#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Benchmarks in a guest (begin = roi): nothing moves until the measured part begins, what happens after it is
# not counted, and a workload that never gets there is a failed run that says so.
# shellcheck disable=SC2016 # jq's variables, not the shell's
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

[[ -e build/kmod/pghot.ko && -x build/lab/init && -x build/bench/gups ]] ||
	skip_all "the module, the lab or gups is not built: run make"
command -v qemu-system-x86_64 >/dev/null || skip_all "there is no qemu-system-x86_64"

# point NAME JQ-CONDITION: on the only run
point() {
	jq -e ".runs[0] | $2" "$tmp/out/results.json" >/dev/null
	ok $? "$1" "$(jq -c '.runs[0] | {status, error, results, vmstat: (.vmstat | with_entries(select(.key | test("^pg(pro|de)mote"))))}' "$tmp/out/results.json")"
}

# lab CONFIG OPTION...: gups in one guest, its table twice the fast node, so that memory spills
lab() {
	rm -rf "$tmp/out"
	lab/run gups:over2 "$1" --out "$tmp/out" --set plugin=off --set node0.mem_mb=320 --set node1.mem_mb=1024 "${@:2}" 2>&1 |
		sed 's/^/# /' || true
}

lab numab2 --set ops=1
log=$tmp/out/runs/over2.numab2.1/result.log
point "numab2: one operation is a run" '.status == "ok" and .results.ops == 1'
is "$(awk '$1 == "phase" || $1 == "step" { printf "%s ", $2 }' "$log")" "populate settings access verify report " \
	"the config takes effect when memory is filled, before what is measured"
point "the hot set is where it spilled to" '.results.hot_pages_fast * 10 < .results.hot_pages'
point "nothing was demoted or promoted while memory was filled, nor by the check" \
	'.vmstat.pgpromote_success == 0 and .vmstat.pgdemote_kswapd + .vmstat.pgdemote_direct == 0'

lab numab0 --set working_set=5000
point "a workload that does not fit is a failed run" '.status == "failed"'
like "$(<"$tmp/out/runs/over2.numab0.1/console.log")" "gups: this piece of memory needs [0-9]+ MiB, and the nodes have [0-9]+ MiB" \
	"the console says why"
like "$(grep '^error ' "$tmp/out/runs/over2.numab0.1/result.log")" "ended with exit status 1, before what is counted" "and says where it was"

finish
