#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# /job/main of an experiment's guest: applies /job/settings, runs /job/workload with the
# arguments in /job/args, and reports on file descriptor 3. With "begin roi" in the settings it is the
# workload that has them applied, by running "$PGHOT_AT_ROI begin" before its region of interest; until then
# the kernel moves nothing. After it, it runs "$PGHOT_AT_ROI end". The report, a line each:
#	machine NAME VALUE...	what was booted
#	step NAME		where we are
#	vmstat NAME DELTA	/proc/vmstat, from when the settings were applied to the end
#	pghot NAME VALUE	/proc/pghot/stat at the end
#	node TEXT		/proc/pghot/nodes, likewise
#	roi NAME VALUE		what the plugin counted in the workload's regions of interest
#	cpu NAME MS		CPU time of kernel threads in that time
#	setup NAME VALUE	what the config's own set-up, /job/setup, says of the workload's time
#	error TEXT		why the run failed
# and whatever the workload writes.
# shellcheck shell=dash
set -u

SETTINGS=/job/settings
TIERS=/sys/devices/virtual/memory_tiering
# Reported even when they did not move. A gauge (nr_*) has no meaningful delta.
ALWAYS="pgpromote_success pgpromote_candidate pgpromote_candidate_nrl pgdemote_kswapd \
pgdemote_direct pgmigrate_success pgmigrate_fail numa_pte_updates numa_hint_faults numa_pages_migrated"

tell() {
	echo "$*" >&3
}

fail() {
	tell "error $*"
	echo "lab: $*" >&2
	exit 1
}

# put FILE VALUE
put() {
	local err
	err=$({ echo "$2" >"$1"; } 2>&1) || fail "cannot write '$2' to $1: ${err##*: }"
}

# settings KIND: the lines "KIND NAME VALUE" of the settings, without KIND.
settings() {
	sed -n "s/^$1 //p" "$SETTINGS"
}

tell_machine() {
	local dir
	tell "machine kernel $(uname -r)"
	tell "machine nodes $(cat /sys/devices/system/node/has_memory)"
	for dir in "$TIERS"/memory_tier[0-9]*; do
		[ ! -e "$dir/nodelist" ] || tell "machine tier ${dir##*/} $(cat "$dir/nodelist")"
	done
}

load_module() {
	local args err
	args=$(settings module | sed 's/ /=/')
	# shellcheck disable=SC2086 # a word for each parameter
	err=$(insmod "/lib/modules/$(uname -r)/extra/pghot.ko" $args 2>&1) ||
		fail "cannot load pghot.ko $args: ${err##*: }"
}

apply_settings() {
	local name value
	[ "$(settings load)" != yes ] || load_module
	case $(settings demotion) in
	on) put /sys/kernel/mm/numa/demotion_enabled 1 ;;
	off) put /sys/kernel/mm/numa/demotion_enabled 0 ;;
	esac
	settings sysctl >/tmp/sysctls
	while read -r name value; do
		put "/proc/sys/$(echo "$name" | tr . /)" "$value"
	done </tmp/sysctls
}

# setup start|report: the config's set-up, if it has one; its last word on stderr says why it failed
setup() {
	[ ! -e /job/setup ] || /job/setup "$1" 2>/tmp/setup.err ||
		fail "the config's set-up failed to $1: $(tail -n 1 /tmp/setup.err)"
}

# vmstat_delta BEFORE AFTER
vmstat_delta() {
	awk -v always="$ALWAYS" '
		BEGIN { split(always, a, " "); for (i in a) show[a[i]] = 1 }
		NR == FNR { before[$1] = $2; next }
		$1 ~ /^nr_/ { next }
		{ d = $2 - before[$1] }
		d != 0 || show[$1] { printf "vmstat %s %.0f\n", $1, d }' "$1" "$2" >&3
}

# marks COMMAND: of the program roi, if it was built
marks() {
	! command -v roi >/dev/null || roi "$1"
}

# cpu_times: "NAME NS" for each kernel thread, instances of one kind added up.
cpu_times() {
	cat /proc/[0-9]*/stat 2>/dev/null | awk '
		{ pid = $1; name = $0; sub(/^[0-9]* \(/, "", name); sub(/\).*/, "", name)
		  rest = $0; sub(/.*\) /, "", rest); split(rest, f, " ") }
		f[2] == 2 {
			sub(/\/.*/, "", name)
			gsub(/ /, "_", name)
			file = "/proc/" pid "/schedstat"
			if ((getline line < file) > 0) { split(line, t, " "); ns[name] += t[1] }
			close(file)
		}
		END { for (name in ns) printf "%s %.0f\n", name, ns[name] }'
}

# cpu_delta BEFORE AFTER: those that took at least a millisecond
cpu_delta() {
	awk 'NR == FNR { before[$1] = $2; next }
		{ ms = ($2 - before[$1]) / 1e6 }
		ms >= 1 { printf "cpu %s %.0f\n", $1, ms }' "$1" "$2" >&3
}

# begin: the config takes effect, and what is counted begins.
begin() {
	tell "step settings"
	apply_settings
	setup start >&3
	marks reset
	cpu_times >/tmp/cpu.before
	cat /proc/vmstat >/tmp/vmstat.before
}

# end: what is counted ends.
end() {
	cat /proc/vmstat >/tmp/vmstat.after
	cpu_times >/tmp/cpu.after
	if [ "$(settings load)" = yes ]; then
		sed 's/^/pghot /' /proc/pghot/stat
		sed 's/^/node /' /proc/pghot/nodes
	fi >/tmp/pghot
	setup report >/tmp/setup.report
}

# run_workload: leaves its exit status in $status. What is counted is all of it, unless it is to call us again itself.
run_workload() {
	# shellcheck disable=SC2046 # a word for each argument
	if [ "$(settings begin)" = roi ]; then
		put /sys/kernel/mm/numa/demotion_enabled 0
		put /proc/sys/kernel/numa_balancing 0
		PGHOT_AT_ROI=$0 /job/workload $(cat /job/args) >&3 || status=$?
	else
		begin
		tell "step workload"
		/job/workload $(cat /job/args) >&3 || status=$?
		end
	fi
}

unload_module() {
	cat /tmp/pghot >&3
	rmmod pghot || fail "cannot unload pghot"
}

case ${1:-} in
begin | end)
	"$1"
	exit ;;
esac
tell_machine
status=0
run_workload
[ -e /tmp/vmstat.after ] || fail "the workload ended with exit status $status, before what is counted of it was over"
tell "step report"
marks report >&3
cpu_delta /tmp/cpu.before /tmp/cpu.after
vmstat_delta /tmp/vmstat.before /tmp/vmstat.after
cat /tmp/setup.report >&3
[ "$(settings load)" != yes ] || unload_module
[ "$status" -eq 0 ] || fail "the workload ended with exit status $status"
