#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A guest that fails is a failed row with its reason, never a gap or a good row: the experiment that
# fails on purpose, and a setting that the kernel refuses. Then what a good run leaves behind: the
# fields of results.json and their types, and the table.
# shellcheck disable=SC2016 # jq's variables, not the shell's
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

[[ -e build/kmod/pghot.ko && -x build/lab/init && -x build/bench/hotregion ]] ||
	skip_all "the module, the lab or hotregion is not built: run make"
command -v qemu-system-x86_64 >/dev/null || skip_all "there is no qemu-system-x86_64"
small=(--set node0.mem_mb=512 --set node1.mem_mb=512)

# lab NAME ARGUMENT...: lab/run with its results in $tmp/NAME; exit status in $rc
lab() {
	local dir=$tmp/$1
	shift
	rc=0
	lab/run "$@" --out "$dir" "${small[@]}" >"$dir.stdout" 2>"$dir.stderr" </dev/null || rc=$?
}

# holds NAME CONDITION TEXT: jq's CONDITION on the results of NAME
holds() {
	local file=$tmp/$1/results.json rc=0
	jq -e "$2" "$file" >/dev/null 2>"$tmp/jq" || rc=$?
	ok $rc "$3" "$(cat "$tmp/jq"; jq -c '.runs[] | del(.vmstat, .pghot, .samples)' "$file" 2>&1)"
}

# logged NAME REGEX TEXT: the console of the only run says so
logged() {
	local console
	console=$tmp/$1/$(jq -r '.runs[0].console' "$tmp/$1/results.json" 2>/dev/null)
	grep -qE "$2" "$console" 2>/dev/null
	ok $? "$3" "last on the console: $(tail -n 3 "$console" 2>&1)"
}

# --- guests that fail ---------------------------------------------------------------------

# fails SCENARIO STATUS REASON CONSOLE [OPTION...]
fails() {
	local s=$1
	lab "$s" "selftest:$s" numab0 "${@:5}"
	is "$rc" 1 "$s: exit status 1"
	holds "$s" '.runs | length == 1' "$s: one row"
	holds "$s" ".runs[0] | .status == \"$2\" and (.reason | test(\"$3\"))" "$s: status $2, with the reason"
	holds "$s" ".runs[0] | .experiment == \"selftest\" and .scenario == \"$s\" and .config == \"numab0\" and
		.repeat == 1 and (.console | type) == \"string\" and (.params | type) == \"object\"" "$s: the row says which run"
	holds "$s" '.runs[0] | .seconds == null and .accesses == null' "$s: and has no measurement"
	logged "$s" "$4" "$s: the console log says: $4"
	grep -qE "^$2: $s, numab0, repeat 1: .*; see .*console\.log\$" "$tmp/$s.stdout"
	ok $? "$s: the table has the reason" "$(cat "$tmp/$s.stdout")"
}

fails panic panic "the guest's kernel panicked: .*(sysrq|Kernel panic)" "Kernel panic - not syncing: sysrq triggered crash"
fails triple panic "the guest's kernel panicked: triple fault; last on the console: .*Resetting" "sysrq: Resetting" --set append=reboot=t
fails hang timeout "the job did not end in time" "reboot: Power down" --set timeout=3
fails warn failed "the kernel log is not clean: WARNING: lab selftest" "WARNING: lab selftest"
fails bad-exit failed "the workload ended with exit status 3" "lab: the workload ended with exit status 3"

ls "$tmp"/triple/runs/*/reset.log >/dev/null 2>&1
ok $? "triple: what QEMU says of it is kept"

lab sysctl hotregion:free hintfaults --set accesses=2000000 --set region_mb=8 --set vm.pghot_freq_threshold=-4
is "$rc" 1 "bad sysctl: exit status 1"
holds sysctl '[.runs[].status] == ["failed"]' "bad sysctl: a failed run"
holds sysctl '.runs[0].reason | test("-4.*pghot_freq_threshold.*Invalid argument")' "bad sysctl: the reason names it"
holds sysctl '.runs[0] | .dmesg_bad == 0 and .seconds == null' "bad sysctl: the kernel is well, and nothing was measured"
logged sysctl "cannot write '-4' to /proc/sys/vm/pghot_freq_threshold" "bad sysctl: the console log has the reason"

# --- guests that do not ---------------------------------------------------------------------

lab good hotregion:free numab0 hintfaults --set accesses=2000000 --set region_mb=8 --repeat 1
is "$rc" 0 "good: exit status 0"
holds good '(keys == ["machine", "runs"]) and ([.runs[].config] == ["numab0", "hintfaults"])' "good: a row for each config, in order"
holds good '.machine | .name == "1fast1slow" and .accel == "tcg" and ([.kernel, .qemu, .host.cpu] | all(type == "string")) and
	(.host.cpus | type) == "number"' "good: the machine says what ran on what"
holds good '.machine.nodes | map([.node, .tier, .mem_mb, .cpus]) == [[0, "fast", 512, "0-1"], [1, "slow", 512, ""]]' \
	"good: the machine says its nodes, as set"
holds good '.runs | all(.experiment == "hotregion" and .scenario == "free" and .repeat == 1 and .status == "ok" and .reason == null)' \
	"good: experiment, scenario, repeat, status, no reason"
holds good '.runs | all(.params | .accesses == 2000000 and .region_mb == 8 and .fast_node == 0 and .slow_node == 1)' \
	"good: the parameters, as set"
holds good '.runs | all(.seconds > 0 and .accesses == 2000000)' "good: seconds and accesses"
holds good '.runs | all(.hot_pages > 0 and .hot_pages_fast >= 0 and .hot_pages_fast <= .hot_pages)' "good: hot pages"
holds good '.runs | all(.pages_bad == 0 and .dmesg_bad == 0)' "good: no bad page, no bad line in the kernel log"
holds good '.runs | all(.vmstat | (length > 5 and all(type == "number") and has("pgpromote_success") and has("numa_hint_faults")))' \
	"good: vmstat is numbers by name"
holds good '.runs | map(.pghot | length > 0) == [false, true]' "good: pghot's counters where the module is loaded, else none"
holds good '.runs[1].pghot | has("pghot_moved") and (to_entries | all((.value | type) ==
	if .key | test("^(hwhint_backend|chmu_unit)_") then "string" else "number" end))' \
	"good: pghot is numbers by name, and words for what hardware there is"
none "$(find "$tmp/good" -name reset.log)" "good: there is no log of resets"
for config in numab0 hintfaults; do
	[[ -s $tmp/good/$(jq -r --arg c $config '.runs[] | select(.config == $c).console' "$tmp/good/results.json") ]]
	ok $? "good: the console of $config is kept"
done
grep -qE '^ +numab0 +hintfaults$' "$tmp/good.stdout" && grep -qE '^  time \(s\) +[0-9.,]+ +[0-9.,]+$' "$tmp/good.stdout" &&
	grep -qE '^  status +ok +ok$' "$tmp/good.stdout"
ok $? "good: the table has both columns" "$(cat "$tmp/good.stdout")"
lab/table --funnel "$tmp/good/results.json" >"$tmp/funnel" 2>&1 &&
	grep -q 'what became of the reports: hotregion, free, hintfaults' "$tmp/funnel"
ok $? "good: so has the funnel" "$(cat "$tmp/funnel")"

finish
