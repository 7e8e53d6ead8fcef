#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tally.sh - sums TAP files; the last line is "N passed, N failed, N skipped".
#
# Before it stand, by name, what was skipped, in part or as a whole, and what
# passed on a second try alone.  A plan (1..N) with fewer results than it promised
# means that the rest never ran: they count as failed.  Several plans in one file
# add up.  Exit status 0 only if something passed and nothing failed.

set -euo pipefail

awk '
function close_file()
{
	if (planned > seen)
		failed += planned - seen
	planned = seen = 0
}

# What stands behind the number and the dash
function name(line)
{
	sub(/^[^-]*- /, "", line)
	return line
}

FNR == 1	{ close_file() }
/^# ok .*# SKIP/	{ sub(/^# ok [0-9]+ /, ""); parts = parts "\n#   " $0 }
/^# .*; once more, in a machine/	{ again = again "\n#   " $2 }
/^1\.\.[0-9]+/	{ split($1, plan, "[.][.]"); planned += plan[2] }
/^ok( |$)/ {
	seen++
	if (tolower($0) ~ /# *skip/) {
		skipped++
		skips = skips "\n# " name($0)
	} else {
		passed++
		if (parts)
			skips = skips "\n# " name($0) ", of it" parts
	}
}
/^not ok( |$)/	{ seen++; failed++ }
/^(not )?ok( |$)/	{ parts = "" }
/^Bail out!/	{ failed++ }

END {
	close_file()
	if (skips)
		print "# skipped:" skips
	if (again)
		print "# tried twice:" again
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed || !passed
}' /dev/null "$@"
