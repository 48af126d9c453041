#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Configs: what the guest is told to set is what their files say, the union of them where several are put
# together with +; and the results have the name that was given. lab/boot is replaced here, so no guest is booted.
# shellcheck disable=SC2016 # the stand-in's own variables
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

[[ -e build/kmod/pghot.ko && -x build/lab/init && -x build/bench/hotregion && -x build/bench/hostrun ]] ||
	skip_all "the module, the lab or a workload is not built: run make"
command -v qemu-system-x86_64 >/dev/null || skip_all "there is no qemu-system-x86_64"
tree=$tmp/tree
mkdir "$tree"
cp -R lab scripts "$tree"
stand_in "$tree/lab" boot '
while [ "$1" != --out ]; do shift; done
printf "verdict pass\ndmesg_bad 0\nresult seconds 1\nsetup damon_hot_sz_applied 4096\n" >"$2/result.log"
: >"$2/console.log"
echo pass >"$2/outcome"'
export BUILD=$PWD/build

# lab EXPERIMENT... OPTION...: lab/run of the tree; its results are in $tmp/out
lab() {
	rm -rf "$tmp/out"
	rc=0
	"$tree/lab/run" --out "$tmp/out" "$@" >"$tmp/stdout" 2>"$tmp/stderr" || rc=$?
}

# settings NAME: what a run was told to set, one line a setting, sorted
settings() {
	sort "$tmp/out/runs/$1/job/settings" 2>&1
}

# told KEY VALUE NAME: the run hintfaults+chmu was told so
told() {
	is "$(settings 'free.hintfaults+chmu.1' | sed -n "s/^sysctl $1 //p")" "$2" "$3"
}

lab hotregion:free hintfaults+chmu hintfaults
is "$rc" 0 "hintfaults+chmu runs beside hintfaults"
told vm.pghot_enabled_sources 9 "its sources are those of both"
told kernel.numa_balancing 2 "kernel.numa_balancing is what one of them needs"
is "$(settings 'free.hintfaults+chmu.1' | grep -E '^(load|demotion)' | paste -sd ' ')" "demotion on load yes" \
	"what both say is said once"
is "$(tail -n 1 "$tmp/out/runs/free.hintfaults+chmu.1/job/settings" | cut -d ' ' -f 2)" vm.pghot_enabled_sources \
	"sources still come on last"
is "$(settings free.hintfaults.1 | sed -n 's/^sysctl vm.pghot_enabled_sources //p')" 1 \
	"the next config has nothing of it"
is "$(jq -r '[.runs[].config] | join(" ")' "$tmp/out/results.json")" "hintfaults+chmu hintfaults" \
	"the results have its name"
grep -qE '^ +hintfaults\+chmu +hintfaults$' "$tmp/stdout"
ok $? "and the table" "$(cat "$tmp/stdout")"

lab hotregion:free hintfaults+hwhints+pgtscan+chmu+pagecache --set vm.pghot_weight_chmu=3
is "$(settings 'free.hintfaults+hwhints+pgtscan+chmu+pagecache.1' | grep pghot | paste -sd ' ')" \
	"sysctl vm.pghot_enabled_sources 31 sysctl vm.pghot_weight_chmu 3" "all five, and --set has its say"

lab exec hwhints+chmu --set plugin=off -- true
is "$(settings 'command.hwhints+chmu.1' | sed -n 's/^sysctl vm.pghot_enabled_sources //p')" 10 "exec takes them, too"

lab hotregion:free numab0+numab2
is "$(settings 'free.numab0+numab2.1' | sed -n 's/^sysctl kernel.numa_balancing //p')" 2 \
	"configs without the module can be put together as well"

# --- when the config takes effect ------------------------------------------------------------------

is "$(settings free.numab0+numab2.1 | grep '^begin')" "begin boot" "a config takes effect before the workload runs"
lab gups:over2 numab0
is "$(settings over2.numab0.1 | grep '^begin')" "begin roi" "with a benchmark, when its measured part begins"

# --- parameters that a config sets, where the experiment has them ----------------------------------

