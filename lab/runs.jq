# SPDX-License-Identifier: GPL-2.0-only
#
# What lab/table and lab/report say of the runs of a results.json: numbers as text, and what is
# known of a run. Include with jq -L lab.

# --- numbers --------------------------------------------------------------------------

def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;

def thousands: tostring | until(test("^-?[0-9]{4}") | not; sub("(?<a>^-?[0-9]+)(?<b>[0-9]{3})"; "\(.a),\(.b)"));

# to two decimals where there are any and it is not large; what is infinite never came
def pretty: if isinfinite then "never" elif . == floor or . >= 1000 then round | thousands else (. * 100 | round / 100 | tostring) end;

# a list of numbers as its median and range; nulls (failed runs) do not count
def summary:
  map(select(. != null))
  | if length == 0 then "-"
    elif length == 1 or min == max then .[0] | pretty
    else "\(median | pretty) (\(min | pretty)..\(max | pretty))" end;

# of a list of numbers, (max - min) / median in percent
def spread_percent: if length < 2 then 0 else 100 * (max - min) / median end;

def uniq: reduce .[] as $v ([]; if index([$v]) then . else . + [$v] end);

# a list of lists, one for each value of f, in order of appearance
def groups(f): reduce .[] as $r ([]; if map(.[0] | f) | index([$r | f]) then map(if .[0] | f == ($r | f) then . + [$r] else . end) else . + [[$r]] end);

# --- a run ----------------------------------------------------------------------------

# operations per second over the whole region; of a workload that tells none, how often it could be run per second
def speed: .results.rate // (if (.seconds // 0) > 0 then 1 / .seconds else null end);

# pages that DAMON's schemes moved: "hot" ones up, "cold" ones down; the kernel counts those nowhere else
def damon_moved($which): .setup["damon_\($which)_sz_applied"] | if . == null then null else . / 4096 end;

# pages demoted by reclaim
def reclaim_demoted: if .vmstat == {} then null else (.vmstat.pgdemote_kswapd // 0) + (.vmstat.pgdemote_direct // 0) end;

# pages promoted and demoted by whoever did
def promoted: if .vmstat == {} then null else (.vmstat.pgpromote_success // 0) + (damon_moved("hot") // 0) end;
def demoted: if .vmstat == {} then null else reclaim_demoted + (damon_moved("cold") // 0) end;

# milliseconds until the rate first reached 90 % of that of the last quarter
def converged: .results.converged_ms | if . == null then null elif . < 0 then infinite else . end;

# percent of the region of interest's accesses that reached memory and found it fast
def served_fast: if .roi == null or .roi.fast + .roi.slow == 0 then null
  else 100 * .roi.fast / (.roi.fast + .roi.slow) end;

# CPU milliseconds of the kernel threads whose names match
def cpu($re): .cpu_ms // {} | to_entries | map(select(.key | test($re)) | .value) | add;

# results of single workloads that are worth a row: percentiles, TEPS, times of searches
def own_results: .results | keys_unsorted | map(select(test("_p[0-9]+_(ns|us|ms)$|^(teps|bfs)_") and (startswith("probe_") | not)));

# --- the machine ----------------------------------------------------------------------

def machine_line:
  "machine \(.name): " + (.nodes | map("node \(.node) \(.tier), \(.mem_mb) MiB\(if .cpus == "" then "" else ", CPUs \(.cpus)" end)") | join("; ")),
  "kernel \(.kernel), QEMU \(.qemu) (\(.accel)) on \(.host.cpus) x \(.host.cpu)",
  (.instrument | if . == null then empty
   elif .mode == "count" then "accesses are counted behind a cache of \(.cache_kb) KiB a CPU"
   else "misses of a cache of \(.cache_kb) KiB a CPU take \(.delay_scale) times the nodes' latencies\(if .kernel_accesses == "off" then ", the kernel's excepted" else "" end)" end);
