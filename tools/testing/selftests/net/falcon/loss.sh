#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whatever the wire does to packets, every byte arrives, once and in place:
# loss, duplicates, bit errors, outages.  Loss is repaired by RACK and TLP, not
# by waiting for the retransmission time-out.

. "$(dirname "$0")/lib.sh"

need_falcon
make_pair 1500
per_packet

# The retransmissions of the last transfer, by reason, must repair the loss
# without storms: no more than twice what the wire took, few by time-out.
check_repair()
{
	local lost sent rto early

	lost=$(lost_in "$A")
	sent=$(number "$scratch/sent.json" retx)
	rto=$(number "$scratch/conn.json" retx_rto)
	early=$((sent - rto))
	echo "# $lost packets lost, $sent sent again, $rto by time-out"
	expect "$lost" -gt 0 "packets lost on the wire"
	expect "$sent" -ge $((lost / 2)) "retransmissions"
	expect "$sent" -le $((lost * 2 + 20)) "retransmissions"
	expect "$rto" -le $((early / 5 + 10)) "retransmissions by time-out"
}

one_percent_loss_stream()
{
	faults delay 100us loss 1%
	transfer 4 -b 8M
	check_repair
}

one_percent_loss_seqpacket_ipv6()
{
	faults delay 100us loss 1%
	transfer 6 -t seqpacket -b 8M
	check_repair
}

ten_percent_loss_stream()
{
	faults delay 100us loss 10%
	transfer 4 -b 2M
	check_repair
}

ten_percent_loss_seqpacket()
{
	faults delay 100us loss 10%
	transfer 4 -t seqpacket -b 2M -m 3000
	check_repair
}

duplicates_are_delivered_once()
{
	faults delay 100us duplicate 30%
	transfer 4 -b 4M
	expect "$(number "$scratch/conn.json" rx_dup)" -ge 0 "duplicates here"
	expect "$(counters "$B" in_pkts)" -gt \
		"$(number "$scratch/sent.json" tx_pkts)" "packets received"
}

in_csum_errors()
{
	in_b cat /proc/net/snmp |
		awk '$1 == "Udp:" && $2 ~ /^[0-9]/ { print $6 }'
}

corrupted_packets_are_refused()
{
	local before

	before=$(in_csum_errors)
	faults delay 100us corrupt 2%
	transfer 4 -b 4M
	expect "$(in_csum_errors)" -gt "$before" "checksum errors"
}

everything_at_once()
{
	faults delay 300us 100us loss 2% duplicate 2% corrupt 1%
	transfer 6 -t seqpacket -b 2M -m 20000
	transfer 4 -b 2M
}

bursts_of_loss()
{
	faults delay 100us loss gemodel 1% 20% 100% 0.1%
	transfer 4 -b 4M
}

# A receiver whose acknowledgements get lost is no dead peer.
lost_acknowledgements()
{
	faults none
	tc -n "$B" qdisc add dev e0 root netem limit 10000 delay 100us loss 20%
	transfer 4 -b 4M
}

outage_shorter_than_the_time_budget_is_survived()
{
	faults delay 100us
	(
		sleep 1
		faults loss 100%
		sleep 2
		faults delay 100us
	) &
	transfer 4 -b 4M -e 40000
}

outage_longer_than_the_time_budget_ends_the_connection()
{
	local start sender

	both sysctl -q net.falcon.user_timeout_ms=2000
	faults delay 100us
	in_b falcon_xfer -l -b 64M 2>"$scratch/receiver" &
	in_a falcon_xfer -b 64M -e 100000 "$B4" 2>"$scratch/sender" &
	sender=$!
	sleep 1
	faults loss 100%
	start=$SECONDS
	fails wait $sender
	expect $((SECONDS - start)) -le 20 "seconds until the sender knows"
	grep -q "Connection timed out" "$scratch/sender"
	both sysctl -q net.falcon.user_timeout_ms=60000
	faults none
}

run_tests one_percent_loss_stream one_percent_loss_seqpacket_ipv6 \
	ten_percent_loss_stream ten_percent_loss_seqpacket \
	duplicates_are_delivered_once corrupted_packets_are_refused \
	everything_at_once bursts_of_loss lost_acknowledgements \
	outage_shorter_than_the_time_budget_is_survived \
	outage_longer_than_the_time_budget_ends_the_connection
