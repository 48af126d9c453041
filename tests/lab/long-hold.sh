#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the README promises of hotregion: with room, at least 95 % of the hot pages reach the fast node and
# none of them on the fault path; under pressure pghot promotes at least 90 % as many pages as the
# kernel's tiering in the same number of accesses; no page is ever corrupted.
# shellcheck disable=SC2016 # jq's variables, not the shell's
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

# point NAME JQ-CONDITION: on the runs of results.json, by $free, $pressure (hintfaults) and $numab2 (pressure)
point() {
	jq -e '
		def run($s; $c): .runs[] | select(.scenario == $s and .config == $c);
		run("free"; "hintfaults") as $free | run("pressure"; "hintfaults") as $pressure |
		run("pressure"; "numab2") as $numab2 | '"$2" "$tmp/results.json" >/dev/null
	ok $? "$1"
}

# Without the instrument, which makes the kernel's scanning ten times as slow, and long enough for that
# scanning to come round while each region is hot: it alone arms the faults.
# measure SCENARIO ACCESSES CONFIG...
measure() {
	lab/run "hotregion:$1" "${@:3}" --out "$tmp/$1" --set plugin=off --set "accesses=$2" 2>&1 | sed 's/^/# /'
}
measure free 400000000 hintfaults || true
measure pressure 1600000000 numab2 hintfaults || true
jq -s '{runs: map(.runs) | add}' "$tmp"/{free,pressure}/results.json >"$tmp/results.json"
point "all runs are ok" 'all(.runs[]; .status == "ok")'
point "no bad page, no bad line in the kernel log" 'all(.runs[]; .pages_bad == 0 and .dmesg_bad == 0)'
point "free: 95 % of the hot pages reach the fast node" '$free.hot_pages_fast >= 0.95 * $free.hot_pages'
point "free: all promotions are those of pghot, none is the fault path's" \
	'$free.vmstat.pgpromote_success == $free.pghot.pghot_moved'
point "pressure: promotes at least 90 % as many pages as numab2" \
	'$pressure.vmstat.pgpromote_success >= 0.9 * $numab2.vmstat.pgpromote_success'
point "the map takes at most 1.01 bytes a page" \
	'$pressure.pghot.pghot_hotmap_bytes <= 1.01 * $pressure.pghot.pghot_tracked_pages'

finish
