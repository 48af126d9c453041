#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# zipfcache: results right, and keys as popular as the distribution says.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash
# shellcheck source=tests/bench/lib.bash
. tests/bench/lib.bash
need zipfcache

OPS=400000

# cache ARGUMENT...: run it with so many operations
cache() {
	small zipfcache ops=$OPS "$@"
}

# top1 EXPONENT: percent of draws that the first hundredth of the keys get by the definition of zipf
top1() {
	awk -v n="$(value keys)" -v s="$1" 'BEGIN {
		top = int((n + 99) / 100)
		for (k = 1; k <= n; k++) { sum += k ^ -s; if (k == top) first = sum }
		print 100 * first / sum }'
}

cache
near "$(value top1_percent)" "$(top1 0.99)" 0.6 "the most popular hundredth of the keys gets its share"
near "$(value get_timed)" $((OPS * 90 / 100)) $((OPS / 100)) "nine of ten operations are gets"
is $(($(value get_timed) + $(value set_timed))) $OPS "all are timed"
holds "0 < $(value get_p50_us) && $(value get_p50_us) <= $(value get_p99_us) &&
	$(value get_p99_us) <= $(value get_p999_us) && $(value get_p999_us) <= $(value get_max_us)" \
	"percentiles are in order"
timed=$(value get_timed)
cache seed=2
[[ $(value get_timed) -ne $timed ]]
ok $? "another seed is other operations"
cache zipf_exponent=0
near "$(value top1_percent)" 1 0.1 "zipf_exponent=0: all keys alike"
cache zipf_exponent=1
near "$(value top1_percent)" "$(top1 1)" 0.6 "zipf_exponent=1"
cache zipf_exponent=1.3
near "$(value top1_percent)" "$(top1 1.3)" 0.9 "zipf_exponent=1.3"

cache timed=8 get_percent=100
is "$(value get_timed) $(value set_timed) $(value set_p50_us)" "$((OPS / 8)) 0 0.000" "timed=8, get_percent=100"
cache get_percent=0
is "$(value get_timed) $(value set_timed)" "0 $OPS" "get_percent=0"
good "all values are right after sets only"
cache value_bytes=64
good "small values"
cache value_bytes=8256 get_percent=50
good "values larger than a page, which lie across pages"
cache working_set=20
steady=$(value top1_percent)
cache working_set=20 shift_ops=50000
good "a ranking that shifts"
is "$(value hot_percent)" 100.000 "which makes all pages hot"
holds "$steady / 8 < $(value top1_percent) && $(value top1_percent) < $steady / 6" \
	"what is popular at first is so an eighth of the time"

# Skew by page: hot_set is one half of the working set.
cache working_set=20 scatter=0
popular_last=$(value hot_percent)
near "$popular_last" 95 2.9 "scatter=0: hot pages get what the hotter half of the keys gets"
cache working_set=20 value_bytes=4096
large=$(value hot_percent)
cache working_set=20
holds "60 < $(value hot_percent) && $(value hot_percent) < $large && $large < $popular_last" \
	"pages of several values are less skewed, but skewed"

refuses 2 zipfcache value_bytes=100 "bad value in 'value_bytes=100'" "values that are no multiple of 64"
refuses 2 zipfcache zipf_exponent=-1 "bad value in 'zipf_exponent=-1'" "a negative exponent"
refuses 2 zipfcache zipf_exponent=0.9x "bad value in 'zipf_exponent=0.9x'" "an exponent that is no number"

finish
