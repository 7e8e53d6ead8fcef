#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Goodput where a quarter of the packets overtake others, in relation to the
# same transport's own where none do.  Falcon's goals are 0.95, and less than
# 1 % of its packets sent again in vain.

. "$(dirname "$0")/lib.sh"

# A round trip of 2 ms; a packet in four is 300 us late.
BASE="delay 1ms"
REORDERED="delay 1ms 300us distribution quarter"

set_up
per_packet
know_quarter
for ((round = 0; round < ROUNDS; round++)); do
	for proto in tcp falcon; do
		measure $proto.0 "$BASE" -p $proto
		measure $proto.25 "$REORDERED" -p $proto
	done
done

header "goodput with reordering (median of $ROUNDS, $MIB MiB)"
for proto in tcp falcon; do
	row $proto.0 "$proto, in order"
	row $proto.25 "$proto, 25 % late"
done
kept()
{
	ratio "$(median "$1.25" mbytes_per_s)" "$(median "$1.0" mbytes_per_s)"
}
echo "TCP at 25 % / own in order: $(kept tcp)"
goal "falcon at 25 % / own in order:" "$(kept falcon)" ">=" 0.95
goal "falcon sent again in vain:" "$(percent "$(median falcon.25 spurious)" \
	"$(median falcon.25 tx_pkts)")" "<=" 1
