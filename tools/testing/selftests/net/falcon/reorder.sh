#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets that overtake one another arrive in order at the reader, and are not
# taken for lost: RACK waits a quarter of a round trip.  A machine that stutters
# adds some that are.

. "$(dirname "$0")/lib.sh"

need_falcon
make_pair 1500
per_packet
know_quarter

check_spurious()
{
	local sent again

	sent=$(number "$scratch/sent.json" tx_pkts)
	again=$(number "$scratch/sent.json" retx)
	echo "# $sent packets, $again sent again in vain," \
		"$(number "$scratch/sent.json" spurious) known to be so"
	expect "$again" -le $((sent / 5)) "needless retransmissions"
}

# One packet in four is 400 us late, of a round trip of 4 ms.
reordering_within_the_rack_window_stream()
{
	faults delay 2ms 400us distribution quarter
	transfer 4 -b 8M
	check_spurious
}

reordering_within_the_rack_window_seqpacket_ipv6()
{
	faults delay 2ms 400us distribution quarter
	transfer 6 -t seqpacket -b 8M
	check_spurious
}

# Packets overtake all that are on the way.
reordering_across_the_whole_window()
{
	faults delay 2ms reorder 25% 50%
	transfer 4 -b 4M
	transfer 4 -t seqpacket -b 4M -m 5000
}

reordering_and_loss()
{
	faults delay 1ms 200us loss 1%
	transfer 4 -b 4M
}

run_tests reordering_within_the_rack_window_stream \
	reordering_within_the_rack_window_seqpacket_ipv6 \
	reordering_across_the_whole_window reordering_and_loss
