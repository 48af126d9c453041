#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cache of kernel, headers and busybox: what is damaged in it is noticed, said in one line,
# fetched again and good afterwards; without a way to fetch it, it is not handed out. All in copies
# of the cache. Fetches for real what apt can download here.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

real=${XDG_CACHE_HOME:-$HOME/.cache}/pghot
[[ -n $(type -P apt-get) && -n $(type -P apt-cache) && -n $(type -P dpkg) ]] || skip_all "there is no apt here"
if ! kver=$(scripts/assets kver 2>/dev/null) || ! scripts/assets kernel >/dev/null 2>&1 ||
	! scripts/assets headers >/dev/null 2>&1 || ! scripts/assets busybox >/dev/null 2>&1; then
	skip_all "there is no cache, and nothing to make it from"
fi

BUSYBOX=busybox/bin/busybox
[[ -e $real/$BUSYBOX ]] || BUSYBOX=busybox/usr/bin/busybox
VMLINUZ=$kver/kernel/boot/vmlinuz-$kver
SYMVERS=$kver/headers/usr/src/linux-headers-$kver/Module.symvers

# What is handed out, relative to the cache.
declare -A PATH_OF=([busybox]=$BUSYBOX [kernel]=$kver/kernel
	[headers]=$kver/headers/usr/src/linux-headers-$kver)

# copy_cache NAME PART...: a cache in $tmp/NAME with these parts of the real one. Hard links where
# they are possible, so whoever damages a file has to give it another inode.
copy_cache() {
	local part to
	for part in "${@:2}"; do
		to=$tmp/$1/pghot/$(dirname "$part")
		mkdir -p "$to"
		cp -al "$real/$part" "$to/" 2>/dev/null || {
			rm -rf "${to:?}/${part##*/}"
			cp -a --reflink=auto "$real/$part" "$to/"
		}
	done
}

# damage FILE: one byte in its middle, with size and time as they were
damage() {
	local middle=$(($(stat -c %s "$1") / 2)) byte=X
	cp -p "$1" "$1.new"
	[[ $(dd if="$1" bs=1 skip="$middle" count=1 2>/dev/null | tr -d '\0') != X ]] || byte=Y
	printf %s "$byte" | dd of="$1.new" bs=1 seek="$middle" conv=notrunc 2>/dev/null
	touch -r "$1" "$1.new"
	mv "$1.new" "$1"
}

# assets CACHE ARTEFACT: what it prints, says and returns, in $got, $said and $rc
assets() {
	rc=0
	got=$(XDG_CACHE_HOME=$tmp/$1 timeout 200 scripts/assets "$2" 2>"$tmp/said" </dev/null) || rc=$?
	said=$(<"$tmp/said")
}

# lines TEXT
lines() {
	grep -c . <<<"$1"
}

# --- a good cache needs nothing ---------------------------------------------------------

