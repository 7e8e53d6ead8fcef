#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A network namespace is a host of its own: its connections, ports, settings
# and counters concern nobody else, and it can go at any moment. A socket keeps
# its namespace, whose name may go before it; what the namespace itself takes
# with it is what no socket belongs to: connections that linger, set-ups of a
# listener in the kernel.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_many falcon_cm

refs()
{
	awk '$1 == "falcon" { print $3 }' /proc/modules
}

connections_in()
{
	falcon -N "$1" conn show | grep -c "$A4\|$A6" || :
}

# gone REFS: of the module, as many as there were: all of a namespace has left.
gone()
{
	[ "$(refs)" -le "$1" ]
}

counters_are_per_namespace()
{
	ip netns add "$A-other"
	make_pair
	transfer 4 -b 1M
	expect "$(counter "$A" out_pkts)" -gt 0 "packets sent"
	expect "$(counter "$A-other" out_pkts)" -eq 0 "packets of another"
	expect "$(counter "$A-other" in_pkts)" -eq 0 "packets of another"
	drop_pair
	ip netns del "$A-other"
}

same_address_and_port_in_two_pairs()
{
	make_pair
	make_pair 9000 "$A-2" "$B-2"
	in_b falcon_xfer -l -b 3M -e 1000 &
	ip netns exec "$B-2" falcon_xfer -l -b 5M &
	in_a falcon_xfer -b 3M -m 20000 -e 1000 "$B4" &
	ip netns exec "$A-2" falcon_xfer -b 5M "$B4"
	wait %1
	wait %2
	wait %3
	drop_pair
	drop_pair "$A-2" "$B-2"
}

# The sockets keep the namespaces, so that their ends close in the ordinary way.
deleted_with_idle_connections()
{
	local before

	before=$(refs)
	make_pair
	# A peer whose namespace is gone says nothing: patience has to end.
	both sysctl -q net.falcon.user_timeout_ms=3000
	in_b falcon_many -v -n 20 -l >"$scratch/b" < <(exec sleep 60) &
	in_a falcon_many -v -n 20 "$B4" >"$scratch/a" < <(exec sleep 60) &
	within 60 grep -q ready "$scratch/a"
	within 60 grep -q ready "$scratch/b"
	expect "$(connections_in "$A")" -eq 20 "connections"
	drop_pair
	end_jobs
	within 60 gone "$before"
}

# Closed, but there for whatever the peer may repeat: nobody waits for that.
deleted_with_connections_that_linger()
{
	local n

	can_probe || return $KSFT_SKIP
	make_pair
	both sysctl -q net.falcon.linger_ms=60000
	for n in 4 6 4; do
		transfer $n -b 100K
	done
	expect "$(connections_in "$A")" -eq 3 "connections that linger"
	expect "$(connections_in "$B")" -eq 3 "connections that linger"
	watch_exits
	drop_pair
	within 20 have_left 2
	expect "$(ended closing)" -eq 6 "connections that it took along"
	no_more_exits
}

# A listener in the kernel has accepted, and nobody has confirmed.
deleted_with_half_open_set_ups()
{
	can_probe && modprobe -q falcon_echo || return $KSFT_SKIP
	make_pair
	for _ in 1 2 3; do
		in_a falcon_cm probe -k twice -u 3 -s 0xec40 $B4 >"$scratch/answer"
		grep -q '^accept' "$scratch/answer"
	done
	watch_exits
	drop_pair
	within 20 have_left 2
	expect "$(ended setup)" -eq 3 "set-ups that it took along"
	no_more_exits
	rmmod falcon_echo	# and nothing that it depends on
}

four_transfers()
{
	[ "$(connections_in "$A")" -eq 4 ]
}

# The wire vanishes under a transfer, then the processes, then the namespaces.
deleted_in_the_middle_of_transfers()
{
	local before i

	before=$(refs)
	make_pair
	both sysctl -q net.falcon.user_timeout_ms=3000
	for i in 1 2 3 4; do
		in_b falcon_xfer -l -P 800$i -b 1G 2>/dev/null &
		in_a falcon_xfer -P 800$i -b 1G "$B4" >/dev/null 2>&1 &
	done
	within 60 four_transfers
	ip -n "$A" link del e0
	sleep 0.3
	drop_pair
	end_jobs -KILL
	within 60 gone "$before"
}

peer_namespace_dies()
{
	local status=0

	make_pair
	both sysctl -q net.falcon.user_timeout_ms=3000
	in_b falcon_xfer -l -b 1G 2>/dev/null &
	in_a falcon_xfer -b 1G "$B4" >/dev/null 2>"$scratch/sender" &
	sleep 1
	ip netns pids "$B" | xargs kill -KILL
	ip netns del "$B"
	wait %2 || status=$?
	expect $status -eq 1 "status of the sender"
	ip netns del "$A"
}

made_and_deleted_many_times()
{
	local before i

	before=$(refs)
	for i in $(seq 10); do
		make_pair
		transfer 4 -b 100K
		drop_pair
	done
	within 60 gone "$before"
}

run_tests counters_are_per_namespace same_address_and_port_in_two_pairs \
	deleted_with_idle_connections deleted_with_connections_that_linger \
	deleted_with_half_open_set_ups deleted_in_the_middle_of_transfers \
	peer_namespace_dies made_and_deleted_many_times
