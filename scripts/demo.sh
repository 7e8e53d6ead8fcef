#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh - two hosts talk Falcon over a wire that loses one packet in a hundred.
#
# On the host: installs what is missing, builds, boots a VM and runs itself
# there (argument "guest").  There: two network namespaces, each with an emulated
# NIC, joined by a veth pair below them, 20 us and 1 % loss each way, packet by
# packet; a file of real bytes, the kernel's image and modules, goes through it as
# a Falcon stream, as Falcon messages, through TCP, and a part of it as a stream
# with a rate.  Exit status 0: all arrived, SHA-256 says so, and the NICs stamped
# and paced what they were to.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
kernel=${KVER:-6.1}
MIB=${MIB:-64}
PACED_MIB=8
PACED_RATE=3000000

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
# shellcheck source=tools/testing/selftests/drivers/net/e2100sim/lib.sh
. "$top/tools/testing/selftests/drivers/net/e2100sim/lib.sh"

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

# What the NICs have counted so far, by name.
nic_counts()
{
	{
		nic_stats "$A" tx_falcon_trains tx_paced psp_sealed
		nic_stats "$B" rx_stamped psp_opened
	} | sort
}

# nic_stats NAMESPACE NAME...
nic_stats()
{
	local name

	for name in "${@:2}"; do
		echo "$name $(nic_stat "$1" "$name")"
	done
}

# send NAME FILE OPTION...: one transfer; leaves its figures in $scratch/NAME.*
send()
{
	local name=$1 file=$2 receiver

	shift 2
	WIRE=w0 faults delay 20us loss 1%
	nic_counts >"$scratch/before"
	in_b falcon_xfer -l "$@" -o "$scratch/$name.out" &
	receiver=$!
	in_a falcon_xfer "$@" -f "$file" \
		-x "falcon -j conn >$scratch/$name.conn" "$B4" \
		>"$scratch/$name.sent"
	wait $receiver
	nic_counts | join "$scratch/before" - |
		awk '{ printf "\"%s\": %d\n", $1, $3 - $2 }' >"$scratch/$name.nic"
	WIRE=w0 lost_in "$A" >"$scratch/$name.lost"
	if [ "$(sum_of "$scratch/$name.out")" = "$(sum_of "$file")" ]; then
		echo "  $name: arrived, SHA-256 the same"
	else
		echo "  $name: SHA-256 DIFFERS"
		failed=1
	fi
	rm "$scratch/$name.out"
}

# row TITLE SUFFIX KEY: the value of a key for each transfer.
row()
{
	local name value

	printf '  %-34s' "$1"
	for name in stream seqpacket paced tcp; do
		value=$(number "$scratch/$name.$2" "$3" 2>/dev/null) || :
		printf ' %10s' "${value:--}"
	done
	echo
}

line()
{
	printf '  %-34s %10s %10s %10s %10s\n' "$@"
}

lost_row()
{
	line "data packets lost on the wire" "$(cat "$scratch/stream.lost")" \
		"$(cat "$scratch/seqpacket.lost")" \
		"$(cat "$scratch/paced.lost")" "$(cat "$scratch/tcp.lost")"
}

table()
{
	line "" Falcon Falcon "Falcon," TCP
	line "" stream messages "3 MB/s" ""
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
	row "NIC: packets sent, stamped" nic tx_falcon_trains
	row "  held until their departure" nic tx_paced
	row "  sealed" nic psp_sealed
	row "  arrived, stamped" nic rx_stamped
	row "  opened" nic psp_opened
}

# counted NAME KEY: has the NIC done that?
counted()
{
	expect "$(number "$scratch/$1.nic" "$2")" -gt 0 "$1: $2" || failed=1
}

failed=0
install_tools
bold "# two hosts with a NIC each on one wire: MTU 9000, 20 us and 1 % loss each way"
modprobe falcon
modprobe e2100sim
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
make_nics veth
per_packet
falcon -N "$A" nic show dev e0 | sed 's/^/  /'
make_file
head -c "${PACED_MIB}M" "$scratch/file" >"$scratch/part"
sum=$(sum_of "$scratch/file")
echo "  $(stat -c %s "$scratch/file") bytes of the kernel, SHA-256 ${sum:0:16}..."

bold "# from host to host"
send stream "$scratch/file" -p falcon -t stream
send seqpacket "$scratch/file" -p falcon -t seqpacket
send paced "$scratch/part" -p falcon -t stream -r "$PACED_RATE"
send tcp "$scratch/file" -p tcp

bold "# how it went"
table
for name in stream seqpacket paced; do
	counted $name tx_falcon_trains
	counted $name rx_stamped
done
counted paced tx_paced
drop_nics
echo "  (GSO and TSO are off, so that the wire loses packets, TCP's as well.)"
[ $failed -eq 0 ]
