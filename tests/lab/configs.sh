#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Configs put together with +: what the guest is told to set is the union of their files, and the results
# have the name that was given. lab/boot is a stub here, so no guest is booted.
# shellcheck disable=SC2016 # the stub's own variables
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

[[ -e build/kmod/pghot.ko && -x build/lab/init && -x build/bench/hotregion && -x build/bench/hostrun ]] ||
	skip_all "the module, the lab or a workload is not built: run make"
command -v qemu-system-x86_64 >/dev/null || skip_all "there is no qemu-system-x86_64"
tree=$tmp/tree
mkdir "$tree"
cp -R lab scripts "$tree"
stub "$tree/lab" boot '
while [ "$1" != --out ]; do shift; done
printf "verdict pass\ndmesg_bad 0\nresult seconds 1\n" >"$2/result.log"
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

finish
