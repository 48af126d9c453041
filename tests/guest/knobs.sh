#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 120
#
# A bad write to a knob is refused with EINVAL and changes nothing; a good one takes effect.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# refused NAME VALUE...
refused() {
	name=$1
	shift
	for value; do
		before=$(knob_is "$name")
		error=$(knob "$name" "$value" 2>&1)
		case $error in
		*"nvalid argument"*) ok 0 "$name: '$value' is refused" ;;
		*) ok 1 "$name: '$value' is refused with EINVAL" "$error" ;;
		esac
		[ "$(knob_is "$name")" = "$before" ] || ok 1 "$name: unchanged after '$value'"
	done
}

taken() {
	knob "$1" "$2"
	ok $? "$1: $2 is taken"
	is "$(knob_is "$1")" "$2" "$1: reads $2"
}

load
text='x 1x 1,2 "1 2" 0x 1.5 -- 99999999999999999999'
eval "set -- $text ''"
for path in "$VM"/pghot_*; do
	refused "${path#*pghot_}" "$@" -2 2147483648 "$(printf '%064d' 1)"
done
refused enabled_sources 64 65 -1
refused target_nid 1 2 1023 1024
refused freq_threshold 0 7 -1
refused promote_freq_window_ms 99 600001 0
refused promote_rate_limit_MBps -1 1048577
refused weight_chmu 0 7 -1
refused limit_hintfaults_MBps -1 1048577
refused kmigrated_sleep_ms 0 10001
refused kmigrated_batch_nr 0 4097
refused max_mappers 0 1025
refused mlocked -1 3
refused huge_hot_percent -1 101
refused split_huge -1 2
refused chmu_unit_bytes 128 255 4097 268435456 -1
refused chmu_threshold -1
refused chmu_epoch_us -1
refused chmu_always_on 2
refused chmu_ready 2
refused chmu_count 0 7
refused chmu_downsampling -1 16
refused pgtscan_interval_ms 9 600001
refused pgtscan_cpu_percent 0 101
refused pgtscan_flush 2 -1
for again in off on; do
	taken target_nid 0
	taken target_nid -1
	taken freq_threshold 6
	taken freq_threshold 1
	taken promote_freq_window_ms 600000
	taken promote_freq_window_ms 100
	taken promote_rate_limit_MBps 1048576
	taken promote_rate_limit_MBps 0
	taken weight_hintfaults 6
	taken weight_hintfaults 1
	taken limit_pagecache_MBps 1048576
	taken limit_pagecache_MBps 0
	taken kmigrated_sleep_ms 10000
	taken kmigrated_sleep_ms 1
	taken kmigrated_batch_nr 4096
	taken kmigrated_batch_nr 1
	taken max_mappers 1024
	taken mlocked 0
	taken huge_hot_percent 100
	taken split_huge 1
	taken chmu_unit_bytes 134217728
	taken chmu_unit_bytes 256
	taken chmu_threshold 2147483647
	taken chmu_downsampling 15
	taken pgtscan_interval_ms 600000
	taken pgtscan_interval_ms 10
	taken pgtscan_cpu_percent 1
	taken pgtscan_cpu_percent 100
	[ $again = on ] || taken enabled_sources 5
done
taken enabled_sources 0
knob kmigrated_batch_nr 010
is "$(knob_is kmigrated_batch_nr)" 10 "010 is ten"
echo 0x1 >"$VM"/pghot_enabled_sources
is "$(knob_is enabled_sources)" 1 "a hexadecimal number is one, too"
taken enabled_sources 0
is "$(busybox stat -c %a "$VM"/pghot_enabled_sources)" 644 \
	"knobs are for root to write"
rmmod pghot
finish
