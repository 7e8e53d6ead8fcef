#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh - Falcon beside TCP: the same program, the same link, one run.
#
# On the host: builds what the guest needs, boots a VM, and runs there the
# scripts of tools/testing/falcon/bench/, all or those named as arguments.  In
# an emulated machine only the ratios of one run mean anything.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
kernel=${KVER:-6.1}

make -s -j"$(nproc)" -C "$top" KVER="$kernel" guest >/dev/null
[ $# -gt 0 ] || set -- goodput loss reorder latency
exec "$top/tools/testing/vm/vm.sh" --kernel "$kernel" --dir "$top" \
	--timeout 1800 --env ROUNDS="${ROUNDS:-3}" --env MIB="${MIB:-32}" -- \
	"for b in $*; do tools/testing/falcon/bench/\$b.sh || exit 1; done"
