#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module builds without a word under W=1, in a folder of its own; a second build of the same tree
# makes nothing anew; what comes out is for the lab's kernel and says what it should of itself.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

if ! kver=$(scripts/kbuild --kver 2>"$tmp/why"); then
	skip_all "no kernel to build for: $(cat "$tmp/why")"
fi
dir=$tmp/kmod

# build: its exit status is in $rc, what it says in $said
build() {
	rc=0
	said=$(scripts/stage "$dir" 2>&1 && scripts/kbuild "$dir" "$kver" "-j$(nproc)" 2>&1) || rc=$?
}

# products: name and time of all that a build makes, the kernel build system's own notes left out
products() {
	find "$dir" \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' -o -name 'probed.h' \
		-o -name Module.symvers \) -printf '%P %T@\n' | sort
}

# info FIELD: of the module, one a line
info() {
	objcopy -O binary --only-section=.modinfo "$dir/pghot.ko" "$tmp/modinfo" 2>/dev/null
	tr '\0' '\n' <"$tmp/modinfo" | sed -n "s/^$1=//p"
}

build
is "$rc" 0 "the module builds for kernel $kver"
none "$said" "without a warning or a complaint on kernel-doc, under W=1"
[[ -s $dir/pghot.ko ]]
ok $? "pghot.ko is there"

is "$(info license)" GPL "its licence is GPL"
is "$(info vermagic | cut -d ' ' -f 1)" "$kver" "it is for that kernel"
is "$kver" "$(scripts/assets kver)" "which is the one that the lab boots"
is "$(info parm | cut -d : -f 1 | sort | paste -sd ' ')" "hwhints_backend layout tiers" \
	"its parameters are hwhints_backend, layout and tiers, each explained"
is "$(info parmtype | sort | paste -sd ' ')" "layout:charp tiers:charp" "these two are words"
is "$(info name):$(info depends)" "pghot:" "it is called pghot and needs no other module"

products >"$tmp/first"
build
is "$rc:$said" "0:" "a second build works and says nothing"
is "$(products)" "$(cat "$tmp/first")" "and makes nothing anew"

# The headers' comments: the kernel's build looks at the .c files only.
kdir=/lib/modules/$kver/build
[[ -e $kdir/Makefile ]] || kdir=$(scripts/assets headers --kver "$kver")
if [[ -x $kdir/scripts/kernel-doc ]]; then
	none "$("$kdir/scripts/kernel-doc" -none "$dir"/*.h "$dir"/{engine,hw,pghot}/*.h 2>&1)" "no complaint on kernel-doc in the headers"
else
	skip 1 "these headers have no scripts/kernel-doc"
fi

# Would it have been heard?
cat >>"$dir/stat.c" <<'END_OF_C'

/**
 * pghot_undocumented - its parameter is not explained
 */
int pghot_undocumented(int parameter);
int pghot_undocumented(int parameter) { return parameter; }
END_OF_C
said=$(scripts/kbuild "$dir" "$kver" 2>&1)
like "$said" "stat\.c:[0-9]+: warning: .*'parameter'" "a parameter that kernel-doc misses is heard of"
is "$(products | diff "$tmp/first" - | sed -n 's/^> \([^ ]*\.o\) .*/\1/p' | grep -v '^pghot\.')" stat.o \
	"and only what changed is compiled"

finish
