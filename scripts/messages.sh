# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How a script speaks to its user: one line, with the script's name. Sets TOP, the
# project's top folder.

# shellcheck disable=SC2034 # for whoever sources this
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PROG=$(basename "$(dirname "$(realpath "$0")")")/$(basename "$0")

# die MESSAGE...: something on this machine is in the way (exit 1).
die() {
	printf '%s: %s\n' "$PROG" "$*" >&2
	exit 1
}

# die_usage MESSAGE...: the caller asked for something that does not exist (exit 2).
die_usage() {
	printf '%s: %s\n' "$PROG" "$*" >&2
	exit 2
}

# note MESSAGE...: worth telling, on stderr.
note() {
	printf '%s: %s\n' "$PROG" "$*" >&2
}

# need_value OPTION COUNT: an option that takes a value is the last word.
need_value() {
	[[ $2 -ge 2 ]] || die_usage "$1 needs a value"
}

# show_help FILE: the usage text is the comment block at the top of the script.
show_help() {
	sed -n '3,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$1"
}
