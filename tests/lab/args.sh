#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whoever calls the lab or the scripts wrongly, or on a machine that lacks something, gets one line
# on stderr that names the thing and either lists the known ones or says what to do; exit status 2
# for a wrong call, 1 for the machine; and nothing is written. No guest is booted.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

[[ -e build/kmod/pghot.ko && -x build/lab/init && -x build/bench/hotregion ]] ||
	skip_all "the module, the lab or hotregion is not built: run make"
out=$tmp/out
touch "$tmp/file"
cat >"$tmp/ok.sh" <<'END'
echo 1..0 >&3
END

# refused STATUS REGEX NAME COMMAND...: COMMAND fails so, with one line that matches, and no trace
refused() {
	local status=$1 want=$2 name=$3 rc=0 why=
	shift 3
	"$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null || rc=$?
	[[ $rc -eq $status ]] || why+="exit status $rc, want $status"$'\n'
	[[ $(wc -l <"$tmp/stderr") -eq 1 ]] || why+="$(wc -l <"$tmp/stderr") lines on stderr, want one"$'\n'
	grep -qE -- "$want" "$tmp/stderr" || why+="no match of: $want"$'\n'
	[[ ! -s $tmp/stdout ]] || why+="on stdout: $(head -n 3 "$tmp/stdout")"$'\n'
	[[ ! -e $out ]] || why+="it wrote $(cd "$tmp" && find out | paste -sd ' ')"$'\n'
	rm -rf "$out"
	[[ -z $why ]] || why+="stderr: $(head -n 5 "$tmp/stderr")"
	none "$why" "$name"
}

