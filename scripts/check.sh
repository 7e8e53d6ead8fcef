#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check.sh - runs test suites, and ends with their sum.
#
# Suites: "unit" is the protocol in user space, its simulations too; "vm:KERNEL"
# builds what a guest needs, and runs the kselftests in one VM with that kernel.
# Each leaves build/tests/SUITE.tap.  TESTS selects kselftests.  VM_TIMEOUT is the
# seconds that one VM may take, enough for all of them in an emulated machine; the
# last minutes of it are for boot, leak scan and halt.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
results=$top/build/tests
cd "$top"

[ $# -gt 0 ] || { echo "usage: scripts/check.sh unit|vm:KERNEL..." >&2; exit 2; }

unit()
{
	local status=0

	make --no-print-directory -C tools/testing/falcon/unit check || status=1
	make --no-print-directory -C tools/testing/falcon/sim check || status=1
	tools/testing/falcon/psp/psp_vectors.py --check \
		net/falcon/psp/test_vectors.h || status=1
	return $status
}

# Quiet unless it fails.
build_for_vm()
{
	local log=$results/build.log

	if ! make -j"$(nproc)" KVER="$1" guest >"$log" 2>&1; then
		cat "$log"
		echo "not ok - build for $1"
		return 1
	fi
}

vm()
{
	local kernel=$1 limit=${VM_TIMEOUT:-9000}

	build_for_vm "$kernel" || return
	tools/testing/vm/vm.sh --kernel "$kernel" --out "$top/build/vm-out/$kernel" \
		--log "$results/vm-$kernel.console" --timeout "$limit" \
		--env TESTS="${TESTS-}" --env TEST_BUDGET=$((limit - 300)) \
		--env TEST_RETRIES="${TEST_RETRIES:-0}" -- \
		tools/testing/vm/run-tests.sh
}

run_suite()
{
	local suite=$1 tap=$results/${1/:/-}.tap status=0

	case $suite in
	unit) unit ;;
	vm:*) vm "${suite#vm:}" ;;
	*) echo "check.sh: no suite $suite" >&2; return 2 ;;
	esac 2>&1 | tee "$tap" || status=${PIPESTATUS[0]}

	# A suite that failed without a failed test broke down as a whole.
	if [ "$status" -ne 0 ] && ! grep -q '^not ok' "$tap"; then
		echo "not ok - $suite ended with status $status" | tee -a "$tap"
	fi
}

mkdir -p "$results"
taps=()
for suite; do
	echo "# suite: $suite"
	run_suite "$suite"
	taps+=("$results/${suite/:/-}.tap")
done
scripts/tally.sh "${taps[@]}"
