#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How the debug kernel is made: with a make that makes nothing, so what is tested is that a symbol
# which the kernel's rules turn off is named, that the version is the one that was asked for, and
# that another configuration is another version. The real one is built by make check-debug.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

CONFIG=tests/debug/kernel.config
KVER_WANTED=6.12.7-pghot-debug-00000000

# A source, and a make that turns off what $DROP says and makes a kernel of version $RELEASE.
mkdir -p "$tmp/linux-source-6.12/arch/x86/boot" "$tmp/linux-source-6.12/include/config"
tar -cf "$tmp/source.tar" -C "$tmp" linux-source-6.12
farm=$tmp/farm
path_farm "$farm"
# shellcheck disable=SC2016 # for the shell that runs it
stand_in "$farm" make '
while [ $# -gt 0 ]; do
	case $1 in
	-C) cd "$2"; shift ;;
	KCONFIG_ALLCONFIG=*) fragment=${1#*=} ;;
	KBUILD_RUN_COMMAND=*) mkdir -p "${1##* }"; cp .config "${1##* }/" ;;
	allnoconfig) grep -v "^CONFIG_$DROP=" "$fragment" >.config; echo "# CONFIG_$DROP is not set" >>.config ;;
	bzImage) touch arch/x86/boot/bzImage; echo "$RELEASE" >include/config/kernel.release ;;
	esac
	shift
done
exit "${MAKE_STATUS:-0}"'

# build: its exit status in $rc, its words in $said
build() {
	rm -rf "$tmp/out"
	rc=0
	said=$(PATH=$farm DROP=${1:-NOTHING} RELEASE=${2:-$KVER_WANTED} MAKE_STATUS=${3:-0} \
		scripts/debug-kernel "$tmp/source.tar" "$CONFIG" "$KVER_WANTED" "$tmp/out" 2>&1) || rc=$?
}

build
is "$rc:$said" 0: "a kernel is made"
[[ -e $tmp/out/kernel/boot/vmlinuz-$KVER_WANTED && -d $tmp/out/kernel/lib/modules/$KVER_WANTED ]]
ok $? "it lies as in Debian's package"
is "$(grep -c '^CONFIG_LOCALVERSION="-pghot-debug-00000000"$' "$tmp/out/headers/usr/src/linux-headers-$KVER_WANTED/.config")" 1 \
	"it and its headers have the version that was asked for"
[[ ! -e $tmp/out/src ]]
ok $? "the source does not stay behind"
build KASAN
is "$rc:$said" "1:scripts/debug-kernel: $CONFIG: not as it says, after the kernel's own rules: CONFIG_KASAN" \
	"a symbol that is off in the end is named"
build NOTHING 6.12.8-pghot-debug-00000000
is "$rc:$said" "1:scripts/debug-kernel: the source is that of 6.12.8-pghot-debug-00000000, not of $KVER_WANTED" \
	"a source of another version is not taken"
build NOTHING "$KVER_WANTED" 2
[[ $rc -ne 0 && ! -e $tmp/out/kernel ]]
ok $? "a make that fails makes no kernel"

if ! before=$(scripts/assets kver --kver debug 2>"$tmp/why"); then
	skip 3 "$(cat "$tmp/why")"
else
	like "$before" '^6\.12\.[0-9]+-pghot-debug-[0-9a-f]{8}$' "kver debug: the version of the debug kernel"
	is "$(scripts/kbuild --kver debug)" "$before" "scripts/kbuild builds for it"
	mkdir "$tmp/project"
	cp -a scripts "$tmp/project/"
	mkdir -p "$tmp/project/tests/debug"
	{ cat "$CONFIG"; echo "CONFIG_SAMPLES=y"; } >"$tmp/project/tests/debug/kernel.config"
	[[ $("$tmp/project/scripts/assets" kver --kver debug 2>&1) != "$before" ]]
	ok $? "another configuration is another version"
fi
finish
