#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Datagrams have one connection a peer. Peers are bounded, and nobody takes them
# from all others: a user has a share, an address that connects has one, and the
# last are QP1's, without which there is no rdma_cm.

. "$(dirname "$0")/lib.sh"

need_verbs falcon_verbs falcon_cm rping

# datagrams_from in_a|in_b ADDRESS NUMBER [BYTES]
datagrams_from()
{
	local dev=$DEV_A gid=$GID_A

	[ "$1" = in_a ] || { dev=$DEV_B gid=$GID_B; }
	"$1" falcon_verbs datagrams "$dev" "$gid" "${@:2}"
}

no_peer()
{
	[ "$(statistic "$1" ud_no_peer)" -ge "$2" ]
}

# At addresses behind $B, for as long as $A tries
nobody_answers()
{
	in_a sysctl -q net.falcon.cm_retries=20
	in_a ip route add 10.99.0.0/16 via $B4
	in_b sysctl -q net.ipv4.ip_forward=0
}

# Beyond the share all is dropped.
user_who_sends_to_many_has_a_share()
{
	make_devices
	nobody_answers
	datagrams_from in_a 10.99.1.1 1024
	expect "$(statistic "$DEV_A" ud_no_peer)" -eq 0 "without a peer"
	datagrams_from in_a 10.99.8.1 20
	expect "$(statistic "$DEV_A" ud_no_peer)" -eq 20 "without a peer"
	program=rping
	pair -s -a $B4 -C 5 -V -S 400 -- -c -a $B4 -C 5 -V -S 400
	drop_devices
}

# What waits for connections that do not come is no way to hold memory: a MiB, for
# the kernel's headers and pages, too. rdma_cm's do not count.
what_waits_for_connections_is_bounded()
{
	local dropped

	make_devices
	nobody_answers
	datagrams_from in_a 10.99.1.1 600 4096
	dropped=$(statistic "$DEV_A" ud_drop)
	expect "$dropped" -ge 300 "dropped"
	expect "$dropped" -lt 550 "dropped"
	expect "$(statistic "$DEV_A" ud_no_peer)" -eq 0 "without a peer"
	program=rping
	pair -s -a $B4 -C 5 -V -S 400 -- -c -a $B4 -C 5 -V -S 400
	drop_devices
}

# $B has one address and sends to 70 of $A.
host_that_connects_often_has_a_share()
{
	local i

	make_devices
	for i in {1..70}; do
		echo "addr add 10.98.0.$i/32 dev e0"
	done | ip -n "$A" -batch -
	in_b ip route add 10.98.0.0/24 via $A4
	within 60 has_gid "$DEV_A" ffff:0a62:0046
	datagrams_from in_b 10.98.0.1 70
	within 60 no_peer "$DEV_A" 6
	expect "$(statistic "$DEV_A" connections)" -le 64 "connections"
	expect "$(statistic "$DEV_B" ud_no_peer)" -eq 0 "for the sender"
	drop_devices
}

# All addresses of one /64 are one host: it does not take the places of others.
network_that_connects_often_has_a_share()
{
	local i

	make_devices
	for i in {1..70}; do
		echo "addr add fd79::$i/128 dev e0 nodad"
	done | ip -n "$B" -batch -
	in_a ip route add fd79::/64 via $B6
	within 60 has_gid "$DEV_B" 0000:0000:0070
	in_b falcon_verbs sources "$DEV_B" 0 fd79:: $A6
	within 60 no_peer "$DEV_A" 6
	expect "$(statistic "$DEV_A" connections)" -le 64 "connections"
	program=rping
	pair -s -a $B4 -C 5 -V -S 400 -- -c -a $B4 -C 5 -V -S 400
	drop_devices
}

connections_of_a()
{
	[ "$(statistic "$DEV_A" connections)" -ge "$1" ]
}

# What $B says from a second address of its own is not heard any more: who sends
# to both waits a moment for it, and then no more.
peer_that_is_silent_holds_up_no_other()
{
	local flood=$scratch/flood silent=10.98.0.1 dropped

	modprobe -q cls_u32 && modprobe -q act_gact || return "$KSFT_SKIP"
	make_devices
	in_b ip addr add $silent/32 dev e0
	in_a ip route add $silent via $B4
	within 60 has_gid "$DEV_B" ffff:0a62:0001
	mkfifo "$flood"
	in_a falcon_verbs flood "$DEV_A" "$GID_A" $silent $B4 \
		<"$flood" >"$scratch/flooding" &
	exec 9>"$flood"
	within 60 connections_of_a 2
	grep -q ready "$scratch/flooding"
	sleep 1
	in_b tc qdisc add dev e0 clsact
	in_b tc filter add dev e0 egress protocol ip u32 \
		match ip src $silent/32 action drop
	dropped=$(statistic "$DEV_A" ud_drop)
	exec 9>&-
	wait $! || { cat "$scratch/flooding"; return 1; }
	sed '/^ready/d' "$scratch/flooding"
	dropped=$(($(statistic "$DEV_A" ud_drop) - dropped))
	expect $dropped -ge 72 "dropped"
	expect $dropped -lt 200 "dropped"
	drop_devices
}

dropped_at_a() # DATAGRAMS, as nobody waits for them
{
	[ "$(statistic "$DEV_A" ud_drop)" -ge "$1" ]
}

# What $B has to say goes by the connection that $A has made, and not by one that
# somebody asked for and never confirmed.
half_open_connection_takes_no_place()
{
	make_devices
	datagrams_from in_a $B4 1
	within 20 connections_of_a 1
	datagrams_from in_b $A4 1
	within 20 dropped_at_a 1
	in_a falcon_cm probe -k twice -u 2 -s 1 $B4 >"$scratch/answer"
	grep -q '^accept' "$scratch/answer"
	for _ in 1 2 3; do
		datagrams_from in_b $A4 1
	done
	within 10 dropped_at_a 4
	expect "$(statistic "$DEV_B" connections)" -eq 1 "connections"
	drop_devices
}

# Nobody waits for an answer that does not come: not the device either.
device_goes_while_a_peer_is_looked_for()
{
	make_devices
	nobody_answers
	datagrams_from in_a 10.99.1.1 10
	timeout 60 rdma link delete "$DEV_A"
	gone "$DEV_A"
	drop_devices
}

run_tests user_who_sends_to_many_has_a_share \
	what_waits_for_connections_is_bounded \
	host_that_connects_often_has_a_share \
	network_that_connects_often_has_a_share \
	peer_that_is_silent_holds_up_no_other \
	half_open_connection_takes_no_place \
	device_goes_while_a_peer_is_looked_for
