#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A queue pair and its connection: both ends start one and keep one; a packet
# inside it is for that queue pair or refused (RDMA over Falcon, 6.9).

. "$(dirname "$0")/lib.sh"

need_verbs ibv_rc_pingpong

# rewrite_qpn QPN: of push data that reaches $B. In it lie the headers of IPv4
# and UDP (28 bytes), PSP (24) and Falcon (28), then opcode and QPN.
rewrite_qpn()
{
	local hex

	hex=$(printf '%06x' "$1")
	tc -n "$B" qdisc add dev e0 clsact
	tc -n "$B" filter add dev e0 ingress protocol ip u32 \
		match u16 1000 0xffff at 22 match u8 0x0a 0x1e at 59 \
		action pedit munge offset 84 u8 set "0x${hex:0:2}" \
		munge offset 85 u8 set "0x${hex:2:2}" \
		munge offset 86 u8 set "0x${hex:4:2}" pipe \
		action csum udp
}

# QP1 exists, but is not what the connection was made for.
qpn_of_another_queue_pair_is_refused_6_9()
{
	modprobe -q act_pedit && modprobe -q act_csum || return $KSFT_SKIP
	make_devices
	both sysctl -q net.falcon.security=none
	per_packet
	rewrite_qpn 1
	program=ibv_rc_pingpong
	serve -d "$DEV_B" -g "$GID_B" -n 2
	fails in_a timeout 90 ibv_rc_pingpong -d "$DEV_A" -g "$GID_A" -n 2 \
		$B4 >"$scratch/client" 2>&1
	end_jobs
	grep -q "remote invalid request error" "$scratch/client"
	expect "$(statistic "$DEV_B" rx_bad_cid)" -ge 1 "packets refused"
	expect "$(statistic "$DEV_B" rx_send)" -eq 0 "messages received"
	tc -n "$B" qdisc del dev e0 clsact
	pingpong rc
	drop_devices
}

# one_remains: either end has asked the other, and it is one connection.
one_remains()
{
	expect "$(counter "$A" cm_cookies)" -ge 1 "set-ups that B began"
	expect "$(counter "$B" cm_cookies)" -ge 1 "set-ups that A began"
	expect "$(statistic "$DEV_A" connections)" -eq 1 "connections of A"
	expect "$(statistic "$DEV_B" connections)" -eq 1 "connections of B"
}

# A set-up takes two round trips of 200 ms, so that either end has begun its own
# long before it hears of the other's. The greater address wins, whoever began.
both_ends_start_and_one_connection_remains()
{
	make_devices
	faults delay 100ms
	program=ibv_rc_pingpong
	pair -d "$DEV_B" -g "$GID_B" -n 2 -- \
		-d "$DEV_A" -g "$GID_A" -n 2 $B4
	one_remains
	drop_devices
	make_devices
	faults delay 100ms
	in_a timeout 100 ibv_rc_pingpong -d "$DEV_A" -g "$GID_A" -n 2 \
		>"$scratch/server" 2>&1 &
	within 60 listening in_a
	in_b timeout 90 ibv_rc_pingpong -d "$DEV_B" -g "$GID_B" -n 2 $A4
	wait $!
	one_remains
	drop_devices
}

run_tests qpn_of_another_queue_pair_is_refused_6_9 \
	both_ends_start_and_one_connection_remains
