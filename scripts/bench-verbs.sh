#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench-verbs.sh - verbs over Falcon beside rxe and TCP: two VMs, one run.
#
# Builds what the guests need and runs tools/testing/falcon/bench/verbs.sh in
# both. rxe of 6.1 knows no namespaces, so each end has a machine of its own.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
kernel=${KVER:-6.1}
out=$top/build/bench-verbs

"$top/scripts/deps.sh" build vm
make -s -C "$top" KVER="$kernel" guest >/dev/null
rm -rf "$out"
mkdir -p "$out"
exec "$top/tools/testing/vm/vm.sh" --kernel "$kernel" --dir "$top" \
	--hosts 2 --out "$out" --timeout 1500 --env LIMIT="${LIMIT:-60}" -- \
	tools/testing/falcon/bench/verbs.sh
