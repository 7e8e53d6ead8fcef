#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two machines, each with a port of e2100sim over its own end of a link, whose
# clocks know nothing of each other:
#
#	make check-hosts
#
# runs this in both. The first sends, the second receives; elsewhere it is
# skipped.

. "$(dirname "$0")/lib.sh"
need_e2100
: "${PEER6=}"
need_two_hosts e2100sim

# The port takes the place of the link's own netdev.
port_over_the_link()
{
	new_device "$NIC_A"
	ip link set "$(netdev_of "$NIC_A")" name nic0
	# shellcheck disable=SC2320 # the echo is what may fail
	echo "11:$(cat /sys/class/net/nic0/ifindex) 11:$(cat /sys/class/net/e0/ifindex)" \
		>$BUS/link_device 11</proc/self/ns/net
	ip addr flush dev e0
	sysctl -q net.ipv6.conf.nic0.accept_dad=0
	ip link set nic0 up
	ip addr add "$LOCAL4/24" dev nic0
	ip addr add "$LOCAL6/64" dev nic0
	sysctl -q net.falcon.delay_target_us=20000 net.falcon.min_rto_us=50000 \
		net.falcon.ack_coalesce_us=100
	meet port
	expect "$(cat /sys/class/net/nic0/mtu)" -eq \
		"$(cat /sys/class/net/e0/mtu)" "MTU"
	ping -q -c 3 "$PEER4" >/dev/null
	ping -q -c 3 "$PEER6" >/dev/null
	meet pinged
}

nic0_stat()
{
	ethtool -S nic0 | sed -n "s/^ *$1: //p"
}

# carried NAME ADDRESS OPTION...: one transfer, from host 1 to host 2
carried()
{
	local name=$1 to=$2

	shift 2
	if [ "$HOST" = 2 ]; then
		falcon_xfer -l "$@" &
		meet "$name"
		wait $!
		return
	fi
	meet "$name"
	falcon_xfer "$@" -x "falcon -j conn >$scratch/conn.json" "$to" \
		>"$scratch/sent.json"
	grep -q '"nic": *"e2100sim"' "$scratch/conn.json"
	echo "# $(number "$scratch/sent.json" mbytes_per_s) MB/s"
}

streams_and_messages_arrive()
{
	carried stream "$PEER4" -b 4M
	carried messages "$PEER6" -t seqpacket -b 4M
	expect "$(nic0_stat rx_falcon)" -gt 10 "trains received"
	expect "$(nic0_stat rx_stamped)" -ge "$(nic0_stat rx_falcon)" "stamped"
	expect "$(nic0_stat psp_sealed)" -gt 10 "sealed by the NIC"
	expect "$(nic0_stat psp_opened)" -gt 10 "opened by the NIC"
}

# The wire between the counters of two machines has some delay, and none below
# zero, which the difference of their counters would soon give: of no round trip has
# the peer held the packet for longer than all of it.
delay_of_the_wire_is_plausible()
{
	local trace=/sys/kernel/tracing

	echo >$trace/trace
	echo 1 >$trace/events/falcon/falcon_ack/enable
	carried traced "$PEER4" -b 2M -m 16K -e 20000
	echo 0 >$trace/events/falcon/falcon_ack/enable
	[ "$HOST" = 1 ] || return 0
	sed -n 's/.*falcon_ack: .* rtt_ns=\([0-9]*\) held_ns=\([0-9]*\).*/\1 \2/p' \
		$trace/trace | grep -v '^0 ' >"$scratch/samples"
	awk '{ delay = $1 - $2; wrong += delay <= 0 }
		NR == 1 || delay < least { least = delay }
		END { print "# " NR " samples, " wrong " not above zero, least " \
				least " ns"
			exit NR < 20 || wrong }' "$scratch/samples"
}

port_goes()
{
	meet over
	del_device "$NIC_A"
	ip addr add "$LOCAL4/24" dev e0
	meet gone
	ping -q -c 1 "$PEER4" >/dev/null
	meet end
}

run_tests port_over_the_link streams_and_messages_arrive \
	delay_of_the_wire_is_plausible port_goes
