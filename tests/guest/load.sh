#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 120
#
# The module loads, does nothing until told to, costs what the documentation says, and goes.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# costs LAYOUT LIMIT: bytes a page, in hundredths
costs() {
	knob enabled_sources 1
	least "$(stat tracked_pages)" 100000 "layout $1: the slow node's pages are tracked"
	most $(($(stat hotmap_bytes) * 100 / $(stat tracked_pages))) "$2" \
		"layout $1: hundredths of a byte a page"
	knob enabled_sources 0
	is "$(stat hotmap_bytes)" 0 "layout $1: no byte when disabled"
}

load
ok $? "the module loads"
is "$(knob_is enabled_sources) $(knob_is target_nid) $(knob_is freq_threshold) $(knob_is promote_freq_window_ms) $(knob_is promote_rate_limit_MBps) $(knob_is kmigrated_sleep_ms) $(knob_is kmigrated_batch_nr)" \
	"0 -1 2 3000 65536 100 512" "the knobs have their defaults"
is "$(stat hotmap_bytes) $(stat slow_nodes)" "0 0" "off means off: no memory"
! thread "kmigrated.*"
ok $? "off means off: no thread"
! hooked should_numa_migrate_memory
ok $? "off means off: no hook"
grep -q '^node 0 tier fast$' /proc/pghot/nodes && grep -q '^node 1 tier slow$' /proc/pghot/nodes
ok $? "nodes: the kernel's memory tiers"
knob enabled_sources 1
ok $? "the first source is enabled"
thread kmigrated1
ok $? "the slow node has its thread"
! thread kmigrated0
ok $? "the fast node has none"
grep -q '^node 1 tier slow tracked_pages [0-9]* hotmap_bytes [0-9]* ready_pages 0 targets 0$' /proc/pghot/nodes
ok $? "nodes: map and target" "$(cat /proc/pghot/nodes)"
hooked should_numa_migrate_memory
ok $? "the hook is in place"
! rmmod pghot_nosuch 2>/dev/null && rmmod pghot
ok $? "the module unloads while enabled"
! test -e /proc/pghot && ! test -e "$VM"/pghot_enabled_sources && ! thread "kmigrated.*"
ok $? "and leaves no file and no thread"
! hooked should_numa_migrate_memory
ok $? "and no hook"

load layout=byte
costs byte 101
rmmod pghot
load layout=precise
costs precise 404
rmmod pghot

! load layout=double 2>/dev/null
ok $? "an unknown layout is refused"
dmesg | grep -q 'pghot: layout=double: want byte or precise'
ok $? "with a line that says so"
for tiers in '0' '0>1>2' '0>x' '>1' '0>0' '0>999' '0>'; do
	! load "tiers=$tiers" 2>/dev/null
	ok $? "tiers=$tiers is refused"
	dmesg | grep -q "pghot: tiers=\"$tiers\":"
	ok $? "tiers=$tiers: with a line that names it"
done
! test -e /proc/pghot
ok $? "a refused load leaves nothing"
finish
