#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Pacing by the NIC: SO_MAX_PACING_RATE becomes departure times, and the lower
# device sees packets pass at that rate. How late each of them is, is printed,
# not judged: that is the machine's. So are probes for acknowledgements that are
# late, and windows that shrink for delay: there are none here.

. "$(dirname "$0")/lib.sh"
need_e2100
need_command python3 awk

# within_1_percent NUMBER NUMBER WHAT
within_1_percent()
{
	echo "# $3: $1 of $2"
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b * .99 && a < b * 1.01) }'
}

# rate BITS-A-SECOND BYTES
rate()
{
	local bytes_per_s=$(($1 / 8)) seen sniffer

	make_nics veth
	sysctl -q net.falcon.swift.init_fcwnd=200 \
		net.falcon.swift.init_ncwnd=200
	both sysctl -q net.falcon.train_pkts=1 net.falcon.loss_policy=0 \
		net.falcon.min_rto_us=5000000
	ip netns exec "$A" e2100_wire.py capture w0 out "$scratch/out" \
		>"$scratch/up" &
	sniffer=$!
	within 60 grep -q capturing "$scratch/up"
	transfer 4 -b "$2" -r "$bytes_per_s" -m 16K -C fixed
	kill "$sniffer"
	wait "$sniffer" || :
	seen=$(e2100_wire.py paced "$scratch/out" "$bytes_per_s" \
		"$(number "$scratch/sent.json" bytes)")
	echo "# late at the lower device, us: ${seen% rate*}"
	echo "# from the first send() to the last answer:" \
		"$(number "$scratch/sent.json" mbytes_per_s) MB/s"
	expect "$(nic_stat "$A" tx_paced)" -gt 50 "packets that the wheel held"
	within_1_percent "${seen##* }" "$bytes_per_s" "goodput, bytes a second"
}

one_megabit_is_kept()
{
	rate 1000000 1500K
}

ten_megabits_are_kept()
{
	rate 10000000 12M
}

forty_megabits_are_kept()
{
	rate 40000000 40M
}

run_tests one_megabit_is_kept ten_megabits_are_kept forty_megabits_are_kept
status=$?
sysctl -q net.falcon.swift.init_ncwnd=64 net.falcon.swift.init_fcwnd=32
drop_nics
exit $status
