# SPDX-License-Identifier: GPL-2.0-only
#
# The text that lab/table prints. $what: "table" or "funnel"; $dir: where results.json is.

include "runs";

# --- columns ----------------------------------------------------------------------------

def pad($width): . + " " * ([$width - length, 0] | max);

def rpad($width): " " * ([$width - length, 0] | max) + .;

# rows of cells as aligned lines; the first column to the left, numbers to the right
def align:
  . as $rows
  | [range($rows[0] | length) as $c | [$rows[][$c] | length] | max] as $width
  | $rows[] | . as $row
  | "  " + (.[0] | pad($width[0])) + ([range(1; length) as $c | "  " + ($row[$c] | rpad($width[$c]))] | join(""));

# --- the table ------------------------------------------------------------------------

def hot_fast:
  map(select(.hot_pages != null))
  | if length == 0 then "-"
    else (map(.hot_pages_fast) | summary) + " of " + (.[0].hot_pages | thousands)
      + " (\(map(100 * .hot_pages_fast / .hot_pages) | median | round) %)" end;

# percent of the pages that were promoted first which are the hottest ones; of more than a fifth it says
# little, for then many are so by chance
def first_tenth: .results | if (.first_tenth // 0) == 0 or .first_tenth * 5 > .first_tenth_of then null
  else 100 * .first_tenth_hottest / .first_tenth end;

# milliseconds of a pass over a file
def pass($which): .results["pass_us_" + $which] | if . == null then null else . / 1000 end;

# rows of a config's runs; $own: names of workloads' own results
def rows($own): [
  ["time (s)", (map(.seconds) | summary)],
  ["rate (operations/s)", (map(.results.rate) | summary)],
  ["rate of the last quarter (operations/s)", (map(.results.rate_last) | summary)],
  ["90 % of that reached after (ms)", (map(converged) | summary)],
  ($own[] as $name | [$name, (map(.results[$name]) | summary)]),
  ["a pass while the file was fast (ms)", (map(pass("fast")) | summary)],
  ["first pass once it was slow (ms)", (map(pass("first")) | summary)],
  ["last passes (ms)", (map(pass("last")) | summary)],
  ["memory accesses served fast (%)", (map(served_fast) | summary)],
  ["time of memory, modelled (s)", (map(if .roi then .roi.memory_ns / 1e9 else null end) | summary)],
  ["CPU in hint faults, scanning (ms)", (map(.results.system_ms) | summary)],
  ["CPU of kmigrated (ms)", (map(cpu("^kmigrated")) | summary)],
  ["CPU of sources (ms)", (map(cpu("^pghot_")) | summary)],
  ["CPU of kswapd (ms)", (map(cpu("^kswapd")) | summary)],
  ["CPU of kdamond (ms)", (map(cpu("^kdamond")) | summary)],
  ["promoted (pgpromote_success)", (map(.vmstat.pgpromote_success) | summary)],
  ["demoted (kswapd + direct)", (map(reclaim_demoted) | summary)],
  ["moved up by DAMON", (map(damon_moved("hot")) | summary)],
  ["moved down by DAMON", (map(damon_moved("cold")) | summary)],
  ["promotion candidates", (map(.vmstat.pgpromote_candidate) | summary)],
  ["candidates not rate limited",
    (map(.vmstat.pgpromote_candidate_nrl // .pghot.pghot_candidates_nrl) | summary)],
  ["hint faults", (map(.vmstat.numa_hint_faults) | summary)],
  ["hot pages on the fast node", hot_fast],
  ["hottest tenth among the first tenth promoted (%)", (map(first_tenth) | summary)],
  ["touching pages once a ms, median (us)", (map(.results.probe_p50_us) | summary)],
  ["99.9th percentile (us)", (map(.results.probe_p999_us) | summary)],
  ["longest (us)", (map(.results.probe_max_us) | summary)],
  ["bad pages", (map(.pages_bad) | summary)],
  ["bad kernel log lines", (map(.dmesg_bad) | summary)],
  ["status", (map(.status) | group_by(.) | if length == 1 then .[0][0]
    else map("\(length) \(.[0])") | join(", ") end)]];

def short($max): if length > $max then .[:$max] + " ..." else . end;

# what was run: of a command its words, a line break as a blank
def title: if .command then "\(.experiment): \(.command | join(" ") | gsub("\\s+"; " ") | short(80))"
  else "\(.experiment), \(.scenario)" end;

def scenario_table:
  (map(.config) | uniq) as $configs
  | . as $runs
  | ([$runs[] | own_results[]] | uniq) as $own
  | [$configs[] as $c | [$runs[] | select(.config == $c)] | rows($own)] as $columns
  | (map(.repeat) | max) as $repeats
  | "",
    "\(.[0] | title)\(if $repeats > 1 then ": median (min..max) of \($repeats) repeats" else "" end)",
    # what no config has a number for says nothing
    ([[""] + $configs] + [range($columns[0] | length) as $r
      | [$columns[0][$r][0]] + [$columns[][$r][1]] | select(.[1:] | all(. == "-") | not)] | align);

def failures:
  [.[] | select(.status != "ok")]
  | if length == 0 then empty else "",
    (.[] | "\(.status): \(.scenario), \(.config), repeat \(.repeat): \(.reason); see \($dir)/\(.console)") end;

def table:
  (.machine | machine_line),
  (.runs | groups(.scenario)[] | scenario_table),
  (.runs | failures);

# --- the funnel -----------------------------------------------------------------------

def stages: [
  ["reported", "^pghot_reported_"],
  ["filtered", "^pghot_filtered_"],
  ["recorded", "^pghot_recorded_"],
  ["selected", "^pghot_selected"],
  ["moved", "^pghot_moved"],
  ["refused", "^pghot_refused_"],
  ["source", "^(hwhint|chmu|pgtscan)_"],
  ["other", ""]];

def stage: . as $name | [stages[] | select(.[1] as $re | $name | test($re))][0][0];

# [stage, counter, value] of every counter that is not 0 in all repeats
def funnel_rows:
  . as $runs
  | [$runs[].pghot | keys_unsorted[]] | uniq
  | map({name: ., stage: stage, values: (. as $n | [$runs[].pghot[$n] | numbers])})
  | map(select(.values | any(. != 0))) as $counters
  | [stages[][0] as $stage | $counters | map(select(.stage == $stage)) | to_entries[]
     | [(if .key == 0 then $stage else "" end), .value.name, (.value.values | summary)]];

def align_funnel:
  . as $rows
  | (map(.[1] | length) | max) as $name | (map(.[2] | length) | max) as $value
  | .[] | "  " + (.[0] | pad(8)) + "  " + (.[1] | pad($name)) + "  " + (.[2] | rpad($value));

def funnel:
  [.runs[] | select(.pghot != {})]
  | if length == 0 then "no run with pghot in these results"
    else groups([.scenario, .config])[]
      | "", "what became of the reports: \(.[0] | title), \(.[0].config)",
        (funnel_rows | if length == 0 then "  all counters are 0" else align_funnel end) end;

if $what == "funnel" then funnel else table end
