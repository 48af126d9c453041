#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# lab/report: medians, ratios and goals are what they must be, of results made up here; the same results give the
# same text, also once published; people's notes are where they belong.
# shellcheck disable=SC2016 # jq's variables and Markdown's backticks, not the shell's
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

command -v jq >/dev/null || skip_all "there is no jq"

# results TRAITS RUNS: results.json with workload gups:over2 that has the traits (a JSON list). RUNS, of jq: an
# object of a list of runs for each config; what they say of themselves is added to a run that is ok.
results() {
	jq -n --argjson traits "$1" "$2"' as $runs
		| {name: "m", kernel: "6.12.1", qemu: "7.2", accel: "tcg", instrument: null, host: {cpu: "none", cpus: 2},
		   nodes: [{node: 0, cpus: "0-1", mem_mb: 512, tier: "fast"}, {node: 1, cpus: "", mem_mb: 2048, tier: "slow"}]} as $machine
		| {machine: $machine,
		   plan: {name: "full", repeats: 3, repeats_max: 5, spread_percent: 5, traits: {"gups:over2": $traits}},
		   runs: [$runs | to_entries[] | .key as $config | .value | to_entries[] | .key as $nr | .value
			| {experiment: "gups", scenario: "over2", config: $config, repeat: ($nr + 1), status: "ok", reason: null,
			   seconds: 1, machine: $machine, vmstat: {}, roi: null, cpu_ms: {}, samples: [], setup: {},
			   pghot: (if $config | test("^(pghot|hwhints|chmu)$") then {pghot_moved: 1} else {} end), results: {}} + .]}' \
		>"$tmp/results.json"
}

# speeds CONFIG=RATE...: as RUNS for results, one run each; rate_last is a tenth more
speeds() {
	jq -n '[$ARGS.positional[] | split("=") | {key: .[0], value: (.[1] | tonumber)}
		| .value |= [{results: {rate: ., rate_last: (. * 1.1)}}]] | from_entries' --args "$@"
}

# cells CONFIG: its row in the report, without blanks
cells() {
	lab/report "$tmp/results.json" | grep -E "^\| $1 \|" | head -n 1 | tr -d ' '
}

# verdict WANT TITLE NAME: what becomes of the goal with this title, "" where it is about no workload
verdict() {
	is "$(lab/report --goals "$tmp/results.json" 2>&1 | sed -n "s/^$2: //p")" "$1" "$3"
}

# --- figures --------------------------------------------------------------------------------

results '[]' '{
	numab0: [100, 104, 96 | {results: {rate: ., rate_last: ., converged_ms: 0}}],
	hwhints: [{results: {rate: 150, rate_last: 180, converged_ms: 4500, get_p99_us: 12}, vmstat: {pgpromote_success: 2000, pgdemote_kswapd: 900,
		pgdemote_direct: 100, numa_hint_faults: 5}, roi: {fast: 3, slow: 1}, cpu_ms: {kmigrated1: 20, pghot_hwhints: 3, kswapd0: 7, ksoftirqd: 9}}],
	damon: [{results: {rate: 120, rate_last: 130, converged_ms: -1}, vmstat: {pgpromote_success: 0, pgdemote_kswapd: 10},
		setup: {damon_hot_sz_applied: 8192, damon_cold_sz_applied: 4096}}],
	ideal: [{results: {rate: 200, rate_last: 200}}, {status: "panic", reason: "the kernel panicked", results: {rate: 1}}]}'
is "$(cells numab0)" "|numab0|100|8|1.00|0.50|0.50|0|-|-|-|-|0|3|" "medians, spread, and ratios to numab0 and ideal"
is "$(cells hwhints)" "|hwhints|150|-|1.50|0.75|0.90|4.5|75|2,000|1,000|5|30|1|" \
	"what was served fast, moved and spent, by the threads that count"
