#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# lab/bench: the order of runs, how many there are, which are kept and which are made again, and what becomes of
# those that fail. lab/boot is replaced, so no guest is booted: runs have the speeds that this test wants.
# shellcheck disable=SC2016 # the replacement's own variables
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

for program in qemu-system-x86_64 jq cpio setpriv; do
	command -v "$program" >/dev/null || skip_all "there is no $program"
done
tree=$tmp/tree
mkdir "$tree"
cp -R lab scripts "$tree"
export KVER=6.12.1+deb12-amd64 BUILD=$tmp/build
mkdir -p "$BUILD"/{kmod,bench,lab/plugin}
for file in kmod/pghot.ko bench/toy lab/init lab/plugin/pghot-lab.so; do
	echo "$file" >"$BUILD/$file"
	chmod +x "$BUILD/$file"
done
mkdir "$tree/lab/experiments/toy"
cp lab/experiments/selftest/job "$tree/lab/experiments/toy/"
printf '%s\n' 'scenarios = first second' 'program = bench/toy' 'param.size = 1' \
	'param.start = spill' >"$tree/lab/experiments/toy/experiment.conf"

# rates: "SCENARIO.CONFIG RATE...", the rate of each boot, and of those after the last; fail: a run that fails
stand_in "$tree/lab" boot '
tmp='"$tmp"'
while [ "$1" != --out ]; do shift; done
name=${2##*/}
name=${name%.*}
echo "$name" >>"$tmp/boots"
[ ! -e "$tmp/hang" ] || exec sleep 300
rate=$(awk -v name="$name" -v nr="$(grep -cxF "$name" "$tmp/boots")" \
	"\$1 == name { print (nr + 1 > NF ? \$NF : \$(nr + 1)) }" "$tmp/rates")
verdict=pass
[ "$rate" != fail ] || { verdict=fail rate=1; }
printf "result seconds 1\nresult rate %s\nresult rate_last %s\nvmstat pgpromote_success 7\ndmesg_bad 0\nverdict %s\n" \
	"${rate:-100}" "${rate:-100}" "$verdict" >"$2/result.log"
: >"$2/console.log"
echo "$verdict" >"$2/outcome"'

# plan LINE...
plan() {
	printf '%s\n' "$@" >"$tree/lab/plans/test.conf"
}

# rates LINE...: of the boots to come
rates() {
	printf '%s\n' "$@" >"$tmp/rates"
}

# bench OPTION...: lab/bench of the tree; what it boots is in $tmp/boots
bench() {
	: >"$tmp/boots"
	rc=0
	"$tree/lab/bench" test --out "$tmp/out" "$@" >"$tmp/stdout" 2>"$tmp/stderr" || rc=$?
}

# booted WANT NAME: the last bench booted these, in this order; on a line with blanks
booted() {
	is "$(paste -sd ' ' "$tmp/boots")" "$1" "$2"
}

# holds CONDITION NAME: of results.json
holds() {
	jq -e "$1" "$tmp/out/results.json" >/dev/null 2>&1
	ok $? "$2" "$(jq -c '.runs[] | [.scenario, .config, .repeat, .status, .results.rate]' "$tmp/out/results.json" 2>&1)"
}

# --- how many, in which order ---------------------------------------------------------------

plan 'repeats = 3' 'repeats_max = 5' 'spread_percent = 5' 'configs.two = numab0 hwhints' \
	'run.toy.first = @two ideal' 'run.toy.second = numab0' 'traits.toy.first = skewed stable'
rates 'first.numab0 100 105 100' 'first.hwhints 100 106 100 101 102' 'first.ideal 200' 'second.numab0 90'
first='first.numab0 first.hwhints first.ideal'
bench --list
is "$rc $(paste -sd ' ' "$tmp/boots") $(wc -l <"$tmp/stdout") $(head -n 1 "$tmp/stdout")" "0  12 toy:first numab0 1 missing" \
	"--list tells the runs, and boots nothing"
bench
is "$rc" 0 "all is run"
booted "$first $first $first first.hwhints first.hwhints second.numab0 second.numab0 second.numab0" \
	"repeats take turns; a spread of 6 % makes 5 of 3, one of 5 % does not"
holds '[.runs[] | select(.scenario == "first" and .config == "hwhints") | [.repeat, .results.rate]] ==
	[[1, 100], [2, 106], [3, 100], [4, 101], [5, 102]]' "results.json has them all, in their order"
holds '.machine.name == "1fast1slow" and .plan.traits == {"toy:first": ["skewed", "stable"], "toy:second": []}' \
	"and the machine, and the traits"
holds 'all(.runs[]; .console == "runs/toy.\(.scenario).\(.config).\(.repeat)/runs/\(.scenario).\(.config).1/console.log")' \
	"each knows its console"
none "$(jq -r '.runs[].console' "$tmp/out/results.json" | while read -r file; do
	[[ -e $tmp/out/$file ]] || echo "$file"
done)" "which is there"
"$tree/lab/report" "$tmp/out/results.json" | cmp - "$tmp/out/results.md"
ok $? "results.md is lab/report's"
grep -qE '^\| hwhints \| 101 \| 5.9 \| 1.01 \| 0.51 \|' "$tmp/out/results.md"
ok $? "with medians and spreads" "$(grep hwhints "$tmp/out/results.md")"

