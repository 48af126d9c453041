#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# llm: experts are asked by Zipf's law, sizes are what the working set has room for, and what it computes
# does not depend on how the weights are mapped.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash
# shellcheck source=tests/bench/lib.bash
. tests/bench/lib.bash
need llm

# In memory, where there is such a folder.
folder=/dev/shm
[[ -d $folder && -w $folder ]] || folder=$tmp

# model ARGUMENT...: a short run of a small model
model() {
	small llm dim=64 prompt=64 ops=50 dir="$folder" "$@"
}

# zipf HOT ALL EXPONENT: percent of the draws that are of the first HOT of ALL ranks
zipf() {
	awk -v hot="$1" -v all="$2" -v s="$3" 'BEGIN {
		for (i = 1; i <= all; i++) {
			sum += i ^ -s
			if (i <= hot) part += i ^ -s
		}
		print 100 * part / sum }'
}

# --- what is asked ------------------------------------------------------------------------------

for skew in 0 60 120; do
	model skew=$skew active_experts=1 ops=1500 prompt=0
	is "$(value asked)" 6000 "skew=$skew: each token asks an expert of each layer"
	near "$(awk -v a="$(value asked_hot)" -v b="$(value asked)" 'BEGIN { print 100 * a / b }')" \
		"$(zipf "$(value hot_experts)" "$(value experts)" "$(awk -v s=$skew 'BEGIN { print s / 100 }')")" 3 \
		"skew=$skew: hot ones as often as Zipf's law says"
done

# --- sizes ------------------------------------------------------------------------------------------

model
# 4 layers of keys and values of 114 tokens, of 64 bytes each.
is "$(value cache_pages)" $((4 * 114 * 128 / 4096 + 1)) "the cache has room for the prompt and all tokens"
near "$(($(value weight_pages) + $(value cache_pages)))" 8192 $((4 * 4)) "the model is as large as the working set"
# Of 10 % of 16384 pages, but for less than an expert of each layer.
near "$(value hot_pages)" 1638 $((4 * 4)) "what is hot is as large as the hot set"
model experts=3 active_experts=2 layers=0
near "$(($(value weight_pages) + $(value cache_pages)))" 8192 $((3 * 4 + 4 + 4)) "layers=0: so it is with layers"
model experts=5 active_experts=5 layers=7 dim=128 hidden=192
is "$(value hot_pages)" "$(($(value weight_pages) + $(value cache_pages)))" "where all experts are asked, all is hot"
is "$(value weight_pages)" $(((5 * 2 * 128 * 192 + 4 * 128 * 128) * 7 / 4096)) "a shape that is given is kept"
is "$(value asked) $(value ops)" "$((50 * 7 * 5)) 50" "an operation is a token"

# --- what is computed ---------------------------------------------------------------------------------

model
text=$(value text)
mkdir "$tmp/weights"
for other in map=private map=writable hot_set=20 "dir=$tmp/weights"; do
	model "$other"
	is "$(value text)" "$text" "${other%%"$tmp"*}: the text is the same"
done
is "$(ls -A "$tmp/weights")" "" "nothing is left in the folder of the weights"
for other in seed=2 prompt=63 active_experts=3 skew=119 hidden=64; do
	model $other
	[[ $(value text) != "$text" ]]
	ok $? "$other: the text is another one"
done
# More tokens than are added up at a time.
model prompt=3000 dim=192 ops=20
is "$(value pages_bad)" 0 "a longer prompt, several heads"

# --- where it starts --------------------------------------------------------------------------------------

# policies START: of the memory of a program that has begun to work; the kernel's names, without the nodes
policies() {
	local pid found
	"build/bench/llm" "${SMALL[@]}" ops=20000 dim=64 dir="$folder" start="$1" >"$tmp/stdout" 2>&1 &
	pid=$!
	for ((i = 0; i < 100; i++)); do
		! grep -q '^sample' "$tmp/stdout" || break
		sleep 0.05
	done
	found=$(cut -d ' ' -f 2 "/proc/$pid/numa_maps" | sed 's/:.*//' | sort -u)
	kill "$pid"
	wait "$pid"
	echo "$found"
}

if [[ -r /proc/self/numa_maps ]]; then
	for start in spill slow ideal; do
		is "$(policies $start 2>/dev/null)" default "start=$start leaves no memory policy behind"
	done
else
	skip 3 "the kernel has no numa_maps"
fi

# --- what is refused ------------------------------------------------------------------------------------

refuses 2 llm map=public "bad value in 'map=public'" "an unknown way to map is refused"
refuses 1 llm dim=100 "dim=100: it must be a multiple of 64" "so is half a head"
refuses 1 llm layers=0 "layers=0 experts=0: one of them must be given" "and a model of no shape"
refuses 1 llm prompt=1000000 "32 MiB have room for 4 layers of 0 experts" "and one that there is no room for"
refuses 1 llm ops=5000000000 "ops=5000000000: at most 4294967295" "and more tokens than a cache can be for"
refuses 1 llm "dir=$tmp/none" "dir=$tmp/none: cannot create a file there" "and a folder that is not there"

finish
