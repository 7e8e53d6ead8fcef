#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Counters and PHCs: what people set moves no stamp of Falcon's, and stamps of
# devices that count apart measure the delay of the wire.

. "$(dirname "$0")/lib.sh"
need_e2100
need_command e2100_phc awk

TRACING=/sys/kernel/tracing
SEC=1000000000

phc_of()
{
	echo "/dev/$(basename "$BUS/devices/e2100sim$1/ptp"/ptp*)"
}

phc()
{
	e2100_phc "$(phc_of "$1")" "${@:2}"
}

# near NUMBER NUMBER TOLERANCE WHAT
near()
{
	local off=$(($1 - $2))

	expect "${off#-}" -le "$3" "$4: off by"
}

phc_is_set_stepped_and_bent()
{
	local a0 b0 a1 b1

	make_nics direct
	phc "$NIC_A" set $((1000 * SEC))
	near "$(phc "$NIC_A" get)" $((1000 * SEC)) "$SEC" "set"
	phc "$NIC_A" step $((-400 * SEC))
	near "$(phc "$NIC_A" get)" $((600 * SEC)) $((2 * SEC)) "stepped"
	phc "$NIC_A" freq 50000000
	read -r a0 b0 < <(phc "$NIC_A" pair "$(phc_of "$NIC_B")")
	sleep 3
	read -r a1 b1 < <(phc "$NIC_A" pair "$(phc_of "$NIC_B")")
	near $((a1 - a0)) $(((b1 - b0) * 105 / 100)) 2000000 "5 % faster"
}

# pair: both counters at the same time, to half a millisecond, in $a and $b.
pair()
{
	local file_a=$DEBUG/e2100sim$NIC_A/counter_ps later
	local file_b=$DEBUG/e2100sim$NIC_B/counter_ps

	while :; do
		read -r a <"$file_a"
		read -r b <"$file_b"
		read -r later <"$file_a"
		[ $((later - a)) -gt 500000000 ] || break
	done
}

counter_drifts_and_never_steps()
{
	local a b a0 b0 gained

	make_nics direct
	knob "$NIC_A" drift_ppb 1000000
	pair
	a0=$a b0=$b
	phc "$NIC_A" set 0
	sleep 4
	pair
	gained=$(((a - a0 - (b - b0)) / 1000))
	echo "# gained $gained ns in $(((b - b0) / 1000)) ns"
	near "$gained" $(((b - b0) / 1000000)) 1000000 "a thousandth, ns"
	fails knob "$NIC_A" drift_ppb 1000001 2>/dev/null
}

sockets_get_stamps_of_the_phc()
{
	local rx tx receiver

	make_nics "$(lower_type)"
	in_a ping -q -c 1 "$B4" >/dev/null
	phc "$NIC_A" set $((5000 * SEC))
	phc "$NIC_B" set $((9000 * SEC))
	in_b e2100_phc -s e0 7900 >"$scratch/rx" &
	receiver=$!
	sleep 1
	tx=$(in_a e2100_phc -t e0 "$B4" 7900)
	wait "$receiver"
	rx=$(cat "$scratch/rx")
	near "$tx" $((5000 * SEC)) $((30 * SEC)) "departure"
	near "$rx" $((9000 * SEC)) $((30 * SEC)) "arrival"
}

# delays FILE: percentiles of the delay samples of a trace, us.
delays()
{
	grep -oE 'delay_ns=[0-9]+' "$1" | cut -d= -f2 | grep -vx 0 | sort -n |
		awk '{ d[NR] = $1 / 1000 }
		END { printf "n %d min %d p50 %d p90 %d p99 %d\n", NR, d[1],
			d[int(NR * .5) + 1],
			d[int(NR * .9) + 1], d[int(NR * .99) + 1] }'
}

traced_transfer()
{
	[ -e "$TRACING"/events ] || mount -t tracefs none "$TRACING"
	echo >"$TRACING"/trace
	echo 1 >"$TRACING"/events/falcon/falcon_cc/enable
	transfer 4 "$@"
	echo 0 >"$TRACING"/events/falcon/falcon_cc/enable
	cat "$TRACING"/trace >"$scratch/trace"
	delays "$scratch/trace"
}

slow_lower()
{
	local ns

	for ns in "$A" "$B"; do
		tc -n "$ns" qdisc add dev "$1" root netem delay 10ms limit 10000
	done
}

# Ten milliseconds each way by netem, which knows nothing of the devices;
# counters that are seconds apart and drift by 100 ppm in opposite directions.
nic_stamps_measure_the_wire()
{
	local got

	make_nics veth
	param "$NIC_A" counter_ms 1000
	param "$NIC_B" counter_ms 4000000000
	knob "$NIC_A" drift_ppb 100000
	knob "$NIC_B" drift_ppb -100000
	devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
	devlink dev reload "e2100sim/e2100sim$NIC_B" >/dev/null
	slow_lower w0
	phc "$NIC_A" wild 6 >/dev/null &
	phc "$NIC_B" wild 6 >/dev/null &
	got=$(traced_transfer -m 4K -b 1M -e 10000)
	echo "# stamps of the NIC, us: $got"
	# Late timers make netem slower, never faster.
	near "$(echo "$got" | awk '{ print $4 }')" 20000 400 "delay, us"
	expect "$(counter "$B" in_replay)" -eq 0 "packets taken for replays"
	make_pair
	slow_lower e0
	echo "# stamps of software, us: $(traced_transfer -m 4K -b 1M -e 10000)"
}

# Acknowledgements that wait 20 ms at the receiver: the round trip is longer,
# the wire is not.
dwell_moves_rtt_and_not_delay()
{
	local rtt delay got

	make_nics veth
	slow_lower w0
	in_b sysctl -q net.falcon.ack_coalesce_us=20000 \
		net.falcon.ack_coalesce_pkts=64
	both sysctl -q net.falcon.ar_percent=0 net.falcon.ar_fcwnd=0
	got=$(traced_transfer -m 4K -b 500K -e 30000)
	rtt=$(($(number "$scratch/conn.json" rtt_ns) / 1000))
	delay=$(echo "$got" | awk '{ print $4 }')
	echo "# round trip $rtt us, delay of the wire $got"
	expect "$rtt" -gt $((delay + 4000)) "round trip, us"
	near "$delay" 20000 400 "delay, us"
}

run_tests phc_is_set_stepped_and_bent counter_drifts_and_never_steps \
	sockets_get_stamps_of_the_phc nic_stamps_measure_the_wire \
	dwell_moves_rtt_and_not_delay
status=$?
drop_nics
exit $status