# --- what is kept ---------------------------------------------------------------------------

cp "$tmp/out/results.json" "$tmp/before.json"
bench
booted "" "nothing is run again"
cmp -s "$tmp/before.json" "$tmp/out/results.json"
ok $? "and the results are the same"
rm -rf "$tmp/out/runs/toy.first.numab0.2"
bench
booted "first.numab0" "a run that is gone is made again, alone"

rm -rf "$tmp/out/runs/toy.second.numab0.3"
touch "$tmp/hang"
: >"$tmp/boots"
"$tree/lab/bench" test --out "$tmp/out" >"$tmp/stdout" 2>"$tmp/stderr" &
pid=$!
for ((i = 0; i < 100; i++)); do
	[[ ! -s $tmp/boots ]] || break
	sleep 0.1
done
"$tree/lab/bench" test --out "$tmp/out" >/dev/null 2>"$tmp/second"
is "$? $(cat "$tmp/second")" "1 lab/bench: another lab/bench is at work in $tmp/out: let it end, or give --out another folder" \
	"a second one at the same time is refused"
kill -TERM "$pid"
wait "$pid"
is $? 130 "lab/bench can be interrupted"
rm "$tmp/hang"
[[ ! -e $tmp/out/runs/toy.second.numab0.3 ]]
ok $? "the run of then is not taken for one"
bench
is "$rc $(paste -sd ' ' "$tmp/boots")" "0 second.numab0" "it goes on where it was"

echo changed >"$BUILD/kmod/pghot.ko"
bench --list
is "$(grep -c 'hwhints . changed$' "$tmp/stdout") $(grep -c 'kept$' "$tmp/stdout")" "3 9" "--list: another module changes its runs"
rates 'first.hwhints 120' 'first.ideal 200'
bench
booted "first.hwhints first.hwhints first.hwhints" "only configs with the module are run again"
holds '[.runs[] | select(.config == "hwhints") | .results.rate] == [120, 120, 120]' "what was made with the old one is gone from the results"
echo changed >"$BUILD/bench/toy"
bench --list
is "$(grep -c 'changed$' "$tmp/stdout")" 12 "another workload changes all"
echo bench/toy >"$BUILD/bench/toy"
echo 'kernel.numa_balancing_promote_rate_limit_MBps = 100' >>"$tree/lab/configs/ideal.conf"
bench --list
is "$(grep -c 'changed$' "$tmp/stdout") $(grep -c 'ideal . changed$' "$tmp/stdout")" "3 3" "a config changes its runs"
cp lab/configs/ideal.conf "$tree/lab/configs/"
cp "$tree/lab/plans/test.conf" "$tmp/plan"
echo 'set.toy = size=2 node0.mem_mb=1024' >>"$tree/lab/plans/test.conf"
bench --list
is "$(grep -c 'changed$' "$tmp/stdout")" 12 "parameters change all"
bench
holds 'all(.runs[]; .params.size == 2 and .machine.nodes[0].mem_mb == 1024)' "the plan's parameters are those of the runs"
cp "$tmp/plan" "$tree/lab/plans/test.conf"

# --- what fails -----------------------------------------------------------------------------

