#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 200 --set plugin=count --with build/tests/faults/pghot.ko
#
# Enabling the source of hotness units fails whole at each thing on the way that can fail.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

echo 0 >/proc/sys/kernel/numa_balancing
each_fault 8 chmu
finish
