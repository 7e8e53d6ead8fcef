# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the benchmarks in the guest share: transfers of Falcon and of TCP by
# turns on one link, and tables of medians.  Run by scripts/bench.sh.

set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)
PATH=$top/build/selftests/net/falcon:$PATH
# shellcheck source=tools/testing/vm/lib.sh
. "$top/tools/testing/vm/lib.sh"
# shellcheck source=tools/testing/selftests/net/falcon/lib.sh
. "$top/tools/testing/selftests/net/falcon/lib.sh"

# shellcheck source=tools/testing/falcon/bench/goal.sh
. "$top/tools/testing/falcon/bench/goal.sh"

ROUNDS=${ROUNDS:-3}
MIB=${MIB:-32}

set_up()
{
	[ -x /usr/local/sbin/falcon ] || install_tools
	# A clock that counts instructions runs ahead while the host reads a file
	# for the guest: what the module waits for may take too long by it.
	modprobe falcon 2>/dev/null || modprobe falcon
	make_pair 9000
	security none
}

# security POLICY: of the connections that follow. TCP does not encrypt, so
# figures beside its are of connections that do not either.
security()
{
	both sysctl -q net.falcon.security="$1"
}

# measure NAME WIRE OPTION...: a transfer under the faults of WIRE (words of
# netem, or "none"); its figures are added to $scratch/NAME.*.
measure()
{
	local name=$1 wire=$2 figure

	shift 2
	faults none
	# shellcheck disable=SC2086 # words
	[ "$wire" = none ] || faults $wire
	transfer 4 -b "${MIB}M" "$@"
	for figure in mbytes_per_s retx spurious tx_pkts; do
		# TCP does not tell all of them.
		number "$scratch/sent.json" $figure \
			>>"$scratch/$name.$figure" || :
	done
	[ "$wire" = none ] || lost_in "$A" >>"$scratch/$name.lost"
}

# median NAME FIGURE: of all rounds; "-" where there is none.
median()
{
	[ -s "$scratch/$1.$2" ] || { echo -; return; }
	sort -n "$scratch/$1.$2" |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

ratio()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", b ? a / b : 0 }'
}

percent()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f %%", b ? 100 * a / b : 0 }'
}

header()
{
	printf '\n%s\n' "$1"
	printf '%-26s %10s %10s %10s %10s %10s\n' "" "MB/s" "packets" "lost" \
		"again" "needless"
}

row()
{
	printf '%-26s %10s %10s %10s %10s %10s\n' "$2" \
		"$(median "$1" mbytes_per_s)" "$(median "$1" tx_pkts)" \
		"$(median "$1" lost)" "$(median "$1" retx)" \
		"$(median "$1" spurious)"
}