is "$(cells damon)" "|damon|120|-|1.20|0.60|0.65|never|-|2|11|-|0|1|" "DAMON's own migrations count; what never converged says so"
is "$(cells ideal)" "|ideal|200|-|2.00|1.00|1.00|-|-|-|-|-|0|1,1failed|" "failed runs count in no figure"
lab/report "$tmp/results.json" | grep -q '^panic, gups:over2, ideal, repeat 2: the kernel panicked$'
ok $? "and are told"
is "$(cells get_p99_us)" "|get_p99_us|-|12|-|-|" "a workload's own results have a row"
results '[]' '{numab0: [{seconds: 4}], ideal: [{seconds: 2}]}'
is "$(cells numab0)" "|numab0|0.25|-|1.00|0.50|-|-|-|-|-|-|0|1|" "without a rate, speed is how often it could be run"

# --- goals ------------------------------------------------------------------------------------

kernel="As fast as the kernel's own" skewed="Faster where memory is skewed" even="No harm where there is nothing to gain"
stable="Close to ideal once the hot pages are found" sampled="Samples choose better than hint faults"

# goal WANT TITLE TRAITS CONFIG=RATE...
goal() {
	results "$3" "$(speeds "${@:4}")"
	verdict "$1" "$2" "$2: $1 with ${*:4}"
}
goal "1 met" "$kernel" '[]' numab2=100 damon=90 pghot=80 chmu=100
goal "1 missed" "$kernel" '[]' numab2=100 damon=90 pghot=99
goal "1 missed" "$kernel" '[]' numab2=80 damon=100 chmu=99
goal "1 met" "$kernel" '[]' numab2=1000 damon=1000 pghot=996
goal "1 met" "$kernel" '[]' numab2=100 pghot=101
goal "1 without a figure" "$kernel" '[]' numab0=100 pghot=101
goal "1 without a figure" "$kernel" '[]' numab2=100 numab0=101
goal "1 without a figure" "$kernel" '[]' damon=100 pghot=101
goal "" "$skewed" '["stable"]' numab2=100 pghot=200
goal "1 met" "$skewed" '["skewed"]' numab2=100 damon=90 hwhints=120
goal "1 missed" "$skewed" '["skewed"]' numab2=100 damon=90 hwhints=119
goal "1 missed" "$skewed" '["skewed"]' numab2=100 damon=110 hwhints=125
goal "1 met" "$even" '["even"]' numab0=100 numab2=50 pghot=97
goal "1 missed" "$even" '["even"]' numab0=100 numab2=50 pghot=96
goal "1 without a figure" "$even" '["even"]' numab2=50 pghot=96
goal "1 met" "$stable" '["stable"]' ideal=100 pghot=85
goal "1 missed" "$stable" '["stable"]' ideal=100 pghot=84
results '["stable"]' '{ideal: [{results: {rate: 100, rate_last: 110}}], pghot: [{results: {rate: 50, rate_last: 100}}]}'
verdict "1 met" "$stable" "$stable: it is the last quarter that counts"

# promotions HWHINTS NUMAB2 RATE: on a workload where samples are to choose better; the rate of hwhints, numab2 has 100
promotions() {
	results '["sampled"]' "{numab2: [{results: {rate: 100}, vmstat: {pgpromote_success: $2}}],
		hwhints: [{results: {rate: $3}, vmstat: {pgpromote_success: $1}}]}"
}
promotions 1000 3000 130
verdict "1 met" "$sampled" "$sampled: 1.30 times the speed with a third"
promotions 1001 3000 130
verdict "1 missed" "$sampled" "$sampled: not with more than a third"
promotions 1000 3000 129
verdict "1 missed" "$sampled" "$sampled: nor at 1.29 times the speed"
results '["sampled"]' '{numab2: [{results: {rate: 100}}], hwhints: [{status: "failed", reason: "x"}]}'
verdict "1 without a figure" "$sampled" "$sampled: a failed run is no figure"
results '["skewed", "stable"]' "$(speeds numab2=100 damon=80 pghot=110 chmu=130 ideal=200)"
lab/report "$tmp/results.json" >"$tmp/report"
grep -qF '| gups:over2 | chmu | 1.30 | 1.63 | 1.10 | 2.00 | met |' "$tmp/report"
ok $? "the report names the best config, and what pghot and ideal have" "$(grep gups: "$tmp/report")"
grep -qF '| gups:over2 | chmu | 0.65 | 0.55 | **missed** |' "$tmp/report"
ok $? "and what was missed" "$(grep gups: "$tmp/report")"
grep -qF 'Goals: 2 met, 1 missed; see' "$tmp/report"
ok $? "its head has the sum" "$(grep Goals "$tmp/report")"

