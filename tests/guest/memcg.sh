#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 200 --set node0.mem_mb=1024
#
# Promotion by memory cgroup: accounts that add up, opt-outs and budgets of a cgroup and of those above
# it, fair shares of a small rate limit, and no cgroup kept alive.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

TABLE=/proc/pghot/memcg CGROUPS=/sys/fs/cgroup N=300

# column NAME PATH: what the table says of a cgroup
column() {
	awk -v name="$1" -v path="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; n = NF; next }
		{ rest = $0; for (i = 1; i < n; i++) sub(/^[^ ]* /, "", rest) }
		rest == path { print $at }' $TABLE
}

# promoted PATH: so many pages of a cgroup that may have no line yet
promoted() {
	pages=$(column promoted_pages "$1")
	echo "${pages:-0}"
}

# listed PATH
listed() {
	[ -n "$(column id "$1")" ]
}

# total NAME: the sum of a column
total() {
	awk -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
		{ s += $at } END { print s + 0 }' $TABLE
}

set_to() {
	echo "$1" >$TABLE
}

# hold_in PATH NAME PAGES: a holder whose pages, and nothing of this shell's, are charged to a cgroup
hold_in() {
	inside=$CGROUPS$1/cgroup.procs
	holder() {
		exec sh -c "echo \$\$ >$inside && exec holder \"\$@\"" sh "$@"
	}
	hold "$2" 1 "$3" anon
	unset -f holder
}

# report_all WEIGHT NAME...: from now on all pages of holders, twice a second; $reporter
report_all() {
	weight=$1
	shift
	while :; do
		for name; do
			report "$name" bulk "$weight" 0
		done
		usleep 500000
	done &
	reporter=$!
}

promoted_sum_is_moved() {
	[ "$(total promoted_pages)" = "$(stat moved)" ]
}

adds_up() {
	wait_for 5 promoted_sum_is_moved
	ok $? "$1: all rows together promoted what moved" "$(total promoted_pages), $(stat moved)"
}

# wrong ERROR TEXT LINE: the line is refused with that error and a line in the log
wrong() {
	text=$(echo "$3" | tr '\n' ' ')
	if error=$( (echo "$3" >$TABLE) 2>&1); then
		ok 1 "'$text' is refused"
		return
	fi
	case $error in
	*"$1"*) ok 0 "'$text': $1" ;;
	*) ok 1 "'$text': $1" "$error" ;;
	esac
	dmesg | tail -n 4 | grep -q "pghot: memcg: .*$2"
	ok $? "'$text': the log says why" "$(dmesg | tail -n 1)"
}

mount -t cgroup2 none $CGROUPS
grep -qw memory $CGROUPS/cgroup.controllers || skip_all "this kernel has no memory controller"
echo +memory >$CGROUPS/cgroup.subtree_control
mkdir $CGROUPS/a $CGROUPS/b $CGROUPS/c "$CGROUPS/with a blank"
echo +memory >$CGROUPS/b/cgroup.subtree_control
mkdir $CGROUPS/b/one $CGROUPS/b/two $CGROUPS/c/plain
load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
knob promote_freq_window_ms 1000
knob kmigrated_sleep_ms 20
is "$(cut -d' ' -f2- $TABLE | tr '\n' ' ')" \
	"promoted_pages refused_pages cpu_us budget optout path 0 0 0 max 0 / " "at first there is the root"
knob enabled_sources 1

hold_in /a a $N
a=$held
hold_in /b/one one $((N * 2))
one=$held
report a bulk 3 8
report one bulk 3 8
wait_for 10 on_node one "$one" 0 $((N * 2))
wait_for 10 on_node a "$a" 0 $N
adds_up "two cgroups"
is "$(promoted /a) $(promoted /b/one) $(promoted /b)" "$N $((N * 2)) 0" \
	"each has its own"
least "$(column cpu_us /b/one)" 1 "moving took CPU time"
most "$(total cpu_us)" $(($(stat batch_us) * 11 / 10 + 1000)) "no more than passed"
release "$a"
release "$one"

set_to "optout 1 /a"
set_to "optout 1 /b"
is "$(column optout /a)$(column optout /b)$(column optout /b/one)" 110 "two cgroups opted out"
hold_in /a a $N
a=$held
hold_in /b/one one $N
one=$held
# Whose page frames these were before may be remembered, for two windows.
sleep 3
refused=$(column refused_pages /b/one)
report a bulk 3 8
report one bulk 3 8
wait_for 10 reaches pghot_refused_memcg_optout $((2 * N))
is "$(where a "$a" 1) $(where one "$one" 1)" "$N $N" "opt-outs hold, of the cgroup and of one above"
least $(($(column refused_pages /b/one) - refused)) $N "they are counted where they are charged"
set_to "optout 0 /a"
set_to "optout 0 /b"
sleep 3
report a bulk 3 8
report one bulk 3 8
wait_for 10 on_node a "$a" 0 $N
wait_for 10 on_node one "$one" 0 $N
is "$(where a "$a" 0) $(where one "$one" 0)" "$N $N" "taken back, they go"
release "$a"
release "$one"

