#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rdma-core's own test-suite on a Falcon device: it comes to its end, without an
# error or a failure; at least as many tests pass as there are in what it covers,
# and fewer are skipped than on the kernel's other software device.

. "$(dirname "$0")/lib.sh"

suite=/usr/share/doc/rdma-core/tests
passes=86
skips=186	# rxe's

need_verbs python3
[ -e $suite/run_tests.py ] || skip_all "no python3-pyverbs"
python3 -c 'import pyverbs' 2>/dev/null || skip_all "no python3-pyverbs"

# The run's last line, of unittest: OK, and how many it skipped
summary()
{
	sed -nE 's/^OK \(skipped=([0-9]+)\)$/\1/p; s/^OK$/0/p' "$1" | tail -n 1
}

suite_passes()
{
	local log=$scratch/log status=0 ok skipped

	cp -r $suite "$scratch/tests"
	gunzip -f "$scratch"/tests/*.gz
	cd "$scratch" || return
	in_a timeout 500 python3 tests/run_tests.py -v --dev "$DEV_A" \
		>"$log" 2>&1 || status=$?
	cp "$log" /out/pyverbs-suite.log 2>/dev/null || :
	grep -E '^(ERROR|FAIL):' "$log" | sed 's/^/# /' || :
	ok=$(grep -cE '\.\.\. ok$' "$log") || :
	skipped=$(summary "$log")
	echo "# $ok passed, ${skipped:-?} skipped, last: $(tail -n 1 "$log")"
	expect $status -eq 0 "status of the suite"
	grep -qE '^Ran [0-9]+ tests' "$log"
	expect "$ok" -ge $passes "tests that pass"
	expect "${skipped:-999}" -lt $skips "tests that are skipped"
}

make_devices || exit 1
run_tests suite_passes
