#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# graph500: its searches and their averages are those of the specification, checks are outside of what is
# measured, and a spoiled tree is noticed. What each check notices is in tests/bench/graph.c.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash
# shellcheck source=tests/bench/lib.bash
. tests/bench/lib.bash
need graph500

# searches: "ROOT EDGES VERTICES LEVELS" of each of the last run
searches() {
	sed -n 's/^search \(.*\) [0-9]*$/\1/p' "$tmp/stdout"
}

# sum FIELD: of the lines of searches
sum() {
	awk -v field="$1" '$1 == "search" { sum += $field } END { printf "%.0f\n", sum }' "$tmp/stdout"
}

run graph500 slow_node=0 scale=16 nbfs=8 sample_ms=5
good "8 searches"
first=$(searches)
is "$(wc -l <<<"$first") $(value nbfs)" "8 8" "there are 8"
is "$(cut -d ' ' -f 1 <<<"$first" | sort -u | wc -l)" 8 "each from a root of its own"
is "$(value ops)" "$(sum 3)" "operations are the edges of all components"
holds "$(sum 3) / 8 > 0.99 * 16 * 65536 && $(sum 3) / 8 <= 16 * 65536" \
	"one component has nearly all edges, which are 16 times as many as vertices"
# A vertex with k bits set is either end of an edge with probability 0.76^(16-k) 0.24^k.
near "$(sum 4)" "$(awk 'BEGIN {
	ways = 1
	for (k = 0; k <= 16; k++) {
		sum += ways * (1 - exp(-2 * 16 * 65536 * 0.76 ^ (16 - k) * 0.24 ^ k))
		ways = ways * (16 - k) / (k + 1)
	}
	print 8 * sum }')" $(($(sum 4) / 100)) "it has as many vertices as a Kronecker graph should have edges for"
none "$(awk '$4 < 4 || $4 > 12' <<<"$first")" "trees are shallow, as of a small world"

# The averages, made again from the searches.
averages=$(awk '$1 == "search" { n++; ms += $6 / 1e6; t[n] = $6 / 1e9 / $3; sum += t[n] }
	END { mean = sum / n
		for (i in t) squares += (t[i] - mean) ^ 2
		printf "%.3f %.0f %.0f\n", ms / n, 1 / mean, sqrt(squares) / (n - 1) / mean ^ 2 }' "$tmp/stdout")
read -r ms teps stddev <<<"$averages"
near "$(value bfs_ms_mean)" "$ms" 0.001 "mean time of a search"
near "$(value teps_harmonic)" "$teps" 1 "harmonic mean of the rates"
near "$(value teps_harmonic_stddev)" "$stddev" 1 "and its deviation"
holds "$teps <= $(awk '$1 == "search" { n++; s += $3 / $6 * 1e9 } END { print s / n }' "$tmp/stdout")" \
	"it is at most the arithmetic one"

# Checks take longer than searches do.
holds "$(value seconds) * 1e9 < 1.3 * $(sum 6)" "the time of checks is not in the measured time"
holds "$(value seconds) * 1e9 >= 0.99 * $(sum 6)" "that of searches is"
none "$(awk -v ms="$(value seconds)" '$1 == "sample" && ($2 > ms * 1000 + 1 || $2 < last || $4 < ops) { print }
	$1 == "sample" { last = $2; ops = $4 }' "$tmp/stdout")" "and samples are of that time"

run graph500 slow_node=0 scale=16 nbfs=8 sample_ms=5
is "$(searches)" "$first" "the same seed makes the same searches"
run graph500 slow_node=0 scale=16 nbfs=8 seed=2
good "another seed"
[[ $(searches) != "$first" ]]
ok $? "makes others"

for start in ideal spill slow; do
	run graph500 slow_node=0 scale=16 nbfs=8 start=$start
	is "$rc $(searches)" "0 $first" "start=$start: the same searches"
done
small graph500 ops=1
# 540 bytes a vertex and some, of 32 MiB.
is "$(value scale)" 15 "the largest graph that fits the working set"
is "$(value hot_pages)" $((3 * 8 * 32768 / 4096 + 1)) "offsets, parents and queue are hot"

run graph500 slow_node=0 scale=12 nbfs=3 validate=last
is "$rc $(searches | awk '{ printf "%d ", ($4 > 0) }')" "0 0 0 1 " "validate=last checks the last tree"
run graph500 slow_node=0 scale=12 nbfs=3 validate=none
is "$rc $(searches | awk '{ printf "%d ", ($4 > 0) }')" "0 0 0 0 " "validate=none checks none"
run graph500 slow_node=0 scale=12 ops=200000
is "$rc $(value nbfs)" "0 4" "nbfs=0: as many searches as it takes for ops"
run graph500 slow_node=0 scale=1 nbfs=64
is "$rc $(value nbfs)" "0 2" "no more searches than vertices"

for validate in every last; do
	run graph500 slow_node=0 scale=12 nbfs=3 spoil=1 validate=$validate
	holds "$rc == 1 && $(value pages_bad) > 0" "validate=$validate: a spoiled tree is noticed"
done
run graph500 slow_node=0 validate=none spoil=1
is "$rc $(cat "$tmp/stderr")" "1 graph500: spoil=1 needs validate=every or validate=last, or nobody notices" \
	"one that nobody would check is refused"
refuses 1 graph500 scale=40 "scale=40 needs 566231040 MiB, and the nodes have " "a graph that is too large is refused"
for pair in scale=41 nbfs=4097 validate=sometimes; do
	refuses 2 graph500 $pair "bad value in '$pair'" "$pair is refused"
done

finish
