#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 60 --set plugin=count --set cache_kb=64 --set chmu=64
#
# A hotness unit with far fewer counters than there are pages finds the hot ones.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

echo 0 >/proc/sys/kernel/numa_balancing
hotness limited 1 >/tmp/hotness
ok $? "hotness limited"
while read -r verb got want name; do
	"$verb" "$got" "$want" "$name"
done </tmp/hotness
finish
