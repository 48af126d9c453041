# SPDX-License-Identifier: GPL-2.0-only
#
# The Markdown that lab/report prints of a results.json of lab/bench, or, with $what "goals", a line for each goal.
# $notes: what people wrote, in sections "## NAME" for a workload (gups:over2, or gups), goals or introduction.

include "runs";
include "goals";

# --- text -----------------------------------------------------------------------------

def or_dash(f): if . == null then "-" else f end;

def ratio_cell: or_dash(if isinfinite then "never" else ratio_text end);

def count_cell: or_dash(round | thousands);

def speed_cell: or_dash(if . < 10 then . * 10000 | round / 10000 | tostring else pretty end);

def seconds_cell: or_dash(if isinfinite then "never" else . / 1000 * 100 | round / 100 | tostring end);

def bars: "| " + join(" | ") + " |";

# a list of rows, the first of them the heads, as a table: words to the left, numbers to the right
def markdown_table($words):
  (.[0] | bars), (.[0] | to_entries | map(if .key < $words then "---" else "--:" end) | bars), (.[1:][] | bars);

def sections: [$notes | ltrimstr("\n") | "\n" + . | split("\n## ")[1:][]
  | {name: (split("\n")[0]), text: (split("\n")[1:] | join("\n") | gsub("^\\s+|\\s+$"; ""))}];

# what people wrote under one of the names, each as a paragraph of its own
def note(names): [names] as $names | sections[] | select(.name as $n | $names | index([$n])) | "", .text;

# --- a workload -------------------------------------------------------------------------

def config_rows($w):
  ($w | of_config("numab0").speed) as $numab0 | ($w | of_config("ideal")) as $ideal
  | $w.configs[] | [
    .config,
    (.speed | speed_cell),
    (.spread | or_dash(. * 10 | round / 10 | tostring)),
    (over(.speed; $numab0) | ratio_cell),
    (over(.speed; $ideal.speed) | ratio_cell),
    (over(.last; $ideal.last) | ratio_cell),
    (.converged_ms | seconds_cell),
    (.fast_percent | or_dash(. * 10 | round / 10 | tostring)),
    (.promoted | count_cell), (.demoted | count_cell), (.hint_faults | count_cell), (.threads_ms | count_cell),
    "\(.ok)\(if .failed > 0 then ", \(.failed) failed" else "" end)"];

def own_rows($w):
  [$w.configs[].own | keys_unsorted[]] | uniq | .[] as $name
  | [$name] + [$w.configs[].own[$name] | or_dash(pretty)];

def nodes_text: [.nodes[] | "node \(.node) \(.tier), \(.mem_mb) MiB"] | join("; ");

def workload_text:
  . as $w
  | "", "## \(.experiment), \(.scenario)", "",
    "\(.machine | nodes_text)\(if .traits == [] then "" else "; \(.traits | join(", "))" end).", "",
    ([["config", "speed (1/s)", "spread (%)", "of numab0", "of ideal", "steady, of ideal", "steady after (s)", "fast (%)",
       "promoted", "demoted", "hint faults", "threads (ms)", "runs"], config_rows($w)] | markdown_table(1)),
    ([own_rows($w)] | if length == 0 then empty else "", ([[""] + [$w.configs[].config]] + . | markdown_table(1)) end),
    (.configs[] | .failures[] | "", "\(.status), \($w.name), \(.config), repeat \(.repeat): \(.reason)"),
    note($w.name, $w.experiment);

# --- goals ----------------------------------------------------------------------------

def goal_text:
  "", "### \(.title)", "",
  "\(.means) Of \(.rows | length): \(.rows | verdicts).", "",
  ([.columns, (.rows[] | [.workload] + .cells + [if .verdict == "missed" then "**missed**" else .verdict end])] | markdown_table(1));

def goals_text($goals):
  "", "## Goals", "",
  "All figures are ratios of medians, and count as they are printed, with two decimals. *Best* is the config of those with the",
  "module that is fastest on the workload; beside it what config `pghot` has, which is what an operator gets who asks for nothing.",
  ($goals[] | goal_text),
  note("goals");

# --- all of it --------------------------------------------------------------------------

def head($goals):
  "<!-- SPDX-License-Identifier: GPL-2.0-only -->",
  "# Benchmarks", "",
  "Written by `lab/report` from the results of", "",
  "    \(.plan | if .name == "full" then "make bench-lab" elif .name == "quick" then "make bench-lab QUICK=1" else "lab/bench \(.name)" end)", "",
  "on this machine, whose nodes have other sizes for some workloads:", "",
  (.machine | machine_line | "- \(.)"), "",
  "Runs of each config, which take turns with the others': \(.plan.repeats)"
    + (.plan | if .repeats_max > .repeats then ", and \(.repeats_max) where the spread was over \(.spread_percent) %." else "." end),
  "Figures are medians over the runs that ended well. *speed*: operations per second; *spread*: (max - min) / median of it; *steady*:",
  "speed in the last quarter of the operations, and when 90 % of that was first reached; *fast*: memory accesses that the fast",
  "node served; *threads*: CPU time of kmigrated, pghot's sources, kswapd and kdamond. Pages are of 4 KiB. What `damon` promoted and",
  "demoted is what its schemes and kswapd did.",
  "", "Goals: \([$goals[].rows[]] | verdicts); see [the end](#goals).",
  note("introduction");

def unknown_notes($workloads):
  (["introduction", "goals"] + [$workloads[] | .name, .experiment]) as $known
  | [sections[].name | select(. as $n | $known | index([$n]) | not)];

[workloads] as $workloads | ($workloads | goals) as $goals
| unknown_notes($workloads) as $unknown
| if $unknown != [] then error("notes of what is not there: \($unknown | join(", "))")
  elif $what == "goals" then $goals[] | "\(.title): \(.rows | verdicts)"
  else head($goals), ($workloads[] | workload_text), goals_text($goals) end
