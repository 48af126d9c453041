#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Asks the kernel's headers, by compiling snippets, what this kernel has, and prints probed.h.
#
# usage: probe.sh COMPILER [FLAG...]     the command that compiles kernel C
set -u

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# compiles HEADER EXPRESSION COMPILER [FLAG...]
compiles() {
	printf '#include <%s>\nint pghot_probe(void);\nint pghot_probe(void) { return (int)(%s); }\n' \
		"$1" "$2" >"$tmp/probe.c"
	shift 2
	"$@" -Wno-error -c "$tmp/probe.c" -o "$tmp/probe.o" 2>"$tmp/log"
}

if ! compiles linux/mmzone.h PGPROMOTE_SUCCESS "$@"; then
	echo "probe.sh: cannot compile kernel C: $(grep -m1 error "$tmp/log" || head -n1 "$tmp/log")" >&2
	exit 1
fi
echo '/* made by compat/probe.sh */'
if compiles linux/mmzone.h PGPROMOTE_CANDIDATE_NRL "$@"; then
	echo '#define PGHOT_HAVE_PGPROMOTE_CANDIDATE_NRL 1'
fi