# experiment NAME LINE...: one of the tree's, with these lines in its file
experiment() {
	mkdir -p "$tree/lab/experiments/$1"
	printf '%s\n' 'scenarios = only' "${@:2}" >"$tree/lab/experiments/$1/experiment.conf"
	cp "$tree/lab/experiments/hotregion/job" "$tree/lab/experiments/$1/"
}

# config NAME LINE...
config() {
	printf '%s\n' "${@:2}" >"$tree/lab/configs/$1.conf"
}

# argument NAME RUN: what the workload of a run was told
argument() {
	sed -n "s/^$1=//p" "$tmp/out/runs/$2/job/args" 2>&1
}

# refused REGEX NAME: the last lab was refused so, with one line
refused() {
	[[ $rc -ne 0 && $(wc -l <"$tmp/stderr") -eq 1 ]] && grep -qE -- "$1" "$tmp/stderr"
	ok $? "$2" "exit status $rc, $(cat "$tmp/stderr")"
}

experiment started 'param.start = spill' 'choices.start = spill slow ideal'
experiment choosy 'param.start = spill' 'choices.start = spill slow'
experiment plain 'param.size = 1'

lab hotregion:free ideal
is "$(argument hot_node free.ideal.1) $(argument start free.ideal.1)" "0 " "ideal sets hot_node where the experiment has it"
lab started numab0 ideal
is "$(argument start only.numab0.1) $(argument start only.ideal.1)" "spill ideal" "and start where it has that"
lab plain ideal
refused "^lab/run: config ideal is for experiments that have one of the parameters hot_node start, and plain has none" \
	"an experiment that has neither is refused"
lab choosy ideal
refused "^lab/run: bad start 'ideal' \(.*\) in config ideal: known are spill slow\$" \
	"and so is one that cannot start so"
config must 'param.start = slow'
lab plain must
refused "^lab/run: config must sets start, which the experiment plain does not have" "what has no ? must be there"
config both 'param?.start = slow'
lab started ideal+both
refused "config 'ideal\+both' makes no sense: param.start is ideal in ideal and slow in both" "two values are one too many"

# --- a set-up of the config's own ---------------------------------------------------------------

lab hotregion:free numab0 damon
cmp -s lab/guest/setup/damon "$tmp/out/runs/free.damon.1/job/setup" && [[ -x $tmp/out/runs/free.damon.1/job/setup ]]
ok $? "the guest of config damon gets its set-up"
[[ ! -e $tmp/out/runs/free.numab0.1/job/setup && -e $tmp/out/runs/free.numab0.1/job/main ]]
ok $? "that of another config gets none"
is "$(jq -r '.runs[1].setup.damon_hot_sz_applied' "$tmp/out/results.json")" 4096 "what it reports is in the results"
config odd 'setup = nosuch'
lab hotregion:free odd
refused "^lab/run: lab/configs/odd\.conf: bad setup 'nosuch': known are damon\$" "an unknown set-up is refused"

# --- what a run depends on ----------------------------------------------------------------------

# inputs ARGUMENT...: what lab/run says of it, and that it wrote nothing
inputs() {
	lab "$@" --inputs
	[[ $rc -eq 0 && ! -e $tmp/out ]] || echo "exit status $rc: $(cat "$tmp/stderr")"
	cat "$tmp/stdout"
}
inputs hotregion:free numab0 hwhints >"$tmp/two"
is "$(grep '^run ' "$tmp/two" | paste -sd ' ')" "run free numab0 run free hwhints" "--inputs: a block for each run"
is "$(grep -cE '^file [0-9a-f]{64} .*/kmod/pghot.ko$' "$tmp/two")" 1 "--inputs: the module is one of pghot's configs alone"
is "$(inputs hotregion:free numab0 hwhints | cmp - "$tmp/two" && echo same)" same "--inputs: the same each time"
# changes NAME ARGUMENT...: it is not the same with those
changes() {
	[[ $(inputs hotregion:free numab0 hwhints "${@:2}") != "$(<"$tmp/two")" ]]
	ok $? "--inputs: $1 changes it"
}
changes "a parameter" --set seed=7
changes "the machine" --set node0.mem_mb=1024
changes "a sysctl" --set vm.pghot_freq_threshold=3
echo '# changed' >>"$tree/lab/experiments/hotregion/job"
changes "the job"

finish
