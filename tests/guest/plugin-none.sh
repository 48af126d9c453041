#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 60
#
# Marks in a machine without the instrument: no error, no effect.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

roi run sh -c 'exit 3'
is $? 3 "roi run just runs the command"
is "$(roi report; roi reset)" "" "roi report has nothing to say"
calibrate count 0 1
is $? 4 "calibrate says that there is nothing to calibrate"
finish
