#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What happens to the link in the middle of a transfer does not reach the
# application: down and up again, smaller and larger packets, other faults,
# another route.

. "$(dirname "$0")/lib.sh"

need_falcon
make_pair 9000

# disturb COMMAND...: runs it two seconds into a transfer that lasts longer.
disturb()
{
	local version=$1 sent before

	shift
	before=$(counter "$A" out_pkts)
	(
		within 20 more_than "$((before + 20))"
		sleep 0.5
		"$@"
		touch "$scratch/disturbed"
	) &
	transfer "$version" -b 24M -m 40000 -e 3000
	[ -e "$scratch/disturbed" ] || { echo "# too early done"; return 1; }
	rm "$scratch/disturbed"
	sent=$(number "$scratch/sent.json" retx)
	echo "# $sent retransmissions"
}

more_than()
{
	[ "$(counter "$A" out_pkts)" -gt "$1" ]
}

down_and_up()
{
	ip -n "$A" link set e0 down
	sleep 1
	ip -n "$A" link set e0 up
	# IPv6 addresses go with the link.
	ip -n "$A" addr replace "$A6/64" dev e0
}

peer_down_and_up()
{
	ip -n "$B" link set e0 down
	sleep 1
	ip -n "$B" link set e0 up
	ip -n "$B" addr replace "$B6/64" dev e0
}

set_mtu()
{
	ip -n "$A" link set e0 mtu "$1"
	ip -n "$B" link set e0 mtu "$1"
}

flap()
{
	for _ in 1 2 3 4 5; do
		ip -n "$A" link set e0 down
		sleep 0.1
		ip -n "$A" link set e0 up
		sleep 0.1
	done
	ip -n "$A" addr replace "$A6/64" dev e0
}

reroute()
{
	ip -n "$A" route add "$B4/32" dev lo
	sleep 0.5
	ip -n "$A" route del "$B4/32" dev lo
}

interface_goes_down_and_up_ipv4()
{
	disturb 4 down_and_up
}

interface_goes_down_and_up_ipv6()
{
	disturb 6 down_and_up
}

interface_of_the_peer_goes_down_and_up()
{
	disturb 4 peer_down_and_up
}

interface_flaps()
{
	disturb 6 flap
}

mtu_shrinks_in_the_middle_ipv4()
{
	set_mtu 9000
	disturb 4 set_mtu 1500
}

mtu_shrinks_in_the_middle_ipv6()
{
	set_mtu 9000
	disturb 6 set_mtu 1500
}

# fragments 4|6: packets that $A has cut into such so far
fragments()
{
	in_a cat /proc/net/snmp /proc/net/snmp6 | if [ "$1" = 6 ]; then
		awk '$1 == "Ip6FragCreates" { print $2 }'
	else
		awk '$1 == "Ip:" && nr++ == 0 { split($0, name) }
			$1 == "Ip:" && nr == 2 { split($0, value) }
			END { for (i in name) if (name[i] == "FragCreates")
				print value[i] }'
	fi
}

# A window of packets of 9000 bytes is on its way when that becomes too large.
shrink_with_a_window_held()
{
	faults loss 100%
	sleep 0.5
	set_mtu 1500
	faults none
}

# What was sent keeps its PSN and its size: it goes again, in fragments.
larger_packets_come_again_in_fragments()
{
	local before

	set_mtu 9000
	before=$(fragments "$1")
	disturb "$1" shrink_with_a_window_held
	expect $(($(fragments "$1") - before)) -gt 0 "fragments"
	# It was the shrinking: packets that fit are not cut.
	before=$(fragments "$1")
	transfer "$1" -b 1M
	expect $(($(fragments "$1") - before)) -eq 0 "fragments"
	set_mtu 9000
}

larger_packets_come_again_in_fragments_ipv4()
{
	larger_packets_come_again_in_fragments 4
}

larger_packets_come_again_in_fragments_ipv6()
{
	larger_packets_come_again_in_fragments 6
}

mtu_grows_in_the_middle()
{
	set_mtu 1500
	disturb 4 set_mtu 9000
}

small_mtu()
{
	set_mtu 1280
	transfer 6 -b 1M
	transfer 4 -t seqpacket -b 1M -m 1000
	set_mtu 9000
}

route_leads_nowhere_for_a_while()
{
	disturb 4 reroute
}

run_tests interface_goes_down_and_up_ipv4 interface_goes_down_and_up_ipv6 \
	interface_of_the_peer_goes_down_and_up interface_flaps \
	mtu_shrinks_in_the_middle_ipv4 mtu_shrinks_in_the_middle_ipv6 \
	larger_packets_come_again_in_fragments_ipv4 \
	larger_packets_come_again_in_fragments_ipv6 \
	mtu_grows_in_the_middle small_mtu route_leads_nowhere_for_a_while
