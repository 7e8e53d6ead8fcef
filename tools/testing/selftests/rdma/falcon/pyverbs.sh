#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rdma-core's own test-suite on a Falcon device: no error, no failure, and at
# least as many tests that pass as there are in what it covers.

. "$(dirname "$0")/lib.sh"

suite=/usr/share/doc/rdma-core/tests
passes=86

need_verbs python3
[ -e $suite/run_tests.py ] || skip_all "no python3-pyverbs"
python3 -c 'import pyverbs' 2>/dev/null || skip_all "no python3-pyverbs"

suite_passes()
{
	local log=$scratch/log ok bad skipped

	cp -r $suite "$scratch/tests"
	gunzip -f "$scratch"/tests/*.gz
	cd "$scratch"
	in_a timeout 500 python3 tests/run_tests.py -v --dev "$DEV_A" \
		>"$log" 2>&1 || echo "# status $?, last: $(tail -n 1 "$log")"
	ok=$(grep -cE '\.\.\. ok$' "$log")
	bad=$(grep -cE '\.\.\. (ERROR|FAIL)$' "$log") || :
	skipped=$(grep -cE '\.\.\. skipped' "$log")
	grep -E -B 1 '\.\.\. (ERROR|FAIL)$' "$log" | sed 's/^/# /' || :
	echo "# $ok passed, $bad failed, $skipped skipped"
	cp "$log" /out/pyverbs-suite.log 2>/dev/null || :
	grep -qE '^Ran [0-9]+ tests' "$log"
	[ "$bad" -eq 0 ]
	expect "$ok" -ge $passes "tests that pass"
}

make_devices || exit 1
run_tests suite_passes