rm -rf "$tmp/out"
rates 'first.hwhints 100 fail 102' 'first.ideal fail'
bench
is "$rc" 1 "runs that fail: exit status 1"
holds '[.runs[] | select(.config == "hwhints") | .status] == ["ok", "failed", "ok"]' "they are in the results"
grep -qE '^\| hwhints \| 101 \| 2 \|.*\| 2, 1 failed \|$' "$tmp/out/results.md"
ok $? "but not in the medians" "$(grep hwhints "$tmp/out/results.md")"
grep -qE '^\| ideal \| - \| - \| - \|.*\| 0, 3 failed \|$' "$tmp/out/results.md"
ok $? "a config without a good run has no figures" "$(grep ideal "$tmp/out/results.md")"
grep -q '^failed, toy:first, hwhints, repeat 2: the job failed$' "$tmp/out/results.md"
ok $? "the report says why"
bench
is "$rc $(cat "$tmp/boots")" "1 " "they are kept as well, and still count as failed"
rates 'first.hwhints 101' 'first.ideal 200'
bench --retry
booted "first.ideal first.hwhints first.ideal first.ideal" "--retry makes them again"
is "$rc" 0 "after which all are good"

# --- what is refused ------------------------------------------------------------------------

# refused REGEX NAME: the last bench was, with one line
refused() {
	[[ $rc -ne 0 && $(wc -l <"$tmp/stderr") -eq 1 && ! -s $tmp/boots ]] && grep -qE -- "$1" "$tmp/stderr"
	ok $? "$2" "exit status $rc, $(cat "$tmp/stderr" "$tmp/boots")"
}

# bad REGEX NAME LINE...: such a plan
bad() {
	plan "${@:3}"
	bench
	refused "$1" "$2"
}
bench --nosuch
refused "^lab/bench: unknown option '--nosuch': known are --out --list --retry\$" "unknown option"
bench other
refused "^lab/bench: one plan at a time: 'test other' were given\$" "two plans"
"$tree/lab/bench" nosuch >"$tmp/stdout" 2>"$tmp/stderr"
rc=$?
refused "^lab/bench: unknown plan 'nosuch': known are full quick .*test" "unknown plan"
bad "lab/plans/test\.conf: unknown key 'nosuch': known are machine repeats" "unknown key" 'nosuch = 1'
bad "lab/plans/test\.conf names nothing to run" "an empty plan" 'repeats = 3'
bad "bad repeats '0': it must be a number from 1 to" "no repeat" 'repeats = 0' 'run.toy.first = numab0'
bad "toy:first: no list 'nosuch' before it: known are two" "unknown list" 'configs.two = numab0' 'run.toy.first = @nosuch'
bad "toy:first is there twice" "a workload twice" 'run.toy.first = numab0' 'run.toy.first = numab2'
bad "traits of toy:second, which it does not run" "traits of nothing" 'run.toy.first = numab0' 'traits.toy.second = even'
bad "^lab/run: unknown experiment 'nosuch'" "unknown experiment" 'run.toy.first = numab0' 'run.nosuch.first = numab0'
bad "^lab/run: unknown scenario 'nosuch'" "unknown scenario" 'run.toy.nosuch = numab0'
bad "^lab/run: unknown config 'nosuch'" "unknown config" 'run.toy.first = numab0 nosuch'
bad "^lab/run: unknown --set key 'nosuch'" "unknown parameter" 'run.toy.first = numab0' 'set.toy = nosuch=1'

# --- the plans that there are -----------------------------------------------------------------

# plan_needs: the programs of the experiments that the plans name
plan_needs() {
	sed -n 's/^run\.\([^.]*\)\..*/\1/p' lab/plans/*.conf | sort -u | while read -r name; do
		sed -n 's/^program *= *//p' "lab/experiments/$name/experiment.conf" || echo "$name"
	done
}
for program in $(plan_needs 2>/dev/null); do
	mkdir -p "$(dirname "$BUILD/$program")"
	install -m 755 /dev/null "$BUILD/$program"
done
for name in full quick; do
	why=$(lab/bench "$name" --list --out "$tmp/none" 2>&1 >"$tmp/list")
	[[ -z $why && -s $tmp/list ]]
	ok $? "plan $name: lab/run knows all that it names" "$why"
done

finish
