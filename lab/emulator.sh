# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# emulator - did a guest die of a fault of QEMU's, not of its own? Sourced.

# emulator_race CONSOLE: did the guest run into a race of QEMU before 8.1? There one CPU can keep a
# translation of code that another has just patched. The kernel patches itself through a breakpoint,
# so the breakpoint stays behind: "Oops: int3" in code that no longer has one.
emulator_race() {
	local version
	grep -q 'Oops: int3' "$1" || return 1
	version=$(qemu-system-x86_64 --version | sed -n '1s/.*version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
	[[ ${version% *} -lt 8 || $version == "8 0" ]]
}

# flags_lost CONSOLE: does the first oops show flags that no processor can have, of a kernel that no module of
# ours was ever loaded into? Bits 22 and up are reserved and zero (Intel SDM vol. 1, 3.4.3), so QEMU has lost
# the state of the CPU it emulates. With the module in, who knows: that is a panic as any other.
flags_lost() {
	local oops
	oops=$(grep -m 2 -E 'Comm: .* (Not tainted|Tainted: )|RSP: .* EFLAGS: [0-9a-f]{8}' "$1")
	[[ $oops == *"Not tainted"* && $oops =~ EFLAGS:\ (0[1-9a-f]|[1-9a-f].|00[4-9a-f]) ]]
}

# emulator_fault CONSOLE: any of these
emulator_fault() {
	emulator_race "$1" || flags_lost "$1"
}
