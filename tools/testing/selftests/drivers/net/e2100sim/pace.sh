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

PERCENT=${PERCENT:-30}

# within_1_percent NUMBER NUMBER WHAT
within_1_percent()
{
	echo "# $3: $1 of $2"
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b * .99 && a < b * 1.01) }'
}

# Two hosts whose windows never close, and which take nothing for lost: one
# packet at a time.
wide_open()
{
	make_nics veth
	sysctl -q net.falcon.swift.init_fcwnd=200 \
		net.falcon.swift.init_ncwnd=200
	both sysctl -q net.falcon.train_pkts=1 net.falcon.loss_policy=0 \
		net.falcon.min_rto_us=5000000
}

# watched BYTES OPTION...: a transfer that a packet socket at the lower device
# looks at
watched()
{
	local bytes=$1 sniffer

	shift
	wide_open
	ip netns exec "$A" e2100_wire.py capture w0 out "$scratch/out" \
		>"$scratch/up" &
	sniffer=$!
	within 60 grep -q capturing "$scratch/up"
	transfer 4 -b "$bytes" -m 16K -C fixed "$@"
	kill "$sniffer"
	wait "$sniffer" || :
}

# paced BITS-A-SECOND BYTES: sets $seen, the goodput in bytes a second
paced()
{
	local bytes_per_s=$(($1 / 8))

	watched "$2" -r "$bytes_per_s"
	seen=$(e2100_wire.py paced "$scratch/out" "$bytes_per_s" \
		"$(number "$scratch/sent.json" bytes)")
	echo "# late at the lower device, us: ${seen% rate*}"
	echo "# from the first send() to the last answer:" \
		"$(number "$scratch/sent.json" mbytes_per_s) MB/s"
	seen=${seen##* }
	expect "$(nic_stat "$A" tx_paced)" -gt 50 "packets that the wheel held"
}

# unpaced: what the guest carries, bits a second
unpaced()
{
	watched 12M >/dev/null
	number "$scratch/sent.json" mbytes_per_s |
		awk '{ print int($1 * 8000000) }'
}

# kept [BITS-A-SECOND]: a rate of that, or of $PERCENT of what the guest carries
# without one. If it carries less than that while it is paced, for the host has
# other work, it is measured again.
kept()
{
	local bits most judged=

	for _ in 1 2 3 4; do
		most=$(($(unpaced) * PERCENT / 100))
		bits=${1:-$most}
		echo "# $PERCENT % of what the guest carries: $most bits a second"
		[ "$bits" -le "$most" ] || continue
		judged=yes
		paced "$bits" $((bits * 3 / 2))
		within_1_percent "$seen" $((bits / 8)) \
			"goodput, bytes a second" && return
	done
	[ -n "$judged" ] || return "$KSFT_SKIP"
	return 1
}

one_megabit_is_kept()
{
	kept 1000000
}

ten_megabits_are_kept()
{
	kept 10000000
}

what_the_guest_carries_is_kept()
{
	kept
}

run_tests one_megabit_is_kept ten_megabits_are_kept \
	what_the_guest_carries_is_kept
status=$?
sysctl -q net.falcon.swift.init_ncwnd=64 net.falcon.swift.init_fcwnd=32
drop_nics
exit $status
