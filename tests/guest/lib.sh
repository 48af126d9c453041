# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0-only
#
# lib - for the guest tests: test points on file descriptor 3, and words for what they do often.
# Sourced as /job/lib.sh.

points=0
STAT=/proc/pghot/stat
VM=/proc/sys/vm

# ok STATUS NAME: one test point; STATUS 0 is good
ok() {
	points=$((points + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $points - $2" >&3
	else
		echo "not ok $points - $2" >&3
		[ -z "${3:-}" ] || echo "#   $3" >&3
	fi
}

# is GOT WANT NAME
is() {
	if [ "$1" = "$2" ]; then ok 0 "$3"; else ok 1 "$3" "got '$1', want '$2'"; fi
}

# least GOT WANT NAME: at least
least() {
	if [ "${1:-0}" -ge "$2" ]; then ok 0 "$3 ($1)"; else ok 1 "$3" "got '$1', want at least '$2'"; fi
}

# most GOT WANT NAME: at most
most() {
	if [ "${1:-0}" -le "$2" ]; then ok 0 "$3 ($1)"; else ok 1 "$3" "got '$1', want at most '$2'"; fi
}

# between GOT LOW HIGH NAME
between() {
	if [ "${1:-0}" -ge "$2" ] && [ "$1" -le "$3" ]; then
		ok 0 "$4 ($1)"
	else
		ok 1 "$4" "got '$1', want $2 to $3"
	fi
}

note() {
	echo "# $*" >&3
}

# skip NAME REASON: a test point that cannot be made here
skip() {
	points=$((points + 1))
	echo "ok $points - $1 # SKIP $2" >&3
}

# skip_all REASON: the test ends before its first point
skip_all() {
	echo "1..0 # SKIP $1" >&3
	exit 0
}

finish() {
	echo "1..$points" >&3
	exit 0
}

# load [PARAMETER...]: insert the module
load() {
	insmod "/lib/modules/$(uname -r)/extra/pghot.ko" "$@"
}

# value NAME: what /proc/pghot/stat says of it
value() {
	awk -v n="$1" '$1 == n { print $2 }' $STAT
}

# stat NAME: a counter that is no source's
stat() {
	value "pghot_$1"
}

# reaches NAME COUNT: is the value COUNT or more by now?
reaches() {
	[ "$(value "$1")" -ge "$2" ]
}

# sum PREFIX: the counters that begin so, added up
sum() {
	awk -v p="^pghot_$1" '$1 ~ p { s += $2 } END { print s + 0 }' $STAT
}

# vmstat NAME
vmstat() {
	awk -v n="$1" '$1 == n { print $2 }' /proc/vmstat
}

# knob NAME VALUE: exit status of the write
knob() {
	echo "$2" >"$VM/pghot_$1"
}

# knob_is NAME: its value
knob_is() {
	cat "$VM/pghot_$1"
}

# wait_for SECONDS COMMAND...: until COMMAND succeeds; the seconds are those of a stock kernel
wait_for() {
	left=$(($1 * 10 * ${LAB_SLOW:-1}))
	shift
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		usleep 100000
	done
}

# hold NAME NODE PAGES KIND: start a holder; its directory is /tmp/NAME, its process $held
hold() {
	mkdir -p "/tmp/$1"
	rm -f "/tmp/$1/pfns"
	holder "$2" "$3" "$4" "/tmp/$1" &
	# shellcheck disable=SC2034 # for whoever sources this
	held=$!
	wait_for 20 test -e "/tmp/$1/pfns" || note "holder $* did not start"
	# New pages wait in a batch of their CPU for being put on an LRU list, where they cannot be
	# moved from. A single report must not depend on that: dropping caches empties the batches.
	echo 1 >/proc/sys/vm/drop_caches
}

# free_pages NODE
free_pages() {
	awk '$3 == "MemFree:" { print int($4 / 4) }' "/sys/devices/system/node/node$1/meminfo"
}

# shellcheck disable=SC2034 # for whoever sources this
MEM=/sys/devices/system/memory

# blocks NODE: the memory blocks of a node, last first
blocks() {
	for dir in /sys/devices/system/node/node"$1"/memory[0-9]*; do
		echo "${dir##*memory}"
	done | sort -rn
}

# release PID
release() {
	kill "$1"
	wait "$1" 2>/dev/null
}

# used: kernel memory in KiB that a leak would show in
used() {
	awk '/^SUnreclaim|^VmallocUsed|^Percpu|^KernelStack/ { s += $2 } END { print s }' /proc/meminfo
}

# no_leak BEFORE: not much more in use than BEFORE
no_leak() {
	if [ -e /sys/kernel/debug/kmemleak ]; then
		skip "no leak" "KASAN keeps what was freed for a while; kmemleak looks instead, at the end"
	else
		most $(($(used) - $1)) 1024 "no leak: KiB more than before"
	fi
}

# thread NAME: is there a kernel thread whose name matches?
thread() {
	cat /proc/[0-9]*/comm 2>/dev/null | grep -q "^$1\$"
}

# report NAME VERB WEIGHT FLAGS: report all pages of a holder as accessed by node 0
report() {
	while read -r run_pfn run_nr; do
		echo "$2 $run_pfn $run_nr 0 $3 0 $4" >/proc/pghot_tester || return 1
	done <"/tmp/$1/pfns"
}

# where NAME PID NODE: how many pages of a holder are on NODE now
where() {
	rm -f "/tmp/$1/where"
	kill -USR1 "$2"
	wait_for 10 test -e "/tmp/$1/where"
	awk -v n="$3" '$1 == n { print $2; found = 1 } END { if (!found) print 0 }' "/tmp/$1/where"
}

# on_node NAME PID NODE COUNT: do at least COUNT pages of it live there?
on_node() {
	[ "$(where "$1" "$2" "$3")" -ge "$4" ]
}

# balanced SUM-REGEX PARTS-REGEX: in one look at the counters, do the parts make the sum?
balanced() {
	awk -v sum="^pghot_($1)" -v parts="^pghot_($2)" '$1 ~ sum { s += $2 }
		$1 ~ parts { s -= $2 }
		END { exit s != 0 }' $STAT
}

selected_settled() {
	balanced 'selected$' 'moved$|refused_'
}

# laws: the two conservation laws of the funnel, once no report and no batch is under way
laws() {
	wait_for 10 balanced reported_ 'recorded_accesses$|filtered_'
	ok $? "reported = recorded + filtered" "$(grep -E 'reported_|recorded_|filtered_' $STAT | tr '\n' ' ')"
	wait_for 10 selected_settled
	ok $? "selected = moved + refused" "$(grep -E 'selected|moved|refused_' $STAT | tr '\n' ' ')"
}

# hw NAME: a counter of memory profilers
hw() {
	value "hwhint_$1"
}

# backend NAME: what is said of a kind of memory profiler
backend() {
	sed -n "s/^hwhint_backend_$1 //p" $STAT
}

# hw_grows NAME: does that counter grow within 10 s?
hw_grows() {
	wait_for 10 reaches "hwhint_$1" $(($(hw "$1") + 1))
}

# hw_law: every sample is counted once more where it went
hw_law() {
	awk '$1 == "hwhint_total_events" { total = $2; left += $2 }
		$1 ~ /^hwhint_(useful|dropped)_events$|^hwhint_cache_accesses$|^hwhint_filtered_/ { left -= $2 }
		END { exit left != 0 || !total }' $STAT
	ok $? "samples = useful + dropped + cache + filtered ($(hw total_events))" \
		"$(grep hwhint_ $STAT | tr '\n' ' ')"
}

# points_passed: fault points passed so far, of the module that has them
points_passed() {
	cat /sys/module/pghot/parameters/fault_points
}

# hooked FUNCTION...: is there a hook on one of them?
hooked() {
	for hook; do
		! grep -q "^$hook " /sys/kernel/tracing/enabled_functions || return 0
	done
	return 1
}

# at_rest: no thread and no hook
at_rest() {
	! thread "kmigrated.*\|pghot_.*" && ! hooked should_numa_migrate_memory folio_mark_accessed
}

# off: no map, thread or hook
off() {
	[ "$(knob_is enabled_sources) $(stat hotmap_bytes)" = "0 0" ] && at_rest
}

# nothing_left: no file, thread or hook of the module
nothing_left() {
	! test -e /proc/pghot && ! test -e "$VM"/pghot_enabled_sources && at_rest
}

# each_fault MASK NAME [PARAMETER]: each fault point on the way to enabled sources MASK makes that fail
# whole
each_fault() {
	insmod /job/pghot.ko ${3:+"$3"}
	fault_total=$(points_passed)
	knob enabled_sources "$1"
	enabling=$(($(points_passed) - fault_total))
	knob enabled_sources 0
	rmmod pghot
	least $enabling 10 "fault points while enabling $2"
	n=1
	while [ $n -le $enabling ]; do
		insmod /job/pghot.ko ${3:+"$3"} fail_at=$((fault_total + n))
		if knob enabled_sources "$1" 2>/dev/null; then
			# Some are met by a map with a hole, or by a thread at work already: counted, and the
			# rest works. Of these threads there may be more points one time than the other.
			if dmesg | grep -q "fault point $((fault_total + n)) fails" &&
				[ $(($(stat sections_nomem) + $(stat memcg_rows_missed) + $(sum refused_))) -eq 0 ]; then
				ok 1 "enabling $2 with fault $n fails or is counted"
			fi
		else
			off
			ok $? "fault $n while enabling $2: off"
			knob enabled_sources "$1" || ok 1 "after fault $n it can be enabled"
		fi
		rmmod pghot
		nothing_left || ok 1 "fault $n while enabling $2 leaves nothing behind"
		n=$((n + 1))
	done
	ok 0 "each of them makes enabling $2 fail whole"
}

# fault NAME VALUE: of failslab and fail_page_alloc, if the former has it, too
fault() {
	echo "$2" >/sys/kernel/debug/fail_page_alloc/"$1" || return 1
	! test -e /sys/kernel/debug/failslab/"$1" || echo "$2" >/sys/kernel/debug/failslab/"$1"
}

# faults_in_modules: from now on just those allocations may fail that code of a module asks for,
# itself or by what it calls
faults_in_modules() {
	test -d /sys/kernel/debug/failslab ||
		skip_all "this kernel has no fault injection: make check-debug"
	fault verbose 0
	fault ignore-gfp-wait N
	fault ignore-gfp-highmem N
	fault min-order 0
	fault stacktrace-depth 32
	# Modules lie between the kernel's image and the fixed mappings.
	fault require-start "0x$(awk '$3 == "_end" { print $1; exit }' /proc/kallsyms)"
	fault require-end 0xffffffffff000000
}
