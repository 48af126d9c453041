#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 240 --set plugin=count --with build/tests/guest/chmu
#
# A unit that lies: broken capabilities are refused with a reason, rubbish on the hotlist is counted and
# harms nobody, indices out of range start it afresh. And it is taken on and off under all that.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# chmu_stat NAME: a counter
chmu_stat() {
	awk -v n="chmu_$1" '$1 == n { print $2 }' $STAT
}

# broken OFFSET BYTES VALUE REASON: with that in its registers the unit is refused
broken() {
	was=$(chmu peek "$1" "$2")
	chmu poke "$1" "$2" "$3"
	knob enabled_sources 8 2>/dev/null
	is $? 1 "$4: it cannot be enabled"
	chmu poke "$1" "$2" "$was"
	grep -q "^chmu_unit_0 refused lab node 1: .*$4" $STAT
	ok $? "$4: it says so in stat" "$(grep ^chmu_unit $STAT)"
	dmesg | grep -q "pghot: chmu lab node 1: refused: .*$4"
	ok $? "$4: and in the log"
}

# again: off and on: a unit that was given up gets another chance
again() {
	knob enabled_sources 0
	knob enabled_sources 8
}

echo 0 >/proc/sys/kernel/numa_balancing
load
# Offsets from the block: the instance begins at 0x10.
broken 0x00 8 0 "no version"
broken 0x00 8 1 "no instance"
broken 0x08 8 8 "too short"
broken 0x10 8 0xa101050700 "fewer than 2"
broken 0x18 8 0 "no unit size"
broken 0x18 8 0x2111 "neither epoch nor always-on"
broken 0x20 8 4 "misaligned"
broken 0x28 8 0xfffffff8 "not mapped"
chmu units 9
knob enabled_sources 8
ok $? "more units than the device can have: the first works"
knob enabled_sources 0
chmu units 0
knob enabled_sources 8 2>/dev/null
is $? 1 "no unit"
is "$(grep ^chmu_unit $STAT)" "chmu_units 0" "is none"
chmu units 1

knob enabled_sources 8
ok $? "in order again it can be enabled"
hold hot 1 2000 touch
hot=$held
before=$(chmu_stat resyncs)
n=0
while [ $n -lt 50 ]; do
	chmu poke 0x7a 2 0xffff
	usleep 20000
	n=$((n + 1))
done
least "$(chmu_stat resyncs)" $((before + 1)) "a tail out of range is counted"
case $(grep ^chmu_unit_0 $STAT) in
*refused*)
	dmesg | grep -q "pghot: chmu lab node 1: not used any more: .*out of range"
	ok $? "if it was so 8 times in a row, the unit was given up, with a reason"
	again
	;;
esac
chmu rubbish 8
note "$(grep -E '^chmu' $STAT | tr '\n' ' ')"
least "$(chmu_stat filtered_address)" 1 "addresses that are no memory are filtered"
laws
again
ok $? "and on"
wait_for 30 on_node hot "$hot" 0 2000
is "$(where hot "$hot" 0)" 2000 "after all that, hot pages are promoted"

chmu rubbish 10 &
rubbish=$!
n=0
while [ $n -lt 20 ]; do
	knob enabled_sources 0
	knob enabled_sources 8 || ok 1 "enable $n"
	knob chmu_always_on $((n % 2))
	knob chmu_unit_bytes $((n % 3 ? 4096 : 2097152))
	usleep 100000
	n=$((n + 1))
done
is $n 20 "enabled and disabled 20 times under load and rubbish"
rmmod pghot
ok $? "unloaded while enabled"
load
knob enabled_sources 8
ok $? "and loaded again"
wait $rubbish
is "$(cat /tmp/hot/bad)" 0 "no content is lost"
release "$hot"
rmmod pghot
finish
