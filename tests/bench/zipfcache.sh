#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# zipfcache: results right, damage noticed, and keys as popular as the distribution says.
set -uo pipefail
# shellcheck source=tests/bench/lib.bash
. tests/bench/lib.bash

workload zipfcache hot_set=1 ops=400000
common ops keys get_timed top1_percent

# top1 EXPONENT: percent of draws that the first hundredth of the keys get by the definition of zipf
top1() {
	awk -v n="$(value keys)" -v s="$1" 'BEGIN {
		top = int((n + 99) / 100)
		for (k = 1; k <= n; k++) { sum += k ^ -s; if (k == top) first = sum }
		print 100 * first / sum }'
}

run
near top1_percent "$(top1 0.99)" 1 "the most popular hundredth of the keys gets its share"
near get_timed $((400000 * 90 / 100)) 1 "nine of ten operations are gets"
is $(($(value get_timed) + $(value set_timed))) 400000 "all are timed"
awk -v a="$(value get_p50_us)" -v b="$(value get_p99_us)" -v c="$(value get_p999_us)" -v d="$(value get_max_us)" \
	'BEGIN { exit !(0 < a && a <= b && b <= c && c <= d) }'
ok $? "percentiles are in order" "$(values get_p50_us get_p99_us get_p999_us get_max_us)"
run zipf_exponent=0
near top1_percent 1 10 "zipf_exponent=0: all keys alike"
run zipf_exponent=1
near top1_percent "$(top1 1)" 1 "zipf_exponent=1"
run zipf_exponent=1.3
near top1_percent "$(top1 1.3)" 1 "zipf_exponent=1.3"

run timed=8 get_percent=100
is "$(values get_timed set_timed set_p50_us)" "50000 0 0.000" "timed=8, get_percent=100"
run get_percent=0
is "$(values get_timed set_timed)" "0 400000" "get_percent=0"
good "all values are right after sets only"
run value_bytes=64
good "small values"
run value_bytes=8256 get_percent=50
good "values larger than a page, which lie across pages"
run working_set=2
steady=$(value top1_percent)
run working_set=2 shift_ops=50000
good "a ranking that shifts"
is "$(value hot_percent)" 100.000 "which makes all pages hot"
awk -v a="$(value top1_percent)" -v b="$steady" 'BEGIN { exit !(b / 8 < a && a < b / 6) }'
ok $? "what is popular at first is so an eighth of the time" "$(value top1_percent) of $steady"

# Skew by page: hot_set is one of two percent.
run working_set=2 scatter=0
popular_last=$(value hot_percent)
near hot_percent 95 3 "scatter=0: hot pages get what the hotter half of the keys gets"
run working_set=2 value_bytes=4096
large=$(value hot_percent)
run working_set=2
awk -v a="$(value hot_percent)" -v b="$large" -v c="$popular_last" 'BEGIN { exit !(60 < a && a < b && a < c) }'
ok $? "pages of several values are less skewed, but skewed" "$(value hot_percent), $large, $popular_last"

refused 2 "^zipfcache: bad value in 'value_bytes=100'" "values that are no multiple of 64" value_bytes=100
refused 2 "^zipfcache: bad value in 'zipf_exponent=-1'" "a negative exponent" zipf_exponent=-1
refused 2 "^zipfcache: bad value in 'zipf_exponent=0.9x'" "an exponent that is no number" zipf_exponent=0.9x

finish
