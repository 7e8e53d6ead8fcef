#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections that share a device which does not keep up take turns, by weight
# (8.3): what they send is compared over the same time, whatever that is.

. "$(dirname "$0")/lib.sh"

need_falcon

# A slow link, and windows that congestion control leaves alone.
# slow_link [MTU]
slow_link()
{
	make_pair "${1:-1500}"
	both sysctl -q net.falcon.fae=fixed net.falcon.flows_ipv4=1 \
		net.falcon.train_pkts=4
	in_a sysctl -q net.falcon.tx_backlog_kb=16
	tc -n "$A" qdisc add dev e0 root tbf rate 16mbit burst 16kb limit 4mb
}

# sender PORT WEIGHT
sender()
{
	in_b falcon_xfer -l -P "$1" -b 4G >/dev/null 2>&1 &
	in_a sysctl -q net.falcon.tx_weight="$2"
	in_a falcon_xfer -P "$1" -b 4G "$B4" >/dev/null 2>&1 &
	within 60 sent "$1" -gt 100000
}

# Bytes sent by the connection to a port, once only.
sent_by()
{
	in_a falcon -j conn | python3 -c '
import json, sys
print(sum(c["counters"]["tx_bytes"] for c in json.load(sys.stdin)
	  if str(c["dport"]) == sys.argv[1]))' "$1"
}

sent()
{
	test "$(sent_by "$1")" "$2" "$3"
}

# race WEIGHT-1 WEIGHT-2: what each sends until the second has sent 1.5 MB more
race()
{
	local from1 from2

	sender 7001 "$1"
	sender 7002 "$2"
	from1=$(sent_by 7001)
	from2=$(sent_by 7002)
	within 100 sent 7002 -gt $((from2 + 1500000))
	gone1=$(($(sent_by 7001) - from1))
	gone2=$(($(sent_by 7002) - from2))
	echo "# weights $1 and $2: $gone1 and $gone2 bytes"
	expect "$(counter "$A" out_waits)" -gt 0 "waits for a turn"
	end_jobs -KILL
}

# Each has its turn.
# spec: 8.3-1
equal_weights_share_equally()
{
	slow_link
	race 4 4
	expect $((gone2 * 2)) -ge "$gone1" "half a fair share"
	expect $((gone1 * 2)) -ge "$gone2" "half a fair share"
	drop_pair
}

# A share is by weight: four times as much, and twice it has to be.
# spec: 8.3+1
heavier_weight_sends_more()
{
	slow_link
	race 1 4
	expect "$gone2" -ge $((gone1 * 2)) "bytes of the heavier"
	expect "$gone1" -gt 0 "bytes of the lighter"
	drop_pair
}

# What a packet exceeds a turn by is a debt: of large ones the share is the same.
# spec: 8.3+1
weight_holds_for_large_packets()
{
	slow_link 9000
	race 1 4
	expect $((gone2 * 2)) -ge $((gone1 * 5)) "twice the bytes of the heavier"
	expect "$gone1" -gt 0 "bytes of the lighter"
	drop_pair
}

# Without a bound nobody waits.
turns_can_be_turned_off()
{
	slow_link
	in_a sysctl -q net.falcon.tx_backlog_kb=0
	sender 7001 1
	within 60 sent 7001 -gt 1000000
	expect "$(counter "$A" out_waits)" -eq 0 "waits for a turn"
	end_jobs -KILL
	drop_pair
}

run_tests equal_weights_share_equally heavier_weight_sends_more \
	weight_holds_for_large_packets turns_can_be_turned_off
