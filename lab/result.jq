# SPDX-License-Identifier: GPL-2.0-only
#
# One run's entry for results.json, from the raw lines of its result.log:
#   jq -nR -f lab/result.jq --argjson run '{...}' --arg outcome pass --arg oops '' result.log
# $run: experiment, scenario, config, repeat, params, console; with a command: command, stdout,
# stderr. $outcome: lab/boot's.
# $oops: what the kernel said of its panic.

def number: tonumber? // null;

# why the run is not ok, or null
def reason:
  if $outcome == "panic" then "the guest's kernel panicked: \($oops)"
  elif .error != null then .error
  elif .verdict == null then {
      timeout: "the guest did not end in time",
      "qemu-error": "QEMU failed",
    }[$outcome] // "the guest ended without a verdict"
  elif .verdict == "timeout" then "the job did not end in time"
  elif .dmesg_bad != 0 then "the kernel log is not clean: \(.dmesg[0])"
  elif (.results.pages_bad // 0) != 0 then "pages lost their content"
  elif .verdict != "pass" then "the job failed"
  else null end;

# user_NAME and kernel_NAME as objects of their own
def split_sides:
  if . == null then null else to_entries
    | (map(select(.key | test("^(user|kernel)_") | not)) | from_entries) + ([("user", "kernel") as $side
        | {($side): (map(select(.key | startswith($side + "_")) | .key |= ltrimstr($side + "_")) | from_entries)}] | add)
  end;

def status:
  if reason == null then "ok"
  elif $outcome == "pass" or $outcome == "fail" then "failed"
  else $outcome end;

reduce (inputs | [splits(" +")]) as $w (
  {results: {}, vmstat: {}, pghot: {}, tiers: {}, roi: null, cpu_ms: {}, setup: {}, samples: [], dmesg: []};
  if $w[0] == "result" then .results[$w[1]] = ($w[2] | number)
  elif $w[0] == "vmstat" then .vmstat[$w[1]] = ($w[2] | number)
  elif $w[0] == "pghot" then .pghot[$w[1]] = (($w[2] | number) // ($w[2:] | join(" ")))
  elif $w[0] == "roi" then .roi[$w[1]] = ($w[2] | number)
  elif $w[0] == "cpu" then .cpu_ms[$w[1]] = ($w[2] | number)
  elif $w[0] == "setup" then .setup[$w[1]] = ($w[2] | number)
  elif $w[0] == "sample" then .samples += [$w[1:] | map(number)]
  elif $w[0] == "machine" and $w[1] == "tier" then .tiers[$w[2]] = $w[3]
  elif $w[0] == "dmesg" then .dmesg += [$w[1:] | join(" ")]
  elif $w[0] == "dmesg_bad" then .dmesg_bad = ($w[1] | number)
  elif $w[0] == "verdict" then .verdict = $w[1]
  elif $w[0] == "error" then .error //= ($w[1:] | join(" "))
  else . end)
| $run + {
    status: status,
    reason: reason,
    seconds: .results.seconds,
    accesses: .results.accesses,
    hot_pages: .results.hot_pages,
    hot_pages_fast: .results.hot_pages_fast,
    pages_bad: .results.pages_bad,
    dmesg_bad: .dmesg_bad,
    roi: (.roi | split_sides),
    cpu_ms: .cpu_ms,
    vmstat: .vmstat,
    pghot: .pghot,
    setup: .setup,
    results: .results,
    samples: .samples,
    dmesg: .dmesg,
    tiers: .tiers,
  }
