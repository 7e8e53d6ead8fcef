#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check.sh - runs test suites, and ends with their sum.
#
# Suites: "unit" is the protocol in user space, its simulations, the model of its
# handshake and a few seconds of each fuzzer too; "vm:KERNEL" builds what a guest needs, and runs the kselftests
# in one VM with that kernel; "hosts:KERNEL" those that need two machines, in two.
# Each installs what it misses, and leaves build/tests/SUITE.tap.  TESTS selects
# kselftests.  VM_TIMEOUT is the seconds that one VM may take, enough for all of
# them in an emulated machine, and ten hours for a kernel with checkers; the last
# minutes of it are for boot, leak scan and halt.  What it does not suffice for has
# failed, or is skipped with TEST_PARTIAL=1.  FULL=1 and LONG=1 make some tests
# larger, as their heads say.  CLOCK=icount is a guest whose clock counts
# instructions: slow, and its timers are never late.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
results=$top/build/tests
cd "$top"

[ $# -gt 0 ] || {
	echo "usage: scripts/check.sh unit|vm:KERNEL|hosts:KERNEL..." >&2
	exit 2
}

# What single tests take from the environment
for_tests=(TEST_PARTIAL FULL LONG N NUMBER CONNS ENTRIES PATIENCE PERCENTS WIRE_MS)

# Each for a few seconds: so that they build, and that what they once found is known.
fuzzers()
{
	if ! scripts/deps.sh fuzz || ! command -v clang >/dev/null; then
		echo "ok - fuzzers # SKIP no clang"
		return
	fi
	make --no-print-directory -C tools/testing/falcon/fuzz check
}

unit()
{
	local status=0

	scripts/deps.sh unit sim || return
	make --no-print-directory -C tools/testing/falcon/unit check || status=1
	make --no-print-directory -C tools/testing/falcon/sim check || status=1
	make --no-print-directory -C tools/testing/falcon/model check || status=1
	fuzzers || status=1
	tools/testing/falcon/psp/psp_vectors.py --check \
		net/falcon/psp/test_vectors.h || status=1
	return $status
}

guest()
{
	case $1 in
	# Debian's kernel of this series lacks netdevsim.
	6.12*) scripts/netdevsim.sh "$1" || return ;;
	esac
	make -j"$(nproc)" KVER="$1" guest
}

# Quiet unless it fails.
build_for_vm()
{
	local log=$results/build.log

	scripts/deps.sh build vm || return
	if ! guest "$1" >"$log" 2>&1; then
		cat "$log"
		echo "not ok - build for $1"
		return 1
	fi
}

# boot KERNEL NAME OPTION...: runs the tests there
boot()
{
	local kernel=$1 name=$2 limit=${VM_TIMEOUT:-14400} knob

	case $kernel in
	*debug*) limit=${VM_TIMEOUT:-36000} ;;
	esac
	shift 2
	build_for_vm "$kernel" || return
	[ "${CLOCK-}" != icount ] || set -- "$@" --icount
	for knob in "${for_tests[@]}"; do
		[ -z "${!knob+set}" ] || set -- "$@" --env "$knob=${!knob}"
	done
	tools/testing/vm/vm.sh --kernel "$kernel" --out "$top/build/vm-out/$name" \
		--log "$results/$name.console" --timeout "$limit" \
		--env TEST_BUDGET=$((limit - 300)) \
		--env TEST_RETRIES="${TEST_RETRIES:-0}" "$@" -- \
		tools/testing/vm/run-tests.sh
}

# The first host's results are those that count, and what fails in the second.
hosts()
{
	boot "$1" "hosts-$1" --hosts 2 --env TESTS="${TESTS:-two_hosts}" |
		sed -u -e 's/^1: //' -e 's/^2: not ok/not ok/' \
			-e 's/^2: /# host 2: /'
}

run_suite()
{
	local suite=$1 tap=$results/${1/:/-}.tap status=0

	case $suite in
	unit) unit ;;
	vm:*) boot "${suite#vm:}" "vm-${suite#vm:}" --env TESTS="${TESTS-}" ;;
	hosts:*) hosts "${suite#hosts:}" ;;
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