# in_lab DIR [SUFFIX]: the names of what is in lab/DIR, as a message lists them
in_lab() {
	local file names=()
	for file in "lab/$1"/*"${2:-}"; do
		names+=("$(basename "$file" "${2:-}")")
	done
	echo "${names[*]}"
}

run() {
	refused "$1" "^lab/run: $2" "lab/run: $3" lab/run "${@:4}" --out "$out"
}

shell() {
	refused "$1" "^lab/(shell|boot): $2" "lab/shell: $3" lab/shell "${@:4}"
}

# tap STATUS REGEX NAME OPTION...: with a script that is good
tap() {
	refused "$1" "^lab/(tap|boot): $2" "lab/tap: $3" lab/tap "$tmp/ok.sh" --out "$out" "${@:4}"
}

# --- lab/run ----------------------------------------------------------------------------

experiments=$(in_lab experiments)
configs=$(in_lab configs .conf)
machines=$(in_lab machines .conf)

run 2 "no experiment given: known are $experiments\$" "no experiment"
run 2 "no config given: known are $configs\$" "no config" hotregion
run 2 "unknown experiment 'nosuch': known are $experiments\$" "unknown experiment" nosuch numab0
run 2 "unknown experiment '\.\./configs': known are" "an experiment is a name, not a path" ../configs numab0
run 2 "unknown experiment '': known are" "empty experiment" "" numab0
run 2 "unknown scenario 'nosuch': known for hotregion are free pressure" "unknown scenario" hotregion:nosuch numab0
run 2 "unknown scenario 'nosuch': known for" "unknown scenario by --set" hotregion numab0 --set scenario=nosuch
run 2 "unknown config 'nosuch': known are $configs\$" "unknown config" hotregion nosuch
run 2 "unknown config 'nosuch': known are" "unknown config after a known one" hotregion numab0 nosuch
run 2 "config 'hintfaults\+numab0' makes no sense: module is yes in hintfaults and no in numab0\$" \
	"configs that exclude each other" hotregion hintfaults+numab0
run 2 "unknown config 'nosuch' in 'hintfaults\+nosuch': known are $configs\$" "unknown config among several" \
	hotregion hintfaults+nosuch
for config in hintfaults+ +hintfaults hintfaults++chmu; do
	run 2 "unknown config '' in '${config//+/\\+}': known are $configs\$" "config $config" hotregion "$config"
done
run 2 "config 'hwhints\+chmu' is given twice: use --repeat" "several configs twice" hotregion hwhints+chmu hwhints+chmu
run 2 "config 'numab0' is given twice: use --repeat" "a config twice" hotregion numab0 numab0
run 2 "unknown machine 'nosuch': known are $machines\$" "unknown machine" hotregion numab0 --machine nosuch
run 2 "unknown option '--nosuch': known are --repeat --out --machine --set --inputs" "unknown option" hotregion numab0 --nosuch

# exec ARGUMENT...: --out must come before the command
exec_args() {
	refused "$1" "^lab/run: $2" "lab/run exec: $3" lab/run --out "$out" "${@:4}"
}
exec_args 2 "no command given: lab/run exec CONFIG\.\.\. -- COMMAND" "no command" exec numab0
exec_args 2 "no command given: lab/run exec CONFIG\.\.\. -- COMMAND" "nothing after --" exec numab0 --
exec_args 2 "no command given" "an empty command" exec numab0 -- ''
exec_args 2 "no config given: known are $configs\$" "no config before --" exec -- true
exec_args 2 "hotregion takes no command after --: exec does" "a command for another experiment" hotregion numab0 -- true
exec_args 2 "no program 'no such' in /usr/local/sbin:.*: give its path, or install it" "command not found" exec numab0 -- 'no such'
exec_args 2 "cannot run '\./README\.md': it is no program" "a file that is no program" exec numab0 -- ./README.md
exec_args 2 "cannot run '/etc': it is no program" "a folder for a command" exec numab0 -- /etc
exec_args 2 "bad memory 'fast' \(where .*\): known are default slow" "unknown memory" exec numab0 --set memory=fast -- true
exec_args 2 "unknown --set key 'regions': known are .*memory release_s" "a parameter of another experiment" exec numab0 --set regions=1 -- true
exec_args 2 "config ideal is for experiments that have one of the parameters hot_node start, and exec has none" "a config for another experiment" exec ideal -- true

run 2 "unknown --set key 'nosuch': known are .*region_mb.*node.*vm\.NAME" "unknown --set key" hotregion numab0 --set nosuch=1
run 2 "unknown --set key 'net.x'" "no sysctl outside vm and kernel" hotregion numab0 --set net.x=1
run 2 "bad --set 'region_mb': it must be KEY=VALUE" "--set without a value" hotregion numab0 --set region_mb
run 2 "bad --set '=8': it must be KEY=VALUE" "--set without a key" hotregion numab0 --set =8
run 2 "bad region_mb '' \(" "--set with an empty value" hotregion numab0 --set region_mb=
run 2 "bad region_mb '8 9'" "--set with two words" hotregion numab0 --set 'region_mb=8 9'
run 2 "bad timeout '0': it must be a number" "timeout 0" hotregion numab0 --set timeout=0
run 2 "bad timeout 'soon': it must be a number" "timeout that is no number" hotregion numab0 --set timeout=soon
for value in 0 -1 x 1.5 10000; do
	run 2 "bad --repeat '$value': it must be a number from 1 to 9999" "--repeat $value" hotregion numab0 --repeat "$value"
done
for option in --repeat --out --machine --set; do
	refused 2 "^lab/run: $option needs a value" "lab/run: $option without a value" lab/run hotregion numab0 "$option"
done

# set_machine PAIR REGEX: a machine that makes no sense
set_machine() {
	run 2 "$2" "--set $1" hotregion numab0 --set "$1"
}
set_machine node0.mem_mb=1 "bad node0\.mem_mb '1': it must be a number from 256 to"
set_machine node0.mem_mb=2G "bad node0\.mem_mb '2G': it must be a number"
set_machine node9.mem_mb=512 "no node 9 for 'node9\.mem_mb' in this machine: it has nodes 0 1"
set_machine node1.nosuch=1 "unknown --set key 'node1\.nosuch': known are"
set_machine node1.tier=medium "bad node1\.tier 'medium': known are fast slow"
set_machine node0.cpus= "node0\.cpus is empty"
set_machine node0.cpus=two "bad node0\.cpus 'two': it must be a number, a range"
set_machine node1.latency_ns=0 "bad node1\.latency_ns '0': it must be a number from 1 to"
set_machine node1.bandwidth_mbps=x "bad node1\.bandwidth_mbps 'x': it must be a number from 1 to"
set_machine dist.0.1=5 "bad dist\.0\.1 '5': it must be a number from 10 to 254"
set_machine dist.0.7=20 "no node 7 for 'dist\.0\.7'"
set_machine node1.dimm=perhaps "bad node1\.dimm 'perhaps': known are yes no"
set_machine node1.dimm=yes "bad node1\.dimm 'yes': QEMU's HMAT tells nothing of such a node; add --set hmat=off"
set_machine hmat=maybe "bad hmat 'maybe': known are on off"
set_machine accel=xen "bad accel 'xen': known are tcg kvm"
set_machine prof_slots=7 "bad prof_slots '7': it must be 0, or a number from 8 to 1024"
set_machine prof_ops=many "bad prof_ops 'many': it must be a number from 1 to 10000"
set_machine chmu=all "bad chmu 'all': it must be off, exact, or a number from 64 to 1048576"
set_machine chmu_entries=4 "bad chmu_entries '4': it must be a number from 8 to 16384"
set_machine disk_mb=8 "bad disk_mb '8': it must be 0, or a number from 16 to"
set_machine disk_mb=1G "bad disk_mb '1G': it must be 0, or a number from 16 to"
if [[ -w /dev/kvm ]]; then
	skip 1 "/dev/kvm is here"
else
	run 1 "accel=kvm needs write access to /dev/kvm" "accel=kvm without it" hotregion numab0 --set accel=kvm
fi

run 2 "--set vm\.pghot_freq_threshold has no effect: none of the configs numab0 numab2 loads the module" \
	"a sysctl of pghot's without the module" hotregion numab0 numab2 --set vm.pghot_freq_threshold=3
run 2 "--set module\.layout has no effect: none of the configs numab0 loads the module" \
	"a parameter of the module without it" hotregion numab0 --set module.layout=precise

run 1 "the guest needs [0-9]+ MiB and this host has [0-9]+ MiB available: .*--set nodeN\.mem_mb" \
	"too little memory on the host" hotregion numab0 --set node0.mem_mb=1048576 --set node1.mem_mb=1048576

# --- what is not there ------------------------------------------------------------------

farm=$tmp/farm
path_farm "$farm"

# without PROGRAM COMMAND...: with PROGRAM not in PATH
without() {
	local rc=0
	mv "$farm/$1" "$tmp/away"
	PATH=$farm "${@:2}" || rc=$?
	mv "$tmp/away" "$farm/$1"
	return "$rc"
}

for pair in qemu-system-x86_64:qemu-system-x86 cpio:cpio jq:jq setpriv:util-linux; do
	program=${pair%:*}
	line="$program is not installed: apt-get install ${pair#*:}\$"
	refused 1 "^lab/run: $line" "lab/run: no $program" \
		without "$program" lab/run hotregion numab0 --out "$out"
	refused 1 "^lab/(boot|shell): $line" "lab/shell: no $program" without "$program" lab/shell
	refused 1 "^lab/(boot|tap): $line" "lab/tap: no $program" \
		without "$program" lab/tap "$tmp/ok.sh" --out "$out"
done

# half_built FILE...: a build folder with these only
half_built() {
	local file
	rm -rf "$tmp/build"
	mkdir "$tmp/build"
	for file; do
		mkdir -p "$tmp/build/$(dirname "$file")"
		ln -s "$PWD/build/$file" "$tmp/build/$file"
	done
}

export BUILD=$tmp/build
half_built lab/init bench/hotregion
run 1 ".*kmod/pghot\.ko is not built: run 'make kmod'" "the module is not built" hotregion numab0 hintfaults
half_built kmod/pghot.ko bench/hotregion
run 1 ".*lab/init is not built: run 'make lab'" "the guest's init is not built" hotregion hintfaults
shell 1 ".*lab/init is not built: run 'make lab'" "the guest's init is not built"
tap 1 ".*lab/init is not built: run 'make lab'" "the guest's init is not built"
half_built kmod/pghot.ko lab/init
run 1 ".*bench/hotregion is not built: run 'make'" "the workload is not built" hotregion hintfaults
mkdir "$tmp/build/kmod.old"
sed 's/vermagic=6\.12\.[0-9]*/vermagic=6.12.0/' build/kmod/pghot.ko >"$tmp/build/kmod.old/pghot.ko"
rm -r "$tmp/build/kmod"
mv "$tmp/build/kmod.old" "$tmp/build/kmod"
shell 1 ".*kmod/pghot\.ko is built for kernel 6\.12\.0.* and the lab boots 6\.12\..*: run 'make kmod KVER=6\.12" \
	"the module is another kernel's"
unset BUILD

# unwritable NAME OUT COMMAND...: an --out that is no place to write
unwritable() {
	refused 1 "^lab/(run|tap|boot): cannot write to .*$2" "$1: cannot write to $3" "${@:4}" --out "$2"
}
unwritable lab/run "$tmp/file/out" "a folder below a file" lab/run hotregion numab0
unwritable lab/run /proc "a folder that takes no files" lab/run hotregion numab0
unwritable lab/tap "$tmp/file/out" "a folder below a file" lab/tap "$tmp/ok.sh"
[[ -f $tmp/file && ! -s $tmp/file ]]
ok $? "the file is as it was"

# --- lab/shell, lab/tap, lab/table --------------------------------------------------------

shell 2 "unknown option '--nosuch': known are .*--machine --set" "unknown option" --nosuch
shell 2 "unknown option 'word'" "a word" word
shell 2 "unknown machine 'nosuch': known are $machines\$" "unknown machine" --machine nosuch
shell 2 "unknown machine key 'nosuch': known are .*nodeN" "unknown --set key" --set nosuch=1
shell 2 "bad --set 'hmat': it must be KEY=VALUE" "--set without a value" --set hmat
shell 2 "bad node0\.mem_mb '1': it must be" "--set node0.mem_mb=1" --set node0.mem_mb=1
shell 2 "cannot read the file '/nosuch' of --with" "--with a file that is not there" --with /nosuch
shell 1 "the guest needs [0-9]+ MiB and this host has" "too little memory on the host" \
	--set node0.mem_mb=1048576 --set node1.mem_mb=1048576
for option in --machine --set --with --append; do
	shell 2 "$option needs a value" "$option without a value" "$option"
done

refused 2 "^lab/tap: no script given" "lab/tap: no script" lab/tap --out "$out"
refused 2 "^lab/tap: cannot read the script '/nosuch'" "lab/tap: a script that is not there" lab/tap /nosuch --out "$out"
tap 2 "unknown option '--nosuch': known are --machine --set --with --timeout --append --out" "unknown option" --nosuch
tap 2 "unknown machine 'nosuch': known are $machines\$" "unknown machine" --machine nosuch
tap 2 "unknown machine key 'nosuch': known are .*nodeN" "unknown --set key" --set nosuch=1
tap 2 "bad node0\.mem_mb '1': it must be" "--set node0.mem_mb=1" --set node0.mem_mb=1
tap 2 "bad --timeout '0': it must be a number of seconds" "--timeout 0" --timeout 0
LAB_SLOW=0 tap 2 "bad LAB_SLOW '0': it must be a number from 1 to 99" "LAB_SLOW=0"
tap 2 "cannot read the file '/nosuch' of --with" "--with a file that is not there" --with /nosuch
tap 1 "the guest needs [0-9]+ MiB and this host has" "too little memory on the host" \
	--set node0.mem_mb=1048576 --set node1.mem_mb=1048576
for option in --machine --set --with --timeout --append --out; do
	tap 2 "$option needs a value" "$option without a value" "$option"
done
mkdir "$tmp/mine"
touch "$tmp/mine/precious"
lab/tap "$tmp/ok.sh" --out "$tmp/mine" --machine nosuch >/dev/null 2>&1
[[ -e $tmp/mine/precious ]]
ok $? "lab/tap: a wrong call leaves what is in --out"

echo '{"a": 1}' >"$tmp/other.json"
echo 'no json' >"$tmp/none.json"
refused 2 "^lab/table: no file given: name a results\.json" "lab/table: no file" lab/table
refused 2 "^lab/table: unknown option '--nosuch': known is --funnel" "lab/table: unknown option" lab/table --nosuch
refused 1 "^lab/table: cannot read /nosuch: run lab/run" "lab/table: a file that is not there" lab/table /nosuch
refused 1 "^lab/table: $tmp/none\.json is not a results\.json" "lab/table: a file that is no JSON" lab/table "$tmp/none.json"
refused 1 "^lab/table: $tmp/other\.json is not a results\.json" "lab/table: another JSON" lab/table --funnel "$tmp/other.json"
refused 1 "^lab/table: jq is not installed: apt-get install jq" "lab/table: no jq" without jq lab/table "$tmp/other.json"

# --- workloads ----------------------------------------------------------------------------

for program in hotregion filereader; do
	refused 2 "^$program: expected KEY=VALUE, not 'word'; known keys: scenario .*\(see --help\)" \
		"$program: a word" "build/bench/$program" word
	refused 2 "^$program: unknown key in 'nosuch=1'; known keys:" "$program: unknown key" "build/bench/$program" nosuch=1
	for pair in scenario=nosuch seed= seed=-1 seed=1x slow_node=99999; do
		refused 2 "^$program: bad value in '$pair'; known keys:" "$program: $pair" "build/bench/$program" "$pair"
	done
done
refused 2 "^filereader: bad value in 'read_bytes=0'" "filereader: read_bytes=0" build/bench/filereader read_bytes=0
refused 2 "^filereader: bad value in 'passes=1'" "filereader: too few passes for a median" build/bench/filereader passes=1

# --- scripts ------------------------------------------------------------------------------

# scripts/assets must not even make a cache where it is called wrongly
assets() {
	refused "$1" "^scripts/assets: $2" "scripts/assets: $3" env XDG_CACHE_HOME="$out" scripts/assets "${@:4}"
}
assets 2 "nothing asked for: say kernel, headers, busybox or kver" "no artefact"
assets 2 "unknown word 'nosuch': known are kernel, headers, busybox, kver" "unknown artefact" nosuch
assets 2 "unknown word '--nosuch': known are" "unknown option" kernel --nosuch
assets 2 "one artefact at a time: 'kernel' and 'headers'" "two artefacts" kernel headers
assets 2 "--kver needs a value" "--kver without a value" kernel --kver
refused 1 "^scripts/assets: neither XDG_CACHE_HOME nor HOME is set" "scripts/assets: no place for a cache" \
	env -u HOME -u XDG_CACHE_HOME scripts/assets kver
refused 1 "^scripts/assets: cannot write the cache $tmp/file/pghot: set XDG_CACHE_HOME" \
	"scripts/assets: a cache that cannot be written" env XDG_CACHE_HOME="$tmp/file" scripts/assets kernel

refused 2 "^setup: unknown part 'nosuch': known are build lab check debug" "scripts/setup: unknown part" scripts/setup lab nosuch
refused 2 "^setup: unknown part '--nosuch': known are" "scripts/setup: unknown option" scripts/setup --nosuch
refused 1 "^setup: this is not a Debian machine; install by hand: gcc .*cpio.*shellcheck" \
	"scripts/setup: no dpkg" without dpkg-query scripts/setup
# A machine of somebody who may not install, and that has none of the packages.
bare=$tmp/bare
cp -a "$farm" "$bare"
rm -f "$bare/sudo"
stand_in "$bare" id 'echo 1000'
stand_in "$bare" dpkg-query 'exit 1'
stand_in "$bare" apt-get "touch '$tmp/installed'"
rc=0
PATH=$bare scripts/setup lab >"$tmp/stdout" 2>"$tmp/stderr" || rc=$?
is "$rc" 1 "scripts/setup: packages missing, neither root nor sudo: exit status 1"
like "$(cat "$tmp/stderr")" "^setup: [^"$'\n'"]*neither root[^"$'\n'"]*apt-get install [^"$'\n'"]*cpio[^"$'\n'"]*\$" \
	"scripts/setup: and one line that says what to install"
rm -f "$bare/apt-get"
rc=0
PATH=$bare scripts/setup lab >"$tmp/stdout" 2>"$tmp/stderr" || rc=$?
is "$rc" 1 "scripts/setup: packages missing, no apt-get: exit status 1"
like "$(cat "$tmp/stderr")" "^setup: no apt-get; install by hand: [^"$'\n'"]*cpio[^"$'\n'"]*\$" \
	"scripts/setup: and one line that says what to install"
[[ ! -e $tmp/installed ]]
ok $? "scripts/setup: nothing was installed"

mkdir "$tmp/module"
refused 2 "^usage: kbuild DIR" "scripts/kbuild: no folder" scripts/kbuild
refused 2 "nosuch" "scripts/kbuild: a folder that is not there" scripts/kbuild "$tmp/nosuch"
for version in 6.1.0-37-amd64 5.10.0 6.13.1 6.120.1-amd64 nosuch; do
	line="^kbuild: kernel $version is not supported: pghot is for Linux 6\.12"
	refused 1 "$line" "scripts/kbuild: KVER=$version" scripts/kbuild "$tmp/module" "$version"
done
refused 1 "^kbuild: kernel 6\.1\.0 is not supported" "scripts/kbuild: --kver 6.1.0" scripts/kbuild --kver 6.1.0
if [[ -n $(apt-cache pkgnames linux-image-6.12. 2>/dev/null) ]]; then
	version=6.12.9999+deb12-amd64
	line="^scripts/assets: unknown kernel version '6\.12\.9999\+deb12-amd64': apt has 6\.12\."
	refused 2 "$line" "scripts/kbuild: a version that nobody made" scripts/kbuild "$tmp/module" "$version"
	refused 2 "$line" "scripts/assets: a version that nobody made" scripts/assets kernel --kver "$version"
	version=6.12.9999-pghot-debug-00000000
	refused 2 "^scripts/assets: unknown kernel version '$version': the debug kernel that can be built is 6\.12\." \
		"scripts/assets: a debug kernel of another configuration" scripts/assets kernel --kver "$version"
else
	skip 3 "apt knows no kernel here"
fi
none "$(ls -A "$tmp/module")" "scripts/kbuild: nothing was written"

finish
