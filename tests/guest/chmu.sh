#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 240 --set plugin=count --with build/tests/guest/chmu
#
# A hotness unit alone, without hint faults, brings all hot pages to the fast node and leaves the cold
# ones; in both modes, with all sizes of a unit, automatic and by hand. What it cannot do is refused.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# chmu NAME: a counter
chmu_stat() {
	awk -v n="chmu_$1" '$1 == n { print $2 }' $STAT
}

# unit_is WORD: the value that follows WORD in the unit's line
unit_is() {
	sed -n "s/^chmu_unit_0 in_use .*$1 \([^ ]*\).*/\1/p" $STAT
}

# unit_has NAME VALUE
unit_has() {
	[ "$(unit_is "$1")" = "$2" ]
}

# promotes NAME KNOB=VALUE...: with these knobs, all pages of a new hot process go, none of a cold one
promotes() {
	name=$1
	shift
	for setting; do
		knob "chmu_${setting%=*}" "${setting#*=}" || ok 1 "$name: $setting"
	done
	hold cold 1 1500 anon
	cold=$held
	knob enabled_sources 8 || ok 1 "$name: enabled"
	for setting; do
		case $setting in
		unit_bytes=0 | threshold=0 | epoch_us=0) ;;
		unit_bytes=* | threshold=* | epoch_us=*)
			is "$(unit_is "${setting%=*}")" "${setting#*=}" "$name: $setting is what the unit does" ;;
		esac
	done
	hold hot 1 2500 touch
	hot=$held
	wait_for 20 on_node hot "$hot" 0 2500
	is "$(where hot "$hot" 0)" 2500 "$name: all hot pages are promoted"
	note "$(grep chmu_unit_0 $STAT)"
	knob enabled_sources 0
	# Asked only now: the question makes it look at its pages.
	most "$(where cold "$cold" 0)" "${cold_max:-0}" "$name: of 1500 cold pages"
	is "$(cat /tmp/hot/bad) $(cat /tmp/cold/bad)" "0 0" "$name: no content is lost"
	release "$hot"
	release "$cold"
	for setting; do
		knob "chmu_${setting%=*}" 0
	done
}

# refuses KNOB VALUE TEXT: the write fails with EINVAL, one line that has TEXT says why, and all is as before
refuses() {
	was=$(knob_is "$1")
	unit_was=$(unit_is unit_bytes)
	lines=$(dmesg | grep -c 'pghot: ')
	error=$(knob "$1" "$2" 2>&1)
	case $error in
	*"nvalid argument"*) ok 0 "$1=$2 is refused" ;;
	*) ok 1 "$1=$2 is refused" "$error" ;;
	esac
	is "$(knob_is "$1") $(unit_is unit_bytes)" "$was $unit_was" "$1=$2 changes nothing"
	is "$(dmesg | grep -c 'pghot: ')" $((lines + 1)) "$1=$2: one line"
	dmesg | tail -n 1 | grep -q "pghot_$1=$2: .*lab node 1 .*$3"
	ok $? "$1=$2: it names what the unit can do" "$(dmesg | tail -n 1)"
}

echo 0 >/proc/sys/kernel/numa_balancing
load
is "$(grep ^chmu_unit $STAT | tr '\n' ';')" "chmu_units 1;chmu_unit_0 off lab node 1;" "the unit is seen while off"
seen=$(chmu truth | awk '$1 == "seen" { print $2 }')
is "$seen" 0 "and counts nothing"

promotes "all automatic"
least "$(chmu_stat entries)" 2500 "entries were read"
is "$(chmu_stat filtered_address) $(chmu_stat resyncs) $(chmu_stat timeouts)" "0 0 0" "nothing was odd"
seen=$(chmu truth | awk '$1 == "seen" { print $2 }')
least "$seen" 10000 "the unit saw accesses"
sleep 1
is "$(chmu truth | awk '$1 == "seen" { print $2 }')" "$seen" "off, it sees none"
thread pghot_chmu && ok 1 "off, there is no thread"

promotes "by hand" threshold=8 epoch_us=200000 unit_bytes=4096
knob freq_threshold 6
promotes "always on" always_on=1 threshold=6
promotes "always on and ready" always_on=1 ready=1 threshold=2
knob freq_threshold 2
promotes "units smaller than a page" unit_bytes=256
# A page shares its heat with 3 others, whoever owns them.
cold_max=150
promotes "units of 4 pages" unit_bytes=16384
unset cold_max

knob enabled_sources 8
refuses chmu_unit_bytes 8192 "256 4096 16384 65536 2097152"
refuses chmu_epoch_us 999 "1000 to 16000000"
refuses chmu_epoch_us 16000001 "1000 to 16000000"
refuses chmu_threshold 65536 "1 to 65535"
refuses chmu_count 5 "can do 1 2 3"
refuses chmu_downsampling 9 "0 1 2 3 4 5 6 7 8"
knob chmu_epoch_us 123456
ok $? "an epoch that the unit can have"
wait_for 5 unit_has epoch_us 123500
is "$(unit_is epoch_us)" 123500 "is rounded"
knob chmu_unit_bytes 2097152
ok $? "another unit size while enabled"
wait_for 5 unit_has unit_bytes 2097152
is "$(unit_is unit_bytes)" 2097152 "takes effect"
knob chmu_unit_bytes 0
knob chmu_epoch_us 0
knob enabled_sources 0
knob chmu_unit_bytes 8192
ok $? "off, any power of two is taken"
knob enabled_sources 8 2>/dev/null
is $? 1 "but then it cannot be enabled"
dmesg | grep -q "pghot_chmu_unit_bytes=8192: chmu lab node 1 can do 256 4096"
ok $? "and a line says why"
is "$(knob_is enabled_sources) $(stat hotmap_bytes)" "0 0" "all is off"
knob chmu_unit_bytes 0
knob enabled_sources 8
ok $? "with the knob in order it can"
laws
rmmod pghot
finish
