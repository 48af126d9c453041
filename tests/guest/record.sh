#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 120 --set node0.mem_mb=1024
#
# Reports by every path: what is recorded, what is filtered and why, what is malformed.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# tell LINE: the exit status of a call by the test driver
tell() {
	echo "$*" >/proc/pghot_tester
}

# counts NAME BY COMMAND...: COMMAND makes the counter grow by BY
counts() {
	counter=$1 by=$2
	shift 2
	before=$(stat "$counter")
	"$@"
	is "$(($(stat "$counter") - before))" "$by" "$*: $counter grows by $by"
}

malformed() {
	before=$(stat malformed_reports)
	reported=$(sum reported_)
	error=$(tell "$@" 2>&1)
	case $error in
	*"nvalid argument"*) ok 0 "'$*' is refused" ;;
	*) ok 1 "'$*' is refused with EINVAL" "$error" ;;
	esac
	least "$(stat malformed_reports)" $((before + 1)) "'$*' is counted as malformed"
	is "$(sum reported_)" "$reported" "'$*' is not counted as reported"
}

load
insmod /job/pghot_tester.ko
ok $? "a driver can use the exported functions"
echo 0 >/proc/sys/kernel/numa_balancing
hold anon 1 1000 anon
read -r pfn nr </tmp/anon/pfns
counts filtered_off 1 tell access "$pfn" 0 0 0
knob promote_rate_limit_MBps 0
knob enabled_sources 1

counts recorded_accesses 1 tell access "$pfn" 0 0 0
counts recorded_accesses 1 tell access "$pfn" -1 0 10
counts filtered_stale 1 tell access "$pfn" 0 0 60000
counts recorded_accesses 1 tell bulk "$pfn" 1 0 1 0 0
counts recorded_accesses 1 tell irq "$pfn" 1 0 1 0 0
counts recorded_accesses 1000 report anon spread 2 0
counts recorded_accesses 1000 report anon bulk 2 0
counts recorded_accesses 1000 report anon irq 2 15
counts reported_hintfaults 1000 report anon bulk 1 4
counts filtered_off 7 tell bulk "$pfn" 7 0 1 3 0
counts reported_chmu 7 tell bulk "$pfn" 7 0 1 3 0
counts filtered_fast 2 tell bulk 0x2000 2 0 1 0 0
counts filtered_untracked 3 tell bulk 0xfffffffffff 3 0 1 0 0
counts filtered_untracked 32768 tell bulk 0xfffffffffff 32768 0 1 0 0
# The nodes of this machine meet at 1 GiB: a range over both is partly fast. One report only: the
# slow pages are the kernel's, so the next one may be turned away already.
recorded=$(stat recorded_accesses)
counts filtered_fast 10 tell bulk 0x3fff6 30 0 1 0 0
is $(($(stat recorded_accesses) - recorded)) 20 "and the rest of it is recorded"
[ "$nr" -gt 0 ] || ok 1 "the holder's pages are known"
malformed bulk "$pfn" 0 0 1 0 0
malformed bulk "$pfn" 32769 0 1 0 0
malformed bulk "$pfn" 1 0 0 0 0
malformed bulk "$pfn" 1 0 2000000000 0 0
malformed bulk "$pfn" 1 -2 1 0 0
malformed bulk "$pfn" 1 4096 1 0 0
malformed bulk "$pfn" 1 0 1 6 0
malformed bulk "$pfn" 1 0 1 -1 0
malformed bulk "$pfn" 1 0 1 0 16
malformed bulk 0x10000000000000 1 0 1 0 0
malformed access "$pfn" 4096 0 0
malformed access "$pfn" 0 9 0
malformed null
laws
knob enabled_sources 0
counts filtered_off 1000 report anon bulk 2 0
release "$held"
rmmod pghot_tester
rmmod pghot
finish
