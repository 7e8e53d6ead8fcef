#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two machines, each with a port of e2100sim over its own end of a link, whose
# clocks know nothing of each other:
#
#	tools/testing/vm/vm.sh --hosts 2 --env TESTS=two_hosts -- \
#		tools/testing/vm/run-tests.sh
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
# zero, which the difference of their counters would soon give. Both figures are
# averages, of which one may still be up while the other is down again after one of
# the machines has stood still: a tenth may be so.
delay_of_the_wire_is_plausible()
{
	local trace=/sys/kernel/tracing

	echo >$trace/trace
	echo 1 >$trace/events/falcon/falcon_cc/enable
	carried traced "$PEER4" -b 2M -m 16K -e 20000
	echo 0 >$trace/events/falcon/falcon_cc/enable
	[ "$HOST" = 1 ] || return 0
	grep -oE ' (rtt|delay)_ns=[0-9]+ .*' $trace/trace >"$scratch/samples"
	awk -F'[= ]' '{ for (i = 1; i < NF; i++) {
			if ($i == "rtt_ns") rtt = $(i + 1)
			if ($i == "delay_ns") delay = $(i + 1) }
		if (!delay) next
		n++
		if (delay > rtt) wrong++ }
		END { print "# " n " samples, " wrong + 0 " above the round trip"
			exit !n || wrong * 10 > n }' "$scratch/samples"
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