# A PATH that a test can take programs from; apt-cache answers the same question only once, to save time.
farm=$tmp/farm
mkdir "$tmp/answers"
path_farm "$farm"
stand_in "$farm" apt-cache "
answer=$tmp/answers/\$(echo \"\$*\" | cksum | tr -d ' ')
[ -e \"\$answer\" ] || { $(type -P apt-cache) \"\$@\" >\"\$answer.\$\$\" && mv \"\$answer.\$\$\" \"\$answer\"; } || exit
cat \"\$answer\""
broken=$tmp/broken
cp -a "$farm" "$broken"
stand_in "$broken" apt-get 'echo "E: no way" >&2; exit 100'
full=$tmp/full
cp -a "$farm" "$full"
stand_in "$full" df 'echo "Filesystem 1024-blocks Used Available Capacity Mounted on"
	echo "/dev/x 9999999 9997951 2048 99% /"'
bare=$tmp/bare
cp -a "$farm" "$bare"
rm "$bare/apt-get" "$bare/apt-cache"
copy_cache good busybox "$kver"
for what in kver kernel headers busybox; do
	PATH=$bare assets good "$what"
	want=$kver
	[[ $what == kver ]] || want=$tmp/good/pghot/${PATH_OF[$what]}
	is "$rc:$got:$said" "0:$want:" "$what: a good cache answers without apt, and silently"
done

# --- damage is noticed, and without apt nothing bad is handed out -----------------------

# refused ARTEFACT CACHE COMPLAINT NAME: apt-get fails
refused() {
	local why=
	PATH=$broken assets "$2" "$1"
	[[ $rc -eq 1 ]] || why+="exit status $rc, want 1"$'\n'
	[[ -z $got ]] || why+="it hands out $got"$'\n'
	[[ $(grep -cE "^scripts/assets: cached $1.* is corrupt \($3.*\), fetching it again\$" <<<"$said") -eq 1 ]] ||
		why+="no line that says what is damaged"$'\n'
	[[ $(tail -n 1 <<<"$said") =~ ^scripts/assets:\ .*apt-get\ update ]] || why+="the last line does not say why it ends"$'\n'
	[[ $(grep -vc '^scripts/assets: ' <<<"$said") -eq 0 ]] || why+="others speak, too"$'\n'
	[[ -z $why ]] || why+=$said
	none "$why" "$4"
}

copy_cache offline busybox "$kver"
offline=$tmp/offline/pghot
damage "$offline/$VMLINUZ"
damage "$offline/$BUSYBOX"
damage "$offline/$SYMVERS"
refused kernel offline "boot/vmlinuz-${kver//+/\\+}: checksum differs" "kernel: damaged, cannot be fetched: refused"
refused busybox offline "[a-z/]*bin/busybox: checksum differs" "busybox: damaged, cannot be fetched: refused"
refused headers offline ".*/Module\.symvers: checksum differs" "headers: damaged, cannot be fetched: refused"
refused busybox offline "[a-z/]*bin/busybox: checksum differs" "busybox: refused again the next time"
rm "$offline/$BUSYBOX"
refused busybox offline "[a-z/]*bin/busybox: " "busybox: gone, cannot be fetched: refused"
copy_cache unlisted busybox
rm "$tmp/unlisted/pghot/busybox/.manifest"
refused busybox unlisted "no list of checksums" "busybox: list of checksums gone, cannot be fetched: refused"
copy_cache emptied busybox
rm "$tmp/emptied/pghot/busybox/.manifest"
touch "$tmp/emptied/pghot/busybox/.manifest"
refused busybox emptied "no list of checksums" "busybox: list of checksums empty, cannot be fetched: refused"
none "$(find "$tmp"/{offline,unlisted,emptied}/pghot -maxdepth 1 -name 'fetch.*')" "no half a download stays behind"

# --- an empty cache and a machine that cannot fill it ------------------------------------

for what in busybox kernel headers kver; do
	PATH=$bare assets empty "$what"
	like "$rc:$got:$said" "^1::scripts/assets: apt-get and dpkg are not here: [^"$'\n'"]*Debian[^"$'\n'"]*\$" \
		"$what: empty cache, no apt-get: one line"
done
if [[ -n $(apt-cache show busybox-static 2>/dev/null) ]]; then
	PATH=$full assets nospace busybox
	like "$rc:$got:$said" "^1::scripts/assets: $tmp/nospace/pghot has 2 MiB free and needs [0-9]+ MiB: free some space or set XDG_CACHE_HOME\$" \
		"busybox: empty cache, full disk: one line"
else
	skip 1 "apt's lists do not know busybox-static"
fi

# --- and fetched again ------------------------------------------------------------------

# can_download PACKAGE: without the script's help
can_download() {
	(cd "$tmp" && timeout 60 apt-get download -q -o Acquire::http::Timeout=10 -o Acquire::Retries=1 "$1") >/dev/null 2>&1
}

# mended ARTEFACT CACHE FILE COMPLAINT NAME: what the calls of fetch_all left says that all is good
mended() {
	local why='' mine=$tmp/$2/pghot
	said=$(cat "$tmp/$2.said")
	[[ $(<"$tmp/$2.rc") == 0 ]] || why+="exit status $(<"$tmp/$2.rc")"$'\n'
	[[ $(<"$tmp/$2.got") == "$mine/${PATH_OF[$1]}" ]] || why+="it prints $(<"$tmp/$2.got")"$'\n'
	[[ $(grep -cE "^scripts/assets: cached $1.* is corrupt \($4.*\), fetching it again\$" <<<"$said") -eq 1 ]] ||
		why+="no one line that says what is damaged"$'\n'
	[[ $(lines "$said") -eq 2 ]] || why+="not two lines, one on the damage and one on fetching"$'\n'
	[[ -z $why ]] || why+=$said
	none "$why" "$1: $5: said, and fetched again"
	cmp -s "$mine/$3" "$real/$3"
	ok $? "$1: $5: the file is good again"
	assets "$2" "$1"
	is "$rc:$said" "0:" "$1: $5: and nothing is wrong the next time"
}

# start CACHE ARTEFACT: in the background
start() {
	{
		XDG_CACHE_HOME=$tmp/$1 timeout 200 scripts/assets "$2" >"$tmp/$1.got" 2>"$tmp/$1.said" </dev/null
		echo $? >"$tmp/$1.rc"
	} &
}

export KVER=$kver
PATH_BEFORE=$PATH
if can_download busybox-static; then
	PATH=$farm
	copy_cache unlisted2 busybox
	rm "$tmp/unlisted2/pghot/busybox/.manifest"
	copy_cache mend-busybox busybox
	damage "$tmp/mend-busybox/pghot/$BUSYBOX"
	copy_cache mend-kernel "$kver/kernel"
	damage "$tmp/mend-kernel/pghot/$VMLINUZ"
	copy_cache mend-headers "$kver/headers"
	damage "$tmp/mend-headers/pghot/$SYMVERS"
	kernels=
	if [[ -n $(apt-cache show "linux-image-$kver" 2>/dev/null) ]]; then
		kernels=1
		start mend-headers headers
		start mend-kernel kernel
	fi
	start unlisted2 busybox
	start mend-busybox busybox
	# Another one of the same cache at the same time waits and finds it good.
	sleep 0.2
	XDG_CACHE_HOME=$tmp/mend-busybox scripts/assets busybox >"$tmp/second.got" 2>"$tmp/second.said"
	is "$?:$(<"$tmp/second.got"):$(<"$tmp/second.said")" "0:$tmp/mend-busybox/pghot/$BUSYBOX:" \
		"busybox: a second call meanwhile waits for the first"
	wait
	mended busybox unlisted2 "$BUSYBOX" "no list of checksums" "list of checksums gone"
	mended busybox mend-busybox "$BUSYBOX" "[a-z/]*bin/busybox: checksum differs" damaged
	if [[ $kernels ]]; then
		mended kernel mend-kernel "$VMLINUZ" "boot/vmlinuz-.*: checksum differs" damaged
		mended headers mend-headers "$SYMVERS" ".*/Module\.symvers: checksum differs" damaged
	else
		skip 6 "apt has no linux-image-$kver any more"
	fi
else
	skip 13 "apt-get cannot download here"
fi
none "$(find "$tmp" -path '*/pghot/fetch.*' -prune -print)" "no half a download stays behind after all"
PATH=$PATH_BEFORE
said=$(for what in kernel headers busybox; do scripts/assets "$what" 2>&1 >/dev/null || echo "exit status $?"; done)
none "$said" "the real cache is as it was"

finish
