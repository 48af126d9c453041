#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What holds for all files of the repository: each source names its licence, the text of which is
# there; none is overlong; none knows where somebody has it checked out; none ends a line in blanks.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

MAX_LINES=600
# file: why it may be longer
LONG='
tests/engine/interleave.c: it includes the whole engine, so it must be one program in one file
'

git rev-parse --git-dir >/dev/null 2>&1 || skip_all "this is no git checkout"

# New files count, ignored and deleted ones do not.
mapfile -t files < <(git ls-files --cached --others --exclude-standard | sort -u |
	while IFS= read -r file; do
		[[ ! -f $file || -L $file ]] || echo "$file"
	done)
mapfile -t texts < <(printf '%s\0' "${files[@]}" | xargs -0 grep -lI '')

# sources: the texts that are source code
sources() {
	local file
	for file in "${texts[@]}"; do
		case ${file##*/} in
		*.[chS] | *.sh | *.bash | *.awk | *.jq | *.py | *.pl | *.mk | *.conf | Makefile | Kbuild) echo "$file" ;;
		*.md | *.json) ;;
		*) [[ $(head -c 2 "$file") != '#!' ]] || echo "$file" ;;
		esac
	done
}
mapfile -t sources < <(sources)
[[ " ${sources[*]} " == *" lab/run "* && " ${sources[*]} " == *" kmod/Kbuild "* && " ${sources[*]} " == *" engine/engine.c "* ]]
ok $? "there are ${#sources[@]} sources, and what must be among them is"

none "$(for file in "${sources[@]}"; do
	[[ $(head -n 3 "$file") =~ SPDX-License-Identifier:\ [A-Za-z\(] ]] || echo "$file"
done)" "every source has an SPDX line in its first 3 lines"

# licences: "file name" for every licence and exception that an SPDX line names
licences() {
	grep -m1 -H -oE 'SPDX-License-Identifier: [-A-Za-z0-9.+() ]+' "${sources[@]}" |
		sed -E 's/:SPDX-License-Identifier://; s/[()]/ /g' |
		awk '{ for (i = 2; i <= NF; i++) if ($i !~ /^(AND|OR|WITH|-+)$/) print $1, $i }'
}
named=$(licences)
none "$(sort -k2 <<<"$named" | while read -r file name; do
	[[ -s LICENSES/$name.txt ]] || echo "$file: there is no LICENSES/$name.txt"
done)" "every licence that is named has its text in LICENSES"
none "$(for file in LICENSES/*; do
	name=${file##*/}
	grep -q " ${name%.txt}\$" <<<"$named" || echo "$file"
done)" "every text in LICENSES is some source's licence"

none "$(wc -l "${texts[@]}" | awk -v max=$MAX_LINES -v long="$LONG" '
	$2 != "total" && $2 !~ /^LICENSES\// && $1 > max && index(long, "\n" $2 ": ") == 0 { print $2 ": " $1 " lines" }')" \
	"no file has more than $MAX_LINES lines, but for those with a reason"
none "$(while IFS=: read -r file why; do
	[[ -z $file ]] || { [[ -n $why && -f $file && $(wc -l <"$file") -gt $MAX_LINES ]] || echo "$file"; }
done <<<"$LONG")" "and those with a reason need it"

none "$(grep -nE '(^|[^[:alnum:]_./}-])/(home|root|work)/' "${texts[@]}")" "no path of somebody's machine"
none "$(printf '%s\n' "${texts[@]}" | grep -v '^LICENSES/' | tr '\n' '\0' | xargs -0 grep -nE '[[:blank:]]+$')" \
	"no trailing blanks"
none "$(printf '%s\n' "${texts[@]}" | while IFS= read -r file; do
	[[ ! -s $file || -z $(tail -c 1 "$file") ]] || echo "$file"
done)" "every file ends in a newline"

finish
