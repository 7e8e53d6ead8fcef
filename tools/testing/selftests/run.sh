#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs built selftests one after the other: the arguments are their directory,
# and their names.
#
# A test fails, is skipped (exit status 4) or passes as a whole; its own output
# stands indented before its result, in TAP.  The time limit of a test is that
# of the directory's `settings'.  Exit status: 0 unless one failed.

SKIP=4
dir=$1
shift

timeout=300
# shellcheck source=/dev/null
[ ! -r "$dir/settings" ] || . "$dir/settings"

echo "TAP version 13"
echo "1..$#"

nr=0
failed=0
for test; do
	nr=$((nr + 1))
	start=$SECONDS
	echo "# $test"
	set -o pipefail
	(cd "$dir" && exec timeout --foreground -k 10 "$timeout" "./$test") 2>&1 |
		sed -u 's/^/    /'
	status=$?
	took=$((SECONDS - start))
	case $status in
	0)
		echo "ok $nr $test # $took s" ;;
	"$SKIP")
		echo "ok $nr $test # SKIP" ;;
	124)
		echo "not ok $nr $test # out of time after $timeout s"
		failed=$((failed + 1)) ;;
	*)
		echo "not ok $nr $test # exit=$status, $took s"
		failed=$((failed + 1)) ;;
	esac
done
echo "# $((nr - failed)) of $nr did not fail"
[ $failed -eq 0 ]
