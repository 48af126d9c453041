#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 400 --set node1.mem_mb=512 --set plugin=count
#
# Each allocation that the module asks for, by itself or by what it calls, fails once: the N-th, for
# every N until all of it succeeds. Loading and enabling then fail whole or work all the same; what
# gives memory back always works. faults.sh does so with the module's own fault points, on any kernel.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

MANY=1000
module=/lib/modules/$(uname -r)/extra/pghot.ko

# nth N COMMAND...: its exit status in $status, its complaint in /tmp/why; $failed is 1 if the N-th
# allocation came, and failed
nth() {
	# shellcheck disable=SC2046 # two words
	set -- $(failnth "$@" 2>/tmp/why)
	status=$1 failed=$(($2 == 0))
}

# sweep NAME UNDO CHECK COMMAND...: COMMAND with the N-th allocation failing, for every N. UNDO after it
# succeeded, and CHECK after that and after it failed. Leaves their numbers in $refused and $borne.
sweep() {
	name=$1 undo=$2 check=$3 n=0 refused=0 borne=0
	shift 3
	while [ $n -lt $MANY ]; do
		n=$((n + 1))
		nth $n "$@"
		if [ "$status" -ne 0 ]; then
			[ $failed -eq 1 ] || ok 1 "$name: fails, and no allocation did"
			grep -q "Cannot allocate memory" /tmp/why ||
				ok 1 "$name: no memory for allocation $n is ENOMEM" "$(cat /tmp/why)"
			refused=$((refused + 1))
		else
			$undo || ok 1 "$name: $undo after allocation $n failed"
			borne=$((borne + failed))
		fi
		$check || ok 1 "$name: $check after allocation $n failed"
		[ $failed -eq 1 ] || break
	done
	[ $n -lt $MANY ]
	ok $? "$name: $((n - 1)) allocations fail one by one, $refused times it fails whole, $borne times it works"
}

unload() {
	rmmod pghot
}

# on: enable all sources that this machine has
on() {
	knob enabled_sources $all
}

on_again() {
	off && on
}

load_again() {
	nothing_left && load && on
}

turn_off() {
	knob enabled_sources 0
}

faults_in_modules
echo 0 >/proc/sys/kernel/numa_balancing
sweep loading unload nothing_left insmod "$module"
least $refused 3 "loading: so many made it fail"
sweep "loading, tiers given" unload nothing_left insmod "$module" layout=precise 'tiers=0>1'

load
sources=0 all=0
for source in 1 2 4 8 16; do
	knob enabled_sources $source 2>/dev/null || continue
	turn_off
	sources=$((sources + 1)) all=$((all | source))
	sweep "enabling source $source" turn_off off sh -c "echo $source >$VM/pghot_enabled_sources"
	least $refused 5 "enabling source $source: so many made it fail"
	knob enabled_sources $source
	ok $? "enabling source $source: works after all of that"
	turn_off
done
least $sources 3 "sources that this machine has"
sweep "enabling all of them" turn_off off sh -c "echo $all >$VM/pghot_enabled_sources"
on
sweep disabling on_again true sh -c "echo 0 >$VM/pghot_enabled_sources"
is $refused 0 "disabling: never fails"
turn_off
off
ok $? "disabling: nothing is left after all of that"
on
sweep "unloading while enabled" load_again true rmmod pghot
is $refused 0 "unloading: never fails"
unload
nothing_left
ok $? "unloading: nothing is left after all of that"
finish
