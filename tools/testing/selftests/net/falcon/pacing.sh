#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Pacing where there is no NIC that could: SO_MAX_PACING_RATE becomes departure
# times, which the software NIC's wheels keep for any device. A namespace may go
# meanwhile; that what waits on the wheels goes with it, psp.sh shows in the kernel
# (a_namespace_leaves_no_packet_in_a_nic).

. "$(dirname "$0")/lib.sh"

need_falcon
need_command awk

# kept BYTES-A-SECOND: by the transfer of sent.json. A packet that departs has
# waited, but for the first; and who was late makes up for no more than some
# milliseconds.
kept()
{
	local percent

	percent=$(awk -v rate="$1" -v mtu="$(number "$scratch/sent.json" mtu)" \
		-v bytes="$(number "$scratch/sent.json" bytes)" \
		-v s="$(number "$scratch/sent.json" seconds)" \
		'BEGIN { print int(100 * (bytes - mtu) / s / rate + 0.5) }')
	echo "# $(($1 * 8 / 1000)) kb/s: $percent % in the end"
	expect "$percent" -ge 80 "per cent of the rate"
	expect "$percent" -le 101 "per cent of the rate"
}

paced() # 4|6 BYTES-A-SECOND
{
	transfer "$1" -b $(($2 * 4)) -m 16K -r "$2" -C fixed
	kept "$2"
}

rates_are_kept()
{
	make_pair
	paced 4 125000
	paced 6 250000
	drop_pair
}

# Sealed when they leave, so that their times are not those of the hand-over
rates_are_kept_with_encryption()
{
	SECURITY=opportunistic make_pair 1500
	paced 4 125000
	expect "$(counter "$B" in_replay)" -eq 0 "of another time"
	drop_pair
}

# Many on one wheel, each at its own rate
each_connection_has_its_rate()
{
	local receivers=() senders=() i

	make_pair
	for i in 1 2 4; do
		in_b falcon_xfer -l -P 710$i -b $((i * 200000)) &
		receivers+=($!)
	done
	for i in 1 2 4; do
		in_a falcon_xfer -P 710$i -b $((i * 200000)) -m 16K \
			-r $((i * 50000)) -C fixed "$B4" >"$scratch/sent.$i" &
		senders+=($!)
	done
	for i in "${senders[@]}" "${receivers[@]}"; do
		wait "$i"
	done
	for i in 1 2 4; do
		mv "$scratch/sent.$i" "$scratch/sent.json"
		kept $((i * 50000))
	done
	drop_pair
}

# What is left would take minutes: the sockets are gone when they are no longer
# willing to wait, and their namespace with them.
a_namespace_goes_in_the_middle()
{
	local i

	can_probe || return $KSFT_SKIP
	make_pair
	both sysctl -q net.falcon.user_timeout_ms=2000
	for i in 1 2 3 4; do
		in_b falcon_xfer -l -P 710$i -b 10M 2>/dev/null &
		in_a falcon_xfer -P 710$i -b 10M -r 20000 "$B4" \
			>/dev/null 2>&1 &
	done
	within 30 established
	sleep 1
	watch_exits
	end_jobs -KILL
	drop_pair
	within 30 have_left 2
	no_more_exits
}

run_tests rates_are_kept rates_are_kept_with_encryption \
	each_connection_has_its_rate a_namespace_goes_in_the_middle
