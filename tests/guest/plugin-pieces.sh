#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 120 --set plugin=count --set node0.mem_mb=1000 --set node1.mem_mb=2600 --set cache_kb=64 --set cache_ways=1
#
# A node whose memory is in two pieces, since it straddles the hole below 4 GiB, and nodes whose
# size is no multiple of a memory block: the instrument finds every piece. With a small cache
# whose sets are single lines.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

echo 0 >/proc/sys/kernel/numa_balancing
calibrate ranges | sed 's/^/# /' >&3
least "$(calibrate ranges | grep -c 'node 1 slow')" 2 "node 1 has two pieces"
calibrate count 0 1 >/tmp/count
ok $? "the counts are exact" "$(awk '$3 != $5' /tmp/count | tr '\n' ';')"
finish