# --- notes, and what is published ---------------------------------------------------------------

printf '%s\n' 'Not printed.' '' '## goals' '' 'Why it is missed.' 'At length.' '' '## gups' '' 'What gups is.' >"$tmp/notes"
lab/report --notes "$tmp/notes" "$tmp/results.json" >"$tmp/noted"
is "$(diff "$tmp/report" "$tmp/noted" | sed -n 's/^[<>] *\([^ ].*\)/\1/p' | paste -sd '|')" "What gups is.|Why it is missed.|At length." \
	"notes are put in, and nothing else changes"
is "$(tail -n 1 "$tmp/noted")" "At length." "those of the goals at the end"
lab/report --notes "$tmp/notes" "$tmp/results.json" | cmp - "$tmp/noted"
ok $? "the same results give the same report"

mkdir "$tmp/tree"
cp -R lab scripts "$tmp/tree"
mkdir "$tmp/tree/docs"
cp "$tmp/notes" "$tmp/tree/docs/results-notes.md"
"$tmp/tree/lab/report" --publish "$tmp/results.json" 2>/dev/null
cmp "$tmp/noted" "$tmp/tree/docs/results.md"
ok $? "--publish writes it, with the notes"
"$tmp/tree/lab/report" --notes "$tmp/notes" "$tmp/tree/docs/results.json.gz" | cmp - "$tmp/noted"
ok $? "and results that give the same report"
cp "$tmp/tree/docs/results.json.gz" "$tmp/first.gz"
"$tmp/tree/lab/report" --publish "$tmp/tree/docs/results.json.gz" 2>/dev/null
cmp "$tmp/first.gz" "$tmp/tree/docs/results.json.gz"
ok $? "published again they are the same, to the byte"

if [[ -e docs/results.md || -e docs/results.json.gz ]]; then
	lab/report --notes docs/results-notes.md docs/results.json.gz | cmp - docs/results.md
	ok $? "docs/results.md is of docs/results.json.gz" "after a change of the report: lab/report --publish docs/results.json.gz"
fi

# refused STATUS REGEX NAME ARGUMENT...
refused() {
	local rc=0
	lab/report "${@:4}" >"$tmp/stdout" 2>"$tmp/stderr" || rc=$?
	[[ $rc -eq $1 && ! -s $tmp/stdout && $(wc -l <"$tmp/stderr") -eq 1 ]] && grep -qE -- "$2" "$tmp/stderr"
	ok $? "$3" "exit status $rc, $(head -n 3 "$tmp/stdout" "$tmp/stderr")"
}
printf '%s\n' '## gups' 'x' '## nosuch' 'y' >"$tmp/wrong"
refused 1 "^lab/report: $tmp/wrong: notes of what is not there: nosuch\$" "notes of an unknown workload" \
	--notes "$tmp/wrong" "$tmp/results.json"
refused 2 "^lab/report: no file given" "no file"
refused 2 "^lab/report: unknown option '--nosuch': known are --goals --notes --publish\$" "unknown option" --nosuch
refused 1 "^lab/report: cannot read /nosuch: run lab/bench first\$" "a file that is not there" /nosuch
refused 1 "^lab/report: cannot read the notes /nosuch" "notes that are not there" --notes /nosuch "$tmp/results.json"
echo '{"machine": {}, "runs": []}' >"$tmp/other.json"
refused 1 "^lab/report: $tmp/other.json is not a results.json of lab/bench\$" "results of lab/run" "$tmp/other.json"

finish
