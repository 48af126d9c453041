#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What lab/boot calls the end of a guest: a fault of pghot or of the kernel is never taken for one of QEMU's.
# QEMU is a stand-in here that leaves behind what a guest would; the words are those of real consoles.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

[[ -x build/lab/init ]] || skip_all "the lab is not built: run make"
command -v qemu-system-x86_64 >/dev/null || skip_all "there is no qemu-system-x86_64"
farm=$tmp/farm
path_farm "$farm"
# shellcheck disable=SC2016 # the stand-in's own variables
stand_in "$farm" qemu-system-x86_64 '
[ "$1" != --version ] || { echo "QEMU emulator version $VERSION"; exit; }
for word; do
	case $word in
	file,id=console,path=*) cp "$CONSOLE" "${word#*path=}" ;;
	file,id=result,path=*) cp "$RESULT" "${word#*path=}" ;;
	esac
done'

# ends WANT NAME [VERDICT-LINE] [VERSION]: standard input is the console
ends() {
	cat >"$tmp/console"
	printf '%s\n' "${3:-}" >"$tmp/result"
	mkdir -p "$tmp/out"
	PATH=$farm VERSION=${4:-9.0.0} CONSOLE=$tmp/console RESULT=$tmp/result \
		lab/boot --out "$tmp/out" --set plugin=off 2>"$tmp/why"
	is "$(cat "$tmp/out/outcome" 2>&1)" "$1" "$2"
	rm -rf "$tmp/out"
}

# oops FLAGS [TAINTED]: the console of a guest whose kernel died so
oops() {
	cat <<END
[  118.808814] BUG: unable to handle page fault for address: 0000000000002508
[  118.843270] Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI
[  118.844253] CPU: 1 UID: 0 PID: 386 Comm: swapper/0 ${2:-Not tainted} 6.12.117+deb12-amd64 #1  Debian 6.12.117-1~deb12u1
[  118.853527] RSP: 0018:ff6c3b34c179fbb8 EFLAGS: $1
[  118.879216] Kernel panic - not syncing: Fatal exception
END
}

ends pass "a guest that says so passed" "verdict pass 0" </dev/null
ends fail "one without a verdict did not" </dev/null
for flags in 00010246 00000002 003f7fd7; do
	ends panic "an oops with flags $flags is the guest's" < <(oops $flags)
done
for flags in 02b86602 011367c2 00400002 80000000; do
	ends emulator "one with flags $flags is QEMU's: no processor has them" < <(oops $flags)
done
ends panic "nor does QEMU answer for it once the module was loaded" \
	< <(oops 02b86602 "Tainted: G           OE     ")
ends panic "the first oops counts" < <(oops 00010246; oops 02b86602)
int3='[    5.0] Oops: int3: 0000 [#1] PREEMPT SMP'$'\n''[    5.1] Kernel panic - not syncing: Fatal exception'
ends emulator "a breakpoint left behind is QEMU 7.2's" "" 7.2.22 <<<"$int3"
ends panic "and QEMU 8.1's guest's own" "" 8.1.0 <<<"$int3"
finish
