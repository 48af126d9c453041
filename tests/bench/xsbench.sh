#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# xsbench: sizes and the distribution of lookups are the published ones, and a lookup through the index is
# one through the tables of all nuclides.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash
# shellcheck source=tests/bench/lib.bash
. tests/bench/lib.bash
need xsbench

# pages BYTES
pages() {
	echo $((($1 + 4095) / 4096))
}

run xsbench slow_node=0 size=small ops=100000
good "size=small"
sum=$(value checksum)
is "$(value nuclides) $(value gridpoints)" "68 11303" "68 nuclides of 11303 gridpoints"
is "$(value hot_pages)" $(($(pages $((68 * 11303 * 8))) + $(pages $((68 * 11303 * 48))))) \
	"energies and tables are hot, the index is not"
is "$(value ops) $(value lookups_checked)" "100000 3125" "a lookup of 32 is made again"
near "$(value fuel_percent)" 13.9 0.4 "fuel is met as often as published"
# Sum over the materials of their share and how many nuclides they have.
near "$(value nuclides_per_lookup)" 15.49 0.15 "a lookup is of as many nuclides as published"

run xsbench slow_node=0 size=small ops=100000
is "$(value checksum)" "$sum" "the same seed gives the same cross sections"
run xsbench slow_node=0 size=small ops=100000 seed=2
good "another seed"
[[ $(value checksum) != "$sum" ]]
ok $? "gives others"
for start in ideal spill slow; do
	run xsbench slow_node=0 size=small ops=100000 start=$start
	is "$rc $(value checksum)" "0 $sum" "start=$start: the same cross sections"
done

small xsbench ops=10000
# 22304 bytes for a gridpoint of each nuclide, of 32 MiB.
is "$(value gridpoints)" $(((32 << 20) / 22304)) "a working set is filled with gridpoints"

run xsbench slow_node=0 size=small ops=1000 spoil=1
holds "$rc == 1 && $(value pages_bad) == 1" "a spoiled result is noticed"
kib=$(sed -n 's/^Node 0 MemTotal: *\([0-9]*\) kB/\1/p' /sys/devices/system/node/node0/meminfo)
if [[ $kib -lt $((100 << 20)) ]]; then
	refuses 1 xsbench size=XL "size=XL needs 119353 MiB, and the nodes have " "size=XL is of its size"
else
	skip 1 "this machine may have room for size=XL"
fi
for pair in size=huge size=; do
	refuses 2 xsbench $pair "bad value in '$pair'" "$pair is refused"
done

finish
