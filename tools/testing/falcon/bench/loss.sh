#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Goodput at random loss, in relation to the same transport's own without, on
# a wire that treats each packet alone.  Falcon's goal is 0.95 at 1 %.

. "$(dirname "$0")/lib.sh"

BASE="delay 500us"

set_up
per_packet
for ((round = 0; round < ROUNDS; round++)); do
	for proto in tcp falcon; do
		measure $proto.0 "$BASE" -p $proto
		measure $proto.1 "$BASE loss 1%" -p $proto
	done
done

header "goodput at random loss, packet by packet (median of $ROUNDS, $MIB MiB)"
for proto in tcp falcon; do
	row $proto.0 "$proto, no loss"
	row $proto.1 "$proto, 1 % lost"
done
kept()
{
	ratio "$(median "$1.1" mbytes_per_s)" "$(median "$1.0" mbytes_per_s)"
}
echo "TCP at 1 % / own lossless: $(kept tcp)"
goal "falcon at 1 % / own lossless:" "$(kept falcon)" ">=" 0.95
