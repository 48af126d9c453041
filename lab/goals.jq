# SPDX-License-Identifier: GPL-2.0-only
#
# What lab/report knows of a results.json of lab/bench: figures of each workload and config, and the goals
# that they are held against. Include with jq -L lab.

include "runs";

# --- figures --------------------------------------------------------------------------

# the median of what f gives for each run, or null
def median_of(f): map(f | select(. != null)) | if length == 0 then null else median end;

def over($a; $b): if $a == null or ($b // 0) == 0 then null else $a / $b end;

# runs of one config on one workload
def config_figures:
  (map(select(.status == "ok"))) as $ok
  | {config: .[0].config, ok: ($ok | length), failed: (length - ($ok | length)),
     failures: map(select(.status != "ok") | {status, config, repeat, reason}),
     module: any(.pghot != {})}
    + ($ok | {
      speed: median_of(speed),
      spread: (map(speed | select(. != null)) | if length < 2 then null else spread_percent end),
      last: median_of(.results.rate_last),
      converged_ms: median_of(converged),
      fast_percent: median_of(served_fast),
      promoted: median_of(promoted),
      demoted: median_of(demoted),
      hint_faults: median_of(.vmstat.numa_hint_faults),
      threads_ms: median_of(cpu("^(kmigrated|pghot_|kswapd|kdamond)") // 0),
      own: (. as $runs | [$runs[] | own_results[]] | uniq
        | map(. as $name | {key: ., value: ($runs | median_of(.results[$name]))}) | from_entries)});

# the workloads of a results.json, in its order
def workloads:
  .plan.traits as $traits
  | .runs | groups([.experiment, .scenario])[]
  | {experiment: .[0].experiment, scenario: .[0].scenario, machine: .[0].machine, configs: [groups(.config)[] | config_figures]}
  | .name = "\(.experiment):\(.scenario)"
  | .traits = ($traits[.name] // []);

def of_config($name): [.configs[] | select(.config == $name)][0];

# the fastest config with the module, or null
def best: [.configs[] | select(.module and .speed != null)] | max_by(.speed);

# --- goals ----------------------------------------------------------------------------

# to two decimals: figures are judged as they are printed
def hundredths: . * 100 | round;

def ratio_text: hundredths | "\(. / 100 | floor).\(. % 100 | if . < 10 then "0\(.)" else "\(.)" end)";

# a ratio that must be known, and be at least that
def at_least($wanted): if . == null then "no figure" elif hundredths >= ($wanted | hundredths) then "met" else "missed" end;

def both($other): if . == "no figure" or $other == "no figure" then "no figure" elif . == "met" then $other else . end;

def cell: if . == null then "-" else ratio_text end;

# how many were what
def verdicts: map(.verdict) as $all
  | [("met", "missed", "no figure") as $v | [$all[] | select(. == $v)] | length | select(. > 0)
     | "\(.) \(if $v == "no figure" then "without a figure" else $v end)"]
  | if . == [] then "nothing to judge" else join(", ") end;

# of the workloads with this trait (or all, without), a row from f
def rows_of($trait; f): [.[] | select($trait == null or (.traits | index([$trait]))) | . as $w | f | .workload = $w.name];

# pghot against what the kernel has (of DAMON, if it was run), as many times as fast as $wanted
def against_kernel($wanted):
  . as $w | best as $best | of_config("pghot") as $pghot
  | [of_config("numab2").speed, (of_config("damon") | select(.) | .speed)] as $rivals
  | (if any($rivals[]; . == null) then null else $rivals | max end) as $rival
  | {cells: [$best.config // "-",
       (over($best.speed; $w | of_config("numab2").speed) | cell), (over($best.speed; $w | of_config("damon").speed) | cell),
       (over($pghot.speed; $rival) | cell), (over($w | of_config("ideal").speed; $rival) | cell)],
     verdict: (over($best.speed; $rival) | at_least($wanted))};

# pghot against a config, by f of the figures
def against($name; $wanted; f):
  (of_config($name) | f) as $rival | best as $best
  | {cells: [$best.config // "-", (over($best | f; $rival) | cell), (over(of_config("pghot") | f; $rival) | cell)],
     verdict: (over($best | f; $rival) | at_least($wanted))};

# hwhints against numab2: 1.3 times the speed with a third of the promotions
def sampled:
  of_config("hwhints") as $hwhints | of_config("numab2") as $numab2
  | over($hwhints.speed; $numab2.speed) as $faster
  | {cells: [($faster | cell), ($hwhints.promoted, $numab2.promoted | if . == null then "-" else round | thousands end)],
     verdict: ($faster | at_least(1.3) | both(
       if $hwhints.promoted == null or $numab2.promoted == null then "no figure"
       elif 3 * $hwhints.promoted <= $numab2.promoted then "met" else "missed" end))};

# from the list of workloads: those goals that are about any of them
def goals: [
  {title: "As fast as the kernel's own",
   means: "On every workload the best config is at least as fast as `numab2` and `damon`.",
   columns: ["workload", "best", "of numab2", "of damon", "`pghot` of the faster", "`ideal` of the faster", ""],
   rows: rows_of(null; against_kernel(1))},
  {title: "Faster where memory is skewed",
   means: "On skewed workloads it is at least 1.20 times as fast as the faster of the two.",
   columns: ["workload", "best", "of numab2", "of damon", "`pghot` of the faster", "`ideal` of the faster", ""],
   rows: rows_of("skewed"; against_kernel(1.2))},
  {title: "No harm where there is nothing to gain",
   means: "Where nothing is worth a move it has at least 0.97 of the speed of `numab0`.",
   columns: ["workload", "best", "of numab0", "`pghot` of numab0", ""],
   rows: rows_of("even"; against("numab0"; 0.97; .speed))},
  {title: "Close to ideal once the hot pages are found",
   means: "Where what is hot stays hot it has at least 0.85 of the speed of `ideal` in the last quarter.",
   columns: ["workload", "best", "of ideal", "`pghot` of ideal", ""],
   rows: rows_of("stable"; against("ideal"; 0.85; .last))},
  {title: "Samples choose better than hint faults",
   means: "Config `hwhints` is at least 1.30 times as fast as `numab2`, with at most a third of its promotions.",
   columns: ["workload", "of numab2", "promoted by hwhints", "by numab2", ""],
   rows: rows_of("sampled"; sampled)}] | map(select(.rows != []));
