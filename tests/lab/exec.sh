#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# lab/run exec: a program of this machine in the guest. Its arguments arrive as they were given, its
# output and its end are kept, it can write and that stays in the guest, and with memory=slow its memory
# starts on the slow node and is promoted. Programs are those that every Debian machine has.
# shellcheck disable=SC2016 # jq's variables, and scripts for the guest's shell
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

[[ -e build/kmod/pghot.ko && -x build/lab/init && -x build/bench/hostrun ]] ||
	skip_all "the module, the lab or hostrun is not built: run make"
command -v qemu-system-x86_64 >/dev/null || skip_all "there is no qemu-system-x86_64"
small=(--set node0.mem_mb=512 --set node1.mem_mb=512)
here=$PWD

# lab NAME ARGUMENT... -- COMMAND...: lab/run exec with its results in $tmp/NAME; exit status in $rc
lab() {
	local name=$1 options=()
	shift
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	rc=0
	(cd "$tmp/here" && "$here/lab/run" exec "${options[@]}" --out "$tmp/$name" "${small[@]}" "$@") \
		>"$tmp/$name.stdout" 2>"$tmp/$name.stderr" </dev/null || rc=$?
}

# holds NAME CONDITION TEXT: jq's CONDITION on the results of NAME
holds() {
	local file=$tmp/$1/results.json status=0
	jq -e "$2" "$file" >/dev/null 2>"$tmp/jq" || status=$?
	ok $status "$3" "$(cat "$tmp/jq"; jq -c '.runs[] | del(.vmstat, .pghot)' "$file" 2>&1)"
}

# said NAME STREAM LINE TEXT: the first run's stdout or stderr has the line
said() {
	local file
	file=$tmp/$1/$(jq -r ".runs[0].$2" "$tmp/$1/results.json" 2>/dev/null)
	grep -qxF -- "$3" "$file" 2>/dev/null
	ok $? "$4" "$2 ends: $(tail -n 5 "$file" 2>&1)"
}

mkdir "$tmp/here"
echo original >"$tmp/here/file"
echo 'echo "relative $*"' >"$tmp/here/script"
chmod +x "$tmp/here/script"

# --- a command that does everything but fail ------------------------------------------------

# Without the chroot, as a program that wants to could: the layers below it are the guest's.
escape='chroot /proc/1/root /bin/busybox sh -c "
	/bin/busybox mount -o remount,rw /layers/host
	echo changed >/layers/host$PWD/file" 2>&1 | sed -n "s/.*: /escape: /p" | tail -n 1'
lab good numab0 --set plugin=off -- sh -c '
	for word; do echo "<$word>"; done
	echo "cwd=$(pwd) home=$HOME user=$(id -un) input=$(wc -c </dev/stdin)"
	echo "path=$PATH"
	echo "to stderr" >&2
	echo "to /dev/stdout" >/dev/stdout
	./script a b
	echo changed >file; echo "file=$(cat file)"; rm script; touch new /usr/bin/new && echo written
	perl -MIO::Socket::INET -e "print \"listens\n\" if IO::Socket::INET->new(Listen => 1, LocalAddr => q(127.0.0.1:6379))"
	ls /proc/self/fd | wc -w
	'"$escape"'
	head -c 300000 /dev/zero | tr "\0" x; echo' name 'two  words' "it's \"quoted\" \$HOME *" '' $'tab\tand\nline'
is "$rc" 0 "good: exit status 0"
holds good '.runs[0] | .status == "ok" and .reason == null and .results.exit_status == 0' "good: an ok run with exit status 0"
holds good '.runs[0] | .seconds > 0.1 and .roi == null and (.vmstat | has("pgpromote_success"))' \
	"good: it has its time and vmstat, and without the instrument no region of interest"
holds good '.runs[0].command | length == 8 and .[0] == "sh" and .[5] == "it'\''s \"quoted\" $HOME *" and .[6] == ""' \
	"good: the results name the command"
said good stdout '<two  words>' "good: blanks within an argument survive"
said good stdout "<it's \"quoted\" \$HOME *>" "good: so do quotes and what a shell would expand"
said good stdout '<>' "good: and an empty argument"
said good stdout $'<tab\tand' "good: and tabs and line breaks"
said good stdout "cwd=$(cd "$tmp/here" && pwd -P) home=/root user=root input=0" "good: it runs where it was called, as root, without input"
said good stdout 'path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' "good: PATH is the usual"
said good stderr 'to stderr' "good: stderr is kept by itself"
said good stdout 'to /dev/stdout' "good: /dev/stdout can be opened"
said good stdout 'relative a b' "good: a program of the working folder runs"
said good stdout 'file=changed' "good: a file can be changed"
said good stdout 'written' "good: files can be made"
said good stdout 'listens' "good: there is a loopback interface"
is "$(cat "$tmp/here/file") $(ls "$tmp/here")" $'original file\nscript' "good: here nothing changed"
[[ ! -e /usr/bin/new ]]
ok $? "good: nor elsewhere"
said good stdout 'escape: Read-only file system' "good: not even below the layers can it write to this machine"
is "$(tail -n 1 "$tmp/good/runs/command.numab0.1/stdout" | wc -c)" 300001 "good: long output is kept whole"
grep -q "^exec: sh -c for word" "$tmp/good.stdout" && grep -qE '^  time \(s\) +[0-9.]+$' "$tmp/good.stdout"
ok $? "good: the table has the command and its time" "$(cat "$tmp/good.stdout")"

# --- commands that fail -----------------------------------------------------------------------

# Each in a guest of its own, but all in one call.
cat >"$tmp/here/fails" <<'END'
#!/bin/sh
echo "last words"
case $(cat /proc/sys/kernel/numa_balancing) in
0) exit 3 ;;
*) kill -SEGV $$ ;;
esac
END
chmod +x "$tmp/here/fails"
lab fails numab0 numab2 --set plugin=off -- ./fails
is "$rc" 1 "fails: exit status 1"
holds fails '.runs[0] | .status == "failed" and .results.exit_status == 3 and
	.reason == "the command ended with exit status 3"' "fails: an exit status is the reason"
holds fails '.runs[1] | .status == "failed" and .results.signal == 11 and
	.reason == "the command was killed by signal 11 (Segmentation fault)"' "fails: so is a signal"
said fails stdout "last words" "fails: the output is kept"

# --- memory on the slow node ------------------------------------------------------------------

# 48 MiB, each page of it again and again.
lab slow hintfaults --set memory=slow -- perl -e '
	my $m = "x" x (48 << 20); my $end = time + 8;
	while (time < $end) { for (my $at = 0; $at < length $m; $at += 4096) { vec($m, $at, 8) = 1 } }'
is "$rc" 0 "slow: exit status 0"
holds slow '.runs[0] | .params.memory == "slow" and .roi.slow > 0 and .roi.fast > 0 and .roi.user.loads > 0' \
	"slow: the command is the region of interest, and reached the slow node"
holds slow '.runs[0] | .vmstat.pgpromote_success > 1000 and .pghot.pghot_moved == .vmstat.pgpromote_success' \
	"slow: its memory is promoted, by pghot"

finish
