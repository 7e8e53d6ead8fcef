#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh - Falcon beside TCP: the same program, the same link, one run.
#
# On the host: builds what the guest needs, boots a VM, and runs itself there
# (argument "guest").  Prints rates and their ratio for messages of several
# sizes, then round trips.  In an emulated machine only the ratios mean much.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
seconds=${SECONDS_EACH:-5}

if [ "${1-}" != guest ]; then
	make -s -j"$(nproc)" -C "$top" KVER="${KVER:-6.1}" guest >/dev/null
	exec "$top/tools/testing/vm/vm.sh" --kernel "${KVER:-6.1}" --dir "$top" \
		--env SECONDS_EACH="$seconds" -- scripts/bench.sh guest
fi

# shellcheck source=tools/testing/vm/lib.sh
. "$FALCON_TOP/tools/testing/vm/lib.sh"

# measure KEY PROTOCOL ARGUMENT...: one value of falcon-perf's report.
measure()
{
	local key=$1 proto=$2
	shift 2

	ip netns exec a falcon-perf -c fd09::2 -T "$proto" -t "$seconds" -j "$@" |
		sed -n "s/.*\"$key\":\([0-9]*\).*/\1/p"
}

row()
{
	awk -v what="$1" -v unit="$2" -v tcp="$3" -v falcon="$4" -v scale="$5" 'BEGIN {
		printf "%-22s %10.1f %10.1f %-7s %8.2f\n", what, tcp / scale,
			falcon / scale, unit, tcp ? falcon / tcp : 0
	}'
}

install_tools
modprobe falcon
two_hosts
ip netns exec b falcon-perf -s &
sleep 1

printf '%-22s %10s %10s %-7s %8s\n' "" TCP Falcon "" ratio
for size in 64 1K 8K 64K 1M; do
	row "stream of $size" Mbit/s \
		"$(measure bits_per_second tcp -l $size)" \
		"$(measure bits_per_second stream -l $size)" 1000000
done
row "round trip p50" us "$(measure p50_ns tcp -L)" "$(measure p50_ns stream -L)" 1000
row "round trip p99" us "$(measure p99_ns tcp -L)" "$(measure p99_ns stream -L)" 1000
