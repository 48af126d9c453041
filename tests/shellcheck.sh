#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every shell script of the repository passes shellcheck; a test point a file.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

command -v shellcheck >/dev/null || skip_all "there is no shellcheck: apt-get install shellcheck"
git rev-parse --git-dir >/dev/null 2>&1 || skip_all "this is no git checkout"

SHELL_RE='^#!/[^[:cntrl:]]*[/ ](ba|da|)sh[[:space:]]|# shellcheck shell='

# scripts: what says of itself, in its first lines, that it is a shell script; new files, too
scripts() {
	git ls-files --cached --others --exclude-standard | sort -u | while IFS= read -r file; do
		[[ -f $file ]] || continue
		case $file in
		*.sh | *.bash) echo "$file" ;;
		*.[ch] | *.md | *.json | LICENSES/*) ;;
		*)
			top=$(head -n 3 "$file" | tr -d '\0')
			[[ $top =~ $SHELL_RE ]] && echo "$file" ;;
		esac
	done
}

mapfile -t files < <(scripts)
# One process a file, for each reads what it sources again: all CPUs at once.
mkdir "$tmp/out"
# shellcheck disable=SC2016 # for the shell that xargs starts
printf '%s\0' "${files[@]}" | tmp=$tmp xargs -0 -P "$(nproc)" -I {} sh -c '
	name=$(echo "$1" | tr / :)
	shellcheck -f gcc "$1" >"$tmp/out/$name" 2>&1 || echo "exit status $?" >>"$tmp/out/$name"' sh {}
for file in "${files[@]}"; do
	said=$(cat "$tmp/out/${file//\//:}" 2>&1)
	none "$said" "$file"
done
# Or is it that none was found?
[[ " ${files[*]} " == *" lab/run "* && " ${files[*]} " == *" tests/shellcheck.sh "* ]]
ok $? "lab/run and this one are among the ${#files[@]} scripts"

finish
