# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A lab machine as data: read from lab/machines/NAME.conf, changed by --set, checked,
# and turned into QEMU's arguments. Needs lib.sh.

declare -A MACHINE=()	# key -> value, see lab/machines/1fast1slow.conf
NODES=()		# node numbers, ascending

# shellcheck disable=SC2034 # for the scripts
MACHINE_DEFAULT=1fast1slow
PLUGIN=$BUILD/lab/plugin/pghot-lab.so
MEM_SPARE_MB=512	# what the host keeps, beside the guest's memory
MACHINE_KEYS='accel append cache_kb cache_ways chmu chmu_entries cpu delay_scale disk_mb hmat kernel_accesses plugin prof_ops prof_slots nodeN.bandwidth_mbps nodeN.cpus nodeN.dimm nodeN.latency_ns nodeN.mem_mb nodeN.tier dist.A.B'

# machine_key KEY: is KEY one that a machine can have?
machine_key() {
	[[ $1 =~ ^(accel|append|cache_kb|cache_ways|chmu|chmu_entries|cpu|delay_scale|disk_mb|hmat|kernel_accesses|plugin|prof_ops|prof_slots|node[0-9]+\.(cpus|dimm|mem_mb|tier|latency_ns|bandwidth_mbps)|dist\.[0-9]+\.[0-9]+)$ ]]
}

machine_put() {
	machine_key "$1" ||
		die_usage "unknown machine key '$1': known are $MACHINE_KEYS"
	MACHINE[$1]=$2
}

# machine_set KEY VALUE: override a key; nodes must exist in this machine.
machine_set() {
	local n
	if [[ $1 =~ ^node([0-9]+)\. || $1 =~ ^dist\.([0-9]+)\.([0-9]+)$ ]]; then
		for n in "${BASH_REMATCH[@]:1}"; do
			[[ -n ${MACHINE[node$n.mem_mb]:-} ]] ||
				die_usage "no node $n for '$1' in this machine: it has nodes ${NODES[*]}"
		done
	fi
	machine_put "$1" "$2"
}

