#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh - two hosts talk Falcon over a wire that loses one packet in a hundred.
#
# On the host: installs what is missing, builds, boots a VM and runs itself
# there (argument "guest").  There: two network namespaces joined by a veth
# pair, 20 us and 1 % loss each way, packet by packet; a file of real bytes, the
# kernel's image and modules, goes through it as a Falcon stream, as Falcon
# messages and through TCP.  Exit status 0: all arrived, SHA-256 says so.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
kernel=${KVER:-6.1}
MIB=${MIB:-64}

on_the_host()
{
	local log=$top/build/demo.log

	mkdir -p "$top/build"
	echo "demo: building (log in build/demo.log)"
	if ! { "$top/scripts/deps.sh" build vm demo &&
	       make -j"$(nproc)" -C "$top" KVER="$kernel" guest; } \
			>"$log" 2>&1; then
		tail -n 30 "$log" >&2
		exit 1
	fi
	echo "demo: booting a VM with the kernel $kernel"
	exec "$top/tools/testing/vm/vm.sh" --kernel "$kernel" --dir "$top" \
		--timeout 600 --env MIB="$MIB" \
		--env IMAGE="$("$top/scripts/kernel.sh" image "$kernel")" -- \
		scripts/demo.sh guest
}

[ "${1-}" = guest ] || on_the_host

# --- in the guest -------------------------------------------------------------

PATH=$top/build/selftests/net/falcon:$PATH
# shellcheck source=tools/testing/vm/lib.sh
. "$top/tools/testing/vm/lib.sh"
# shellcheck source=tools/testing/selftests/net/falcon/lib.sh
. "$top/tools/testing/selftests/net/falcon/lib.sh"

bold()
{
	printf '\033[1m%s\033[0m\n' "$*"
}

# The kernel's image and its modules, large ones first, until it is enough.
make_file()
{
	local modules
	modules=/lib/modules/$(uname -r)/kernel

	{
		cat "$IMAGE"
		find "$modules/drivers/gpu" "$modules/fs" "$modules/net" -name '*.ko*' \
			-exec cat {} +
		head -c "${MIB}M" /dev/urandom
	} 2>/dev/null | head -c "${MIB}M" >"$scratch/file" || :
}

sum_of()
{
	sha256sum "$1" | cut -d' ' -f1
}

# send NAME OPTION...: one transfer; leaves its figures in $scratch/NAME.*
send()
{
	local name=$1 receiver

	shift
	faults delay 20us loss 1%
	in_b falcon_xfer -l "$@" -o "$scratch/$name.out" &
	receiver=$!
	in_a falcon_xfer "$@" -f "$scratch/file" \
		-x "falcon -j conn >$scratch/$name.conn" "$B4" \
		>"$scratch/$name.sent"
	wait $receiver
	lost_in "$A" >"$scratch/$name.lost"
	if [ "$(sum_of "$scratch/$name.out")" = "$sum" ]; then
		echo "  $name: arrived, SHA-256 the same"
	else
		echo "  $name: SHA-256 DIFFERS"
		failed=1
	fi
	rm "$scratch/$name.out"
}

# row TITLE SUFFIX KEY: the value of a key for stream, seqpacket and tcp.
row()
{
	local name value

	printf '  %-34s' "$1"
	for name in stream seqpacket tcp; do
		value=$(number "$scratch/$name.$2" "$3" 2>/dev/null) || :
		printf ' %12s' "${value:--}"
	done
	echo
}

lost_row()
{
	printf '  %-34s %12s %12s %12s\n' "data packets lost on the wire" \
		"$(cat "$scratch/stream.lost")" \
		"$(cat "$scratch/seqpacket.lost")" "$(cat "$scratch/tcp.lost")"
}

table()
{
	printf '  %-34s %12s %12s %12s\n' "" "Falcon" "Falcon" "TCP"
	printf '  %-34s %12s %12s %12s\n' "" "stream" "messages" ""
	row "goodput, MB/s" sent mbytes_per_s
	lost_row
	row "packets sent" sent tx_pkts
	row "packets sent again" sent retx
	row "  found lost by RACK" conn retx_rack
	row "  probes of the tail (TLP)" conn retx_tlp
	row "  by time-out" conn retx_rto
	row "  found needless afterwards" sent spurious
	row "round trip (smoothed), us, p50" sent rtt_p50_us
	row "round trip (smoothed), us, p99" sent rtt_p99_us
	row "fabric window fcwnd, packets" sent fcwnd
	row "NIC window ncwnd, packets" sent ncwnd
	row "congestion window, packets" sent cwnd
}

failed=0
install_tools
bold "# two hosts on one wire: MTU 9000, 20 us and 1 % loss each way"
modprobe falcon
make_pair 9000
per_packet
make_file
sum=$(sum_of "$scratch/file")
echo "  $(stat -c %s "$scratch/file") bytes of the kernel, SHA-256 ${sum:0:16}..."

bold "# from host to host"
send stream -p falcon -t stream
send seqpacket -p falcon -t seqpacket
send tcp -p tcp

bold "# how it went"
table
echo "  (GSO and TSO are off, so that the wire loses packets, TCP's as well.)"
[ $failed -eq 0 ]
