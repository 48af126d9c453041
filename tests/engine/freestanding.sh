#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The engine needs nothing: no library, no floating point, little stack, no file but its own. The logic
# of hotness hardware needs the engine's port.h and the shared headers, no more. TAP on stdout. CC, NM and OBJDUMP may name other tools.

root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cc=${CC:-gcc}
nm=${NM:-nm}
objdump=${OBJDUMP:-objdump}
max_frame=1024
points=0
failed=0

flags="-std=c11 -ffreestanding -nostdlib -O2 -Wall -Wextra -Werror
	-Wframe-larger-than=$max_frame -Wvla"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# ok STATUS NAME: one test point; what is in $work/why explains a failure
ok() {
	points=$((points + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $points - $2"
	else
		failed=$((failed + 1))
		echo "not ok $points - $2"
		sed 's/^/#   /' "$work/why"
	fi
	: >"$work/why"
}

# none NAME: passes if nobody wrote anything into $work/why
none() {
	test ! -s "$work/why"
	ok $? "$1"
}

# compile DIR FLAG...: all of the part into DIR
compile() {
	into=$work/$1
	shift
	mkdir -p "$into"
	for file in "$root/$part"/*.c; do
		# shellcheck disable=SC2086 # a list of flags
		"$cc" $flags "$@" -I"$root" -I"$root"/include -c -o "$into/$(basename "$file" .c).o" "$file" || return 1
	done
}

# Inline functions of the engine that only hosts call
write_inlines() {
	cat <<-'END'

	static u64 inlines(struct engine *e, const struct pghot_report *r)
	{
		return pghot_report_valid(r, 1) + hotmap_section_bytes(e->map.layout) +
		       hotmap_dir_bytes(1) + (hotmap_find(&e->map, r->pfn) != NULL);
	}

	static u64 (*volatile keep)(struct engine *, const struct pghot_report *) = inlines;
	END
}

# The program around the part: all that GCC asks of every environment, and every function.
write_start() {
	for file in "$root/$part"/*.h; do
		echo "#include \"$part/${file##*/}\""
	done
	cat <<-'END'

	void *memcpy(void *to, const void *from, __SIZE_TYPE__ n);
	void *memset(void *to, int byte, __SIZE_TYPE__ n);
	void _start(void);

	void *memcpy(void *to, const void *from, __SIZE_TYPE__ n)
	{
		for (__SIZE_TYPE__ i = 0; i < n; i++)
			((volatile u8 *)to)[i] = ((const u8 *)from)[i];
		return to;
	}

	void *memset(void *to, int byte, __SIZE_TYPE__ n)
	{
		for (__SIZE_TYPE__ i = 0; i < n; i++)
			((volatile u8 *)to)[i] = (u8)byte;
		return to;
	}
	END
	[ "$part" != engine ] || write_inlines
	"$nm" -g --defined-only "$work"/plain/*.o | awk '$2 == "T" { print $3 }' |
		sort -u >"$work/public"
	# Through the headers' declarations: one that is missing there does not compile.
	awk '{ n = n "\t(void *)" $1 ",\n" }
	     END { printf "\nstatic void *volatile all[] = {\n%s};\n", n }' "$work/public"
	cat <<-'END'

	void _start(void)
	{
		for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			if (!all[i])
				__builtin_trap();
	}
	END
}

link_alone() {
	write_start >"$work/start.c"
	# shellcheck disable=SC2086 # a list of flags
	"$cc" $flags -I"$root" -I"$root"/include -c -o "$work/start.o" "$work/start.c" &&
		"$cc" -nostdlib -static -Wl,--no-undefined -o "$work/alone" "$work/start.o" \
			"$work"/plain/*.o
}

# Lines of an #include that leaves the folder, but for port.h's kernel branch and what $lends says
foreign_includes() {
	awk -v root="$root/$part/" -v own="$part/" -v lends="$lends" '
	FNR == 1 { kernel = 0 }
	/^#[ \t]*ifdef[ \t]+__KERNEL__/ { kernel = 1 }
	/^#[ \t]*else/ { kernel = 0 }
	/^[ \t]*#[ \t]*include/ {
		name = $0
		if (name ~ /</) {
			if (!(kernel && FILENAME ~ /\/port\.h$/ && name ~ /<linux\//))
				print FILENAME ":" FNR ": " $0
			next
		}
		sub(/^[^"]*"/, "", name)
		sub(/".*/, "", name)
		if (lends != "" && name ~ "^(" lends ")$")
			next
		if (index(name, own) == 1)
			name = substr(name, length(own) + 1)
		if (name == "" || name ~ /\// || (getline line < (root name)) < 0)
			print FILENAME ":" FNR ": " $0
		close(root name)
	}' "$root/$part"/*.[ch]
}

# Lines of code, comments left out, that use what freestanding code has not
foreign_tokens() {
	for file in "$root/$part"/*.[ch]; do
		"$cc" -fpreprocessed -dD -E -P -x c "$file" 2>/dev/null |
			grep -nE '\<(malloc|calloc|realloc|v?s?n?printf|printk|float|double)\>|\<time *\(' |
			sed "s|^|${file##*/}: |"
	done
}

# All that is asked of a part of the tree: $part, and $lends, a pattern of headers it may use beside its own
check_part() {
	rm -rf "$work/plain" "$work/general"
	compile plain -fstack-usage 2>"$work/why"
	ok $? "$part: every file compiles as strict, freestanding C"

	link_alone >>"$work/why" 2>&1
	ok $? "$part: it links with nothing but memcpy and memset ($(wc -l <"$work/public") public functions)"

	"$nm" -u "$work/alone" >"$work/why" 2>&1
	none "$part: the result has no undefined symbol"

	compile general -mgeneral-regs-only 2>"$work/why"
	ok $? "$part: it compiles for general registers only"

	"$objdump" -d --no-show-raw-insn "$work"/general/*.o >"$work/code" 2>&1
	grep -q '>:$' "$work/code" || echo "no disassembly" >"$work/why"
	grep -E '%[xyz]?mm[0-9]|%st\>|%k[0-7]\>' "$work/code" >>"$work/why"
	none "$part: no instruction uses floating point or vector registers"

	cat "$work"/plain/*.su >"$work/frames" 2>/dev/null
	[ -s "$work/frames" ] || echo "no stack usage known" >"$work/why"
	awk -F '\t' -v max=$max_frame '$2 > max || $3 ~ /dynamic/' "$work/frames" >>"$work/why"
	# Each line: file:line:column:function, bytes, kind
	largest=$(sort -t '	' -k2,2nr "$work/frames" | awk -F '\t' 'NR == 1 {
		n = split($1, at, ":"); print at[n] " has " $2 " bytes" }')
	none "$part: no frame is over $max_frame bytes: the largest, $largest"

	foreign_includes >"$work/why" 2>&1
	none "$part: no file includes anything from outside"

	foreign_tokens >"$work/why"
	none "$part: no allocation, output, clock or floating point by name"
}

: >"$work/why"

part=engine lends=
check_part
part=hw lends="engine/port[.]h|pghot/[a-z]+[.]h"
check_part

echo "1..$points"
[ "$failed" -eq 0 ]
