#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh - Falcon beside TCP: the same program, the same link, one run.
#
# On the host: builds what the guest needs, boots a VM, and runs there the
# scripts of tools/testing/falcon/bench/, all or those named as arguments.
#
# Where there is no KVM the guest's clock counts instructions (CLOCK=icount), so
# that figures are of the code and not of what else the host does: they repeat,
# on one CPU.  CLOCK=host has two CPUs and the host's time; only the ratios of one
# run mean anything then, and those of a busy host little.

set -euo pipefail

# accelerated: does vm.sh use KVM?
accelerated()
{
	grep -qwE 'vmx|svm' /proc/cpuinfo && [ -w /dev/kvm ]
}

top=$(cd "$(dirname "$0")/.." && pwd)
kernel=${KVER:-6.1}
clock=()
if [ -z "${CLOCK-}" ]; then
	accelerated && CLOCK=host || CLOCK=icount
fi
case $CLOCK in
icount) clock=(--icount) ;;
host) ;;
*) echo "bench.sh: CLOCK is icount or host" >&2; exit 2 ;;
esac

"$top/scripts/deps.sh" build vm
make -s -j"$(nproc)" -C "$top" KVER="$kernel" guest >/dev/null
[ $# -gt 0 ] || set -- goodput loss reorder latency
exec "$top/tools/testing/vm/vm.sh" --kernel "$kernel" --dir "$top" \
	"${clock[@]+"${clock[@]}"}" --timeout 1800 --env ROUNDS="${ROUNDS:-3}" --env MIB="${MIB:-32}" -- \
	"for b in $*; do tools/testing/falcon/bench/\$b.sh || exit 1; done"
