#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tally.sh - one line that sums TAP files: "N passed, N failed, N skipped".
#
# A plan (1..N) with fewer results than it promised means that the rest never
# ran: they count as failed.  Several plans in one file add up.  Exit status 0
# only if something passed and nothing failed.

set -euo pipefail

awk '
function close_file()
{
	if (planned > seen)
		failed += planned - seen
	planned = seen = 0
}

FNR == 1	{ close_file() }
/^1\.\.[0-9]+/	{ split($1, plan, "[.][.]"); planned += plan[2] }
/^ok( |$)/		{ seen++; if (tolower($0) ~ /# *skip/) skipped++; else passed++ }
/^not ok( |$)/	{ seen++; failed++ }
/^Bail out!/	{ failed++ }

END {
	close_file()
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed || !passed
}' /dev/null "$@"
