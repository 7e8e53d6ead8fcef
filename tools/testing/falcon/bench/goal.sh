# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What a figure is to be, as every benchmark says it.

# goal WHAT VALUE OPERATOR LIMIT: the figure, and whether it is what is aimed at.
# A benchmark fails if it cannot measure, not if it measures little.
goal()
{
	local verdict

	verdict=$(awk -v v="$2" -v l="$4" -v op="$3" 'BEGIN {
		print (op == ">=" ? v + 0 >= l : v + 0 <= l) ? "met" : "missed" }')
	printf '%-40s %s (goal: %s %s, %s)\n' "$1" "$2" "$3" "$4" "$verdict"
}