# machine_load NAME: fill MACHINE and NODES.
machine_load() {
	local file=$LAB/machines/$1.conf key
	[[ $1 != */* && -r $file ]] ||
		die_usage "unknown machine '$1': known are $(names_in machines .conf)"
	MACHINE=([accel]=tcg [cpu]='' [append]='' [hmat]=on [disk_mb]=0
		[plugin]=off [cache_kb]=2048 [cache_ways]=8 [delay_scale]=5 [kernel_accesses]=on
		[prof_slots]=1024 [prof_ops]=300 [chmu]=exact [chmu_entries]=4096)
	conf_each "$file" machine_put
	mapfile -t NODES < <(for key in "${!MACHINE[@]}"; do
		[[ $key =~ ^node([0-9]+)\.mem_mb$ ]] && echo "${BASH_REMATCH[1]}"
	done | sort -n)
}

# one_of KEY WORD...: MACHINE[KEY] must be one of the words.
one_of() {
	local key=$1 word
	shift
	for word; do
		[[ ${MACHINE[$key]} != "$word" ]] || return 0
	done
	die_usage "bad $key '${MACHINE[$key]}': known are $*"
}

# number KEY MIN MAX [ALSO]: MACHINE[KEY] must be a number in [MIN, MAX]; ALSO: words for what else it
# could have been.
number() {
	local value=${MACHINE[$1]:-}
	[[ $value =~ ^[1-9][0-9]{0,6}$ && $value -ge $2 && $value -le $3 ]] ||
		die_usage "bad $1 '$value': it must be ${4:-}a number from $2 to $3"
}

check_node() {
	local n=$1
	number "node$n.mem_mb" 256 1048576
	one_of "node$n.tier" fast slow
	[[ ${MACHINE[node$n.cpus]:=} =~ ^([0-9]+(-[0-9]+)?)?$ ]] ||
		die_usage "bad node$n.cpus '${MACHINE[node$n.cpus]}': it must be a number, a range such as 0-1, or empty"
	: "${MACHINE[node$n.dimm]:=no}"
	one_of "node$n.dimm" yes no
	[[ ${MACHINE[node$n.dimm]} == no || -z ${MACHINE[node$n.cpus]} ]] ||
		die_usage "bad node$n.dimm 'yes': a node whose memory can go has no CPUs, and this one has ${MACHINE[node$n.cpus]}"
	[[ ${MACHINE[node$n.dimm]} == no || ${MACHINE[hmat]} == off ]] ||
		die_usage "bad node$n.dimm 'yes': QEMU's HMAT tells nothing of such a node; add --set hmat=off"
	[[ ${MACHINE[hmat]} == on ]] || return 0
	number "node$n.latency_ns" 1 65534
	number "node$n.bandwidth_mbps" 1 1048576
}

# power_of_two KEY MIN MAX [ALSO]
power_of_two() {
	number "$@"
	((${MACHINE[$1]} & (${MACHINE[$1]} - 1))) || return 0
	die_usage "bad $1 '${MACHINE[$1]}': it must be ${4:-}a power of two from $2 to $3"
}

check_plugin() {
	one_of plugin off count latency
	power_of_two cache_kb 1 1048576
	power_of_two cache_ways 1 16
	number delay_scale 1 1000
	one_of kernel_accesses on off
	[[ ${MACHINE[prof_slots]} == 0 ]] || power_of_two prof_slots 8 1024 "0, or "
	number prof_ops 1 10000
	[[ ${MACHINE[chmu]} =~ ^(off|exact)$ ]] || power_of_two chmu 64 1048576 "off, exact, or "
	number chmu_entries 8 16384
	[[ ${MACHINE[plugin]} == off || ${MACHINE[accel]} == tcg ]] ||
		die_usage "plugin=${MACHINE[plugin]} needs accel=tcg: with accel=${MACHINE[accel]} nobody sees the guest's accesses"
}

# machine_check: refuse a machine that QEMU or the kernel could not make sense of.
machine_check() {
	local n m i=0
	one_of accel tcg kvm
	one_of hmat on off
	[[ ${MACHINE[disk_mb]} == 0 ]] || number disk_mb 16 1048576 "0, or "
	check_plugin
	[[ ${MACHINE[accel]} != kvm || -w /dev/kvm ]] ||
		die "accel=kvm needs write access to /dev/kvm: join the kvm group or leave the default, tcg"
	for n in "${NODES[@]}"; do
		[[ $n -eq $((i++)) ]] || die_usage "node numbers must be 0, 1, 2, ...: this machine has ${NODES[*]}"
		check_node "$n"
		for m in "${NODES[@]}"; do
			[[ -z ${MACHINE[dist.$n.$m]:-} ]] || number "dist.$n.$m" 10 254
		done
	done
	[[ -n ${MACHINE[node0.cpus]} ]] || die_usage "node0.cpus is empty: the first node must have CPUs"
}

# node_distance A B
node_distance() {
	if [[ $1 == "$2" ]]; then
		echo 10
	else
		echo "${MACHINE[dist.$1.$2]:-${MACHINE[dist.$2.$1]:-20}}"
	fi
}

# node_initiator N: the nearest node with CPUs, itself if it has some.
node_initiator() {
	local n d best=0 best_d=255
	for n in "${NODES[@]}"; do
		[[ -n ${MACHINE[node$n.cpus]} ]] || continue
		d=$(node_distance "$n" "$1")
		if [[ $d -lt $best_d ]]; then
			best=$n
			best_d=$d
		fi
	done
	echo "$best"
}

# machine_nodes TIER: the nodes of a tier, as "0,1".
machine_nodes() {
	local n list=
	for n in "${NODES[@]}"; do
		[[ ${MACHINE[node$n.tier]} != "$1" ]] || list+=,$n
	done
	echo "${list#,}"
}

# machine_mem_mb [DIMM]: the memory of all nodes; with DIMM, yes or no, of those.
machine_mem_mb() {
	local n sum=0
	for n in "${NODES[@]}"; do
		[[ ${1:-${MACHINE[node$n.dimm]}} != "${MACHINE[node$n.dimm]}" ]] ||
			sum=$((sum + ${MACHINE[node$n.mem_mb]}))
	done
	echo "$sum"
}

# machine_need_plugin: refuse a machine whose plugin is not there.
machine_need_plugin() {
	[[ ${MACHINE[plugin]} == off || -e $PLUGIN ]] ||
		die "${PLUGIN#"$TOP/"} is not built: run 'make lab', or --set plugin=off"
}

# machine_need_mem: refuse a guest that would push this host into its own swap.
machine_need_mem() {
	local want have
	want=$(($(machine_mem_mb) + MEM_SPARE_MB))
	have=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
	[[ $have -ge $want ]] ||
		die "the guest needs $want MiB and this host has $have MiB available: make a node smaller with --set nodeN.mem_mb=..."
}

# smp_arg: a socket per node with CPUs, since no real cache spans two nodes.
smp_arg() {
	local n cpus=0 sockets=0 range
	for n in "${NODES[@]}"; do
		range=${MACHINE[node$n.cpus]}
		[[ -n $range ]] || continue
		sockets=$((sockets + 1))
		cpus=$((cpus + ${range#*-} - ${range%-*} + 1))
	done
	echo "$cpus,sockets=$sockets"
}

# hmat_args I T: latency and bandwidth from node I to node T. A node further away than
# its nearest initiator is slower in proportion to the distances.
hmat_args() {
	local near base far row=initiator=$1,target=$2,hierarchy=memory
	near=$(node_initiator "$2")
	base=$(node_distance "$near" "$2")
	far=$(node_distance "$1" "$2")
	QEMU_ARGS+=(
		-numa "hmat-lb,$row,data-type=access-latency,latency=$((${MACHINE[node$2.latency_ns]} * far / base))"
		-numa "hmat-lb,$row,data-type=access-bandwidth,bandwidth=$((${MACHINE[node$2.bandwidth_mbps]} * base / far))M"
	)
}

# machine_qemu_args: the machine as QEMU's arguments, in QEMU_ARGS.
machine_qemu_args() {
	local n m hmat=${MACHINE[hmat]} accel=tcg,thread=multi node dimms=() dimm_slots=
	# Without "fast" strings the kernel clears and copies by words: TCG does them one by one.
	local cpu=${MACHINE[cpu]:-max,-erms,-fsrm}
	if [[ ${MACHINE[accel]} == kvm ]]; then
		accel=kvm
		cpu=${MACHINE[cpu]:-host}
	fi
	[[ $(machine_mem_mb yes) == 0 ]] || dimm_slots=,slots=${#NODES[@]},maxmem=$(machine_mem_mb)M
	QEMU_ARGS=(-machine "q35,hmat=$hmat" -accel "$accel" -cpu "$cpu"
		-smp "$(smp_arg)" -m "$(machine_mem_mb no)M$dimm_slots")
	for n in "${NODES[@]}"; do
		node=node,nodeid=$n
		if [[ ${MACHINE[node$n.dimm]} == yes ]]; then
			dimms+=(-device "pc-dimm,memdev=ram$n,node=$n")
		else
			node+=,memdev=ram$n
		fi
		[[ -z ${MACHINE[node$n.cpus]} ]] || node+=,cpus=${MACHINE[node$n.cpus]}
		[[ $hmat == off ]] || node+=,initiator=$(node_initiator "$n")
		QEMU_ARGS+=(-object "memory-backend-ram,id=ram$n,size=${MACHINE[node$n.mem_mb]}M" -numa "$node")
	done
	for n in "${NODES[@]}"; do
		for m in "${NODES[@]}"; do
			[[ $n == "$m" ]] || QEMU_ARGS+=(-numa "dist,src=$n,dst=$m,val=$(node_distance "$n" "$m")")
			[[ $hmat == off || -z ${MACHINE[node$n.cpus]} ]] || hmat_args "$n" "$m"
		done
	done
	QEMU_ARGS+=("${dimms[@]}")
}

# node_latency N: ns; also of a machine that does not tell its kernel.
node_latency() {
	case ${MACHINE[node$1.latency_ns]:-}${MACHINE[node$1.tier]} in
	fast) echo 80 ;;
	slow) echo 250 ;;
	*) echo "${MACHINE[node$1.latency_ns]}" ;;
	esac
}

# node_bandwidth N: MB/s, likewise
node_bandwidth() {
	case ${MACHINE[node$1.bandwidth_mbps]:-}${MACHINE[node$1.tier]} in
	fast) echo 20480 ;;
	slow) echo 5120 ;;
	*) echo "${MACHINE[node$1.bandwidth_mbps]}" ;;
	esac
}

# machine_plugin_args FILE: the plugin and its device, appended to QEMU_ARGS; FILE is what they share.
machine_plugin_args() {
	local n file=${1//,/,,} plugin=${PLUGIN//,/,,}
	[[ ${MACHINE[plugin]} != off ]] || return 0
	truncate -s 0 "$1" && truncate -s 4M "$1"
	plugin+=,shm=$file,mode=${MACHINE[plugin]},scale=${MACHINE[delay_scale]},kernel=${MACHINE[kernel_accesses]}
	plugin+=,cache_kb=${MACHINE[cache_kb]},cache_ways=${MACHINE[cache_ways]}
	plugin+=,prof_slots=${MACHINE[prof_slots]},prof_ops=${MACHINE[prof_ops]}
	plugin+=,chmu=${MACHINE[chmu]},chmu_entries=${MACHINE[chmu_entries]}
	for n in "${NODES[@]}"; do
		plugin+=,node$n=${MACHINE[node$n.tier]}:$(node_latency "$n"):$(node_bandwidth "$n")
	done
	QEMU_ARGS+=(-plugin "$plugin"
		-object "memory-backend-file,id=labdev,size=4M,mem-path=$file,share=on"
		-device "ivshmem-plain,memdev=labdev")
}

# machine_disk_args FILE: the disk, appended to QEMU_ARGS; FILE is what is on it, and begins empty.
machine_disk_args() {
	[[ ${MACHINE[disk_mb]} != 0 ]] || return 0
	truncate -s 0 "$1" && truncate -s "${MACHINE[disk_mb]}M" "$1"
	QEMU_ARGS+=(-drive "file=${1//,/,,},format=raw,if=none,id=disk,cache=unsafe"
		-device "virtio-blk-pci,drive=disk")
}

# machine_json: the nodes as the JSON list that results.json has.
machine_json() {
	local n
	for n in "${NODES[@]}"; do
		jq -n --argjson node "$n" --arg cpus "${MACHINE[node$n.cpus]}" \
			--argjson mem_mb "${MACHINE[node$n.mem_mb]}" --arg tier "${MACHINE[node$n.tier]}" \
			--arg latency "${MACHINE[node$n.latency_ns]:-}" \
			--arg bandwidth "${MACHINE[node$n.bandwidth_mbps]:-}" \
			'{node: $node, cpus: $cpus, mem_mb: $mem_mb, tier: $tier,
			  latency_ns: ($latency | tonumber? // null),
			  bandwidth_mbps: ($bandwidth | tonumber? // null)}'
	done | jq -cs .
}

# machine_plugin_json: how the guest's accesses were seen, or null.
machine_plugin_json() {
	[[ ${MACHINE[plugin]} != off ]] || { echo null; return; }
	jq -nc --arg mode "${MACHINE[plugin]}" --argjson cache_kb "${MACHINE[cache_kb]}" \
		--argjson cache_ways "${MACHINE[cache_ways]}" --argjson delay_scale "${MACHINE[delay_scale]}" \
		--arg kernel_accesses "${MACHINE[kernel_accesses]}" \
		--argjson prof_slots "${MACHINE[prof_slots]}" --argjson prof_ops "${MACHINE[prof_ops]}" \
		--arg chmu "${MACHINE[chmu]}" --argjson chmu_entries "${MACHINE[chmu_entries]}" \
		'$ARGS.named'
}
