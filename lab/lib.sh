# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the lab's scripts share: what they need of the host, "key = value" files, and
# the places of things.

LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/messages.sh
. "$LAB/../scripts/messages.sh"
BUILD=${BUILD:-build}
[[ $BUILD == /* ]] || BUILD=$TOP/$BUILD
export BUILD # in its absolute form, for the scripts this one calls

# PATH of this machine's programs in a guest.
# shellcheck disable=SC2034 # for the scripts
HOST_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# need PROGRAM PACKAGE: refuse to start without PROGRAM, naming its Debian package.
need() {
	command -v "$1" >/dev/null ||
		die "$1 is not installed: apt-get install $2"
}

# need_host: what a guest needs on this machine.
need_host() {
	need qemu-system-x86_64 qemu-system-x86
	need cpio cpio
	need jq jq
	need setpriv util-linux
	[[ -x $BUILD/lab/init ]] || die "${BUILD#"$TOP/"}/lab/init is not built: run 'make lab'"
}

# names_in DIR [SUFFIX]: the names of the data files in lab/DIR, on one line.
names_in() {
	local file names=()
	for file in "$LAB/$1"/*"${2:-}"; do
		[[ -e $file ]] && names+=("$(basename "$file" "${2:-}")")
	done
	echo "${names[*]}"
}

# conf_each FILE CALLBACK: CALLBACK KEY VALUE for every "key = value" line of FILE.
# "#" at the start of a line or after a blank begins a comment. Data, never code.
conf_each() {
	local line nr=0
	while IFS= read -r line || [[ -n $line ]]; do
		nr=$((nr + 1))
		[[ $line =~ ^[[:space:]]*(#.*)?$ ]] && continue
		line=${line%%[[:space:]]#*}
		[[ $line =~ ^[[:space:]]*([A-Za-z0-9_./?-]+)[[:space:]]*=[[:space:]]*(.*)$ ]] ||
			die "$1:$nr: expected 'key = value', found '$line'"
		local key=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]}
		"$2" "$key" "${value%"${value##*[![:space:]]}"}"
	done <"$1"
}
