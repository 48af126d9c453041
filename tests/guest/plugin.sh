#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 120 --set plugin=latency
#
# The instrument agrees with what a program knows by construction: counts exactly, latencies
# within 10 %. It refuses what makes no sense.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# calibrated NAME COMMAND...: the program is content; each comparison is a point of its own
calibrated() {
	name=$1
	shift
	calibrate "$@" >/tmp/calibrate 2>&1
	status=$?
	while read -r what key got of want; do
		[ "$of" != of ] || [ "$what" = chase ] || is "$got" "$want" "$name: $key"
	done </tmp/calibrate
	! grep -q '^chase' /tmp/calibrate || sed 's/^/# /' /tmp/calibrate >&3
	ok $status "$name" "$(tail -n 1 /tmp/calibrate)"
}

echo 0 >/proc/sys/kernel/numa_balancing
calibrate ranges | sed 's/^/# /' >&3
is "$(calibrate ranges | awk '$2 == "node" { print $3, $4 }' | sort -u | tr '\n' ' ')" "0 fast 1 slow " \
	"every node's memory is known"
calibrated "known accesses" count 0 1
calibrated "and once more" count 0 1
calibrated "slow is slower than fast as configured" chase 0 1
calibrated "what makes no sense" refuse

roi reset
roi run sh -c 'exit 3'
is $? 3 "roi run: the exit status of the command"
roi report | grep -q '^roi loads [1-9]' && roi report | grep -q '^roi kernel_stores [1-9]'
ok $? "roi report: accesses of the command and of the kernel for it"
roi run /nosuch 2>/dev/null
is $? 127 "roi run: no such command"
roi reset
is "$(roi report | awk '{ s += $3 } END { print s }')" 0 "roi reset: all is forgotten"
finish
