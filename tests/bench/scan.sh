#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# scan: each line is read once before any is read again, whatever the stride; sums and writes are exact.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash
# shellcheck source=tests/bench/lib.bash
. tests/bench/lib.bash
need scan

LINES_ALL=$((32 * 16384))	# of 32 MiB
# The checksum is the upper 52 bits of a sum.
MASK=$(((1 << 52) - 1))

# sum ARGUMENT...: $sum is the checksum of such a run
sum() {
	small scan "$@"
	sum=$(value checksum)
}

sum ops=$LINES_ALL
once=$sum
sum ops=$((2 * LINES_ALL))
twice=$sum
is "$((twice - (2 * once & MASK) & MASK & ~1))" 0 "two passes have twice the sum of one"
for stride in 128 512 4096; do
	sum ops=$LINES_ALL stride=$stride
	is "$sum" "$once" "stride=$stride: passes over all lines have the same sum"
	is "$(value passes)" "$((stride / 64)).000" "stride=$stride: and there are so many"
done
small scan ops=$((LINES_ALL / 2 + 77)) stride=512
is "$(value ops)" "$((LINES_ALL / 2 + 77))" "a pass may be cut short"
sum ops=$LINES_ALL seed=2
[[ $sum != "$once" ]]
ok $? "another seed gives another sum"
sum ops=$LINES_ALL write_percent=100
is "$sum" "$once" "who writes after reading reads the same in the first pass"
# In the second one each line that was written has one more.
for percent in 100 25; do
	sum ops=$((2 * LINES_ALL)) write_percent=$percent
	near $((sum - twice & MASK)) $((LINES_ALL * percent / 100 >> 12)) 1 "write_percent=$percent: so many lines are written"
done
small scan ops=7654321 write_percent=50 stride=256
is "$(value pages_bad)" 0 "writes of a pass that was cut short are known"
for stride in 32 96 8192; do
	refuses 2 scan stride=$stride "bad value in 'stride=$stride'" "stride=$stride is refused"
done
small scan ops=1000
is "$(value hot_pages)" 8192 "all memory is alike, so all is hot"

finish