set_to "budget 50 /a"
set_to "budget 40 /b"
is "$(column budget /a) $(column budget /b) $(column budget /)" "50 40 max" "budgets are shown"
hold_in /a a 1000
a=$held
hold_in /b/one one 1000
one=$held
hold_in /b/two two 1000
two=$held
sleep 3
alone=$(promoted /a)
first=$(promoted /b/one) second=$(promoted /b/two)
both=$((first + second))
report_all 3 a one two
sleep 5
alone=$(($(promoted /a) - alone))
both=$(($(promoted /b/one) + $(promoted /b/two) - both))
# A second's worth was saved up.
between $alone 150 400 "50 pages/s for 5 s and some"
between $both 120 320 "40 pages/s for both cgroups below one together"
least "$(stat refused_memcg_budget)" 1000 "others are refused"
most "$(stat refused_memcg_budget)" 120000 "but not all the time"
least $(($(promoted /b/one) - first)) 1 "one of them gets some"
least $(($(promoted /b/two) - second)) 1 "and so does the other"
set_to "budget max /a"
set_to "budget 0 /b"
wait_for 10 on_node a "$a" 0 1000
is "$(where a "$a" 0)" 1000 "without the budget all go"
both=$(($(promoted /b/one) + $(promoted /b/two)))
sleep 1
is $(($(promoted /b/one) + $(promoted /b/two))) $both "with budget 0 none"
release $reporter
release "$a"
release "$one"
release "$two"

set_to "budget 7 /with a blank"
is "$(column budget "/with a blank")" 7 "a path with blanks"
wrong "nvalid argument" 'want "budget' 'budget 5'
wrong "nvalid argument" 'want "budget' 'limit 5 /a'
wrong "nvalid argument" 'want "budget' ''
wrong "nvalid argument" "want pages a second" 'budget -1 /a'
wrong "nvalid argument" "want pages a second" 'budget 1099511627777 /a'
wrong "nvalid argument" "want pages a second" 'budget  /a'
wrong "nvalid argument" "want 0 or 1" 'optout 2 /a'
wrong "o such file" "no cgroup" 'optout 1 /nosuch'
wrong "o such file" "no cgroup" 'optout 1 a'
wrong "nvalid argument" "no memory controller" 'optout 1 /c/plain'
wrong "nvalid argument" "one at a time" "optout 1 /a
optout 1 /b"
is "$(column budget /a)$(column optout /a)$(column optout /b)" max00 "nothing changed"

# What is gone has no line, its counts are its parent's, and nothing keeps it.
theirs=$(($(promoted /b) + $(promoted /b/one) + $(promoted /b/two)))
rm -r /tmp/one /tmp/two
rmdir $CGROUPS/b/one $CGROUPS/b/two "$CGROUPS/with a blank"
! listed /b/one && ! listed /b/two && ! listed "/with a blank"
ok $? "cgroups that are gone disappear" "$(cat $TABLE)"
is "$(promoted /b)" $theirs "what they had is their parent's"
adds_up "with some gone"
none_dying() {
	echo 3 >/proc/sys/vm/drop_caches
	grep -q '^nr_dying_descendants 0$' "$CGROUPS"/cgroup.stat
}
wait_for 10 none_dying
ok $? "none is kept alive" "$(tr '\n' ' ' <"$CGROUPS"/cgroup.stat)"

# A small rate limit, on a fast node that is not ample. One has fifteen times as many hot pages as the
# other, and hotter ones.
hold ballast 0 $(($(free_pages 0) - 20480)) anon
ballast=$held
knob promote_freq_window_ms 3000
knob promote_rate_limit_MBps 1
mkdir $CGROUPS/greedy $CGROUPS/meek
hold_in /greedy greedy 30000
greedy=$held
hold_in /meek meek 2000
meek=$held
report_all 5 greedy
strong=$reporter
report_all 2 meek
weak=$reporter
wants() {
	[ "$(promoted /meek)" -ge 1 ]
}
wait_for 10 wants
sleep 1
g=$(promoted /greedy) m=$(promoted /meek)
sleep 6
g=$(($(promoted /greedy) - g)) m=$(($(promoted /meek) - m))
note "in 6 s at 256 pages/s: $g greedy, $m meek"
between $((m * 100 / (g + m))) 40 60 "percent of the small limit for who has few and cooler pages"
between $((g + m)) 1200 $((1700 + 200 * ${LAB_SLOW:-1})) "both together use the limit"
least "$(stat refused_memcg_share)" 1 "refused_memcg_share says why others wait"
release $weak
release "$meek"
sleep 3
g=$(promoted /greedy)
sleep 4
between $(($(promoted /greedy) - g)) 820 1300 "alone, the other has it all"
kill $strong
knob promote_rate_limit_MBps 0
adds_up "in the end"
laws

set_to "budget 9 /a"
knob enabled_sources 0
off
ok $? "off is off"
is "$(column budget /a)" 9 "settings stay while the module does"
release "$greedy"
release "$ballast"

# The table has an end.
mkdir $CGROUPS/many
echo +memory >$CGROUPS/many/cgroup.subtree_control
cd $CGROUPS/many || exit 1
seq 1030 | xargs mkdir
n=1
while [ $n -le 1030 ] && set_to "budget 1 /many/$n" 2>/dev/null; do
	n=$((n + 1))
done
between $n 1000 1025 "more than a thousand cgroups have a line, not all"
wrong "o space" "no room for /many/$n, 1024 cgroups" "optout 1 /many/$n"
seq 1030 | xargs rmdir
mkdir later
sleep 1
set_to "optout 1 /many/later"
ok $? "those that are gone make room"
cd /
rmdir $CGROUPS/many/later $CGROUPS/many
rmmod pghot_tester
rmmod pghot
! test -e /proc/pghot
ok $? "the module goes with settings made"
rmdir $CGROUPS/a
ok $? "and cgroups after it"
finish
