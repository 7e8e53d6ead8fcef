#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check.sh - each experiment at a tiny scale, TAP: it ends, core does not warn,
# the same seed gives the same numbers and another seed other ones.

set -uo pipefail

dir=$1
sim=$dir/sim
n=0
failed=0

# A simulation ends with its process, and frees nothing.
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1

report()
{
	local verdict=ok

	n=$((n + 1))
	[ "$1" -eq 0 ] || { verdict='not ok'; failed=1; }
	echo "$verdict $n - sim: $2"
}

mapfile -t experiments < <("$sim" -h | sed -n 's/^  \([a-z_]*\)  .*/\1/p')
echo "1..$((2 * ${#experiments[@]} + 3))"

for name in "${experiments[@]}"; do
	nice "$sim" -q -s 7 -o "$dir/one" "$name" >/dev/null
	report $? "$name runs"
	nice "$sim" -q -s 7 -o "$dir/two" "$name" >/dev/null &&
		cmp "$dir/one/$name.csv" "$dir/two/$name.csv"
	report $? "$name is a function of its seed"
done

[ "${#experiments[@]}" -gt 0 ]
report $? "there are experiments"
nice "$sim" -q -s 8 -o "$dir/other" loss >/dev/null &&
	! cmp -s "$dir/one/loss.csv" "$dir/other/loss.csv"
report $? "another seed is another run"
nice "$dir/sim-fae_ecn" -q -s 7 -o "$dir/ecn" loss >/dev/null &&
	! cmp -s "$dir/one/loss.csv" "$dir/ecn/loss.csv"
report $? "an algorithm of a module takes the place of Swift"

exit $failed
