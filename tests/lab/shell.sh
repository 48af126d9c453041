#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# lab/shell as someone at a terminal has it: a prompt comes, the module loads, the tiers are to be
# seen, and exit ends it all.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash
# shellcheck source=lab/emulator.sh
. lab/emulator.sh

PROMPT='lab:[^ ]*# '
BOOT_S=90	# until the prompt
STEP_S=20	# for a command

[[ -e build/kmod/pghot.ko && -x build/lab/init ]] || skip_all "the module or the lab is not built: run make"
command -v qemu-system-x86_64 >/dev/null || skip_all "there is no qemu-system-x86_64"
command -v script >/dev/null || skip_all "there is no script(1): apt-get install bsdutils"

pid=
at_exit() {
	[[ -z $pid ]] || kill "$pid" 2>/dev/null
}

# prompts COUNT SECONDS: wait until the guest has given so many
prompts() {
	local end=$((SECONDS + $2))
	until [[ $(grep -c "$PROMPT" "$tmp/screen" 2>/dev/null) -ge $1 ]]; do
		if [[ $SECONDS -ge $end ]] || ! kill -0 "$pid" 2>/dev/null; then
			return 1
		fi
		sleep 0.1
	done
}

mkdir "$tmp/tmp"
mkfifo "$tmp/keys"

# What lab/shell keeps meanwhile goes where it can be seen to be gone.
boot() {
	TMPDIR=$tmp/tmp script -q -e -c 'lab/shell --set node0.mem_mb=512 --set node1.mem_mb=512' /dev/null \
		<"$tmp/keys" >"$tmp/screen" 2>&1 &
	pid=$!
	exec 7>"$tmp/keys"
	prompts 1 $BOOT_S
}

status=0
boot || status=$?
# As scripts/run-test does.
if [[ $status -ne 0 ]] && emulator_fault "$tmp/screen"; then
	echo "# a fault of this QEMU broke the guest; booting it once more"
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	status=0
	boot || status=$?
fi
ok $status "a prompt comes" "$(grep -E 'BUG:|Oops|panic|RIP:|EFLAGS' "$tmp/screen"; tail -n 5 "$tmp/screen")"
grep -q 'modprobe pghot' "$tmp/screen"
ok $? "what to do first is said"
echo 'modprobe pghot; echo "modprobe=$?"' >&7
prompts 2 $STEP_S
echo 'cat /proc/pghot/nodes' >&7
prompts 3 $STEP_S
printf '%s\n' 'host perl -e "print 6 * 7, -e q(lab/shell), qq(=host\\n)"' >&7
prompts 4 $STEP_S
echo 'exit' >&7
end=$((SECONDS + STEP_S))
while kill -0 "$pid" 2>/dev/null && [[ $SECONDS -lt $end ]]; do
	sleep 0.1
done
if kill -0 "$pid" 2>/dev/null; then
	ok 1 "exit ends it" "still there after $STEP_S s"
	skip 1 "it did not end"
else
	ok 0 "exit ends it"
	wait "$pid"
	is "$?" 0 "with exit status 0"
	pid=
fi
exec 7>&-
tr -d '\r' <"$tmp/screen" >"$tmp/text"
grep -qx 'modprobe=0' "$tmp/text"
ok $? "modprobe pghot works" "$(tail -n 20 "$tmp/text")"
grep -qx '421=host' "$tmp/text"
ok $? "host runs a program of this machine, in its folder" "$(tail -n 20 "$tmp/text")"
grep -qx 'node 0 tier fast' "$tmp/text" && grep -qE '^node 1 tier slow( |$)' "$tmp/text"
ok $? "/proc/pghot/nodes tells the tiers" "$(tail -n 20 "$tmp/text")"
grep -qE 'Kernel panic|Call Trace|BUG:' "$tmp/text"
is $? 1 "the kernel has nothing to complain about"
none "$(ls -A "$tmp/tmp")" "nothing is left behind"

finish
