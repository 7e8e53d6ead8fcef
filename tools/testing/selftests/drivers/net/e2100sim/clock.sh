#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Counters and PHCs: what people set moves no stamp of Falcon's, and stamps of
# devices that count apart measure the delay of the wire.

. "$(dirname "$0")/lib.sh"
need_e2100
need_command e2100_phc awk python3

TRACING=/sys/kernel/tracing
SEC=1000000000
# Long, for machines whose timers are late, but no round trip over 1.1 s, half the
# range of a time-stamp; 10 where the clock counts instructions.
WIRE_MS=${WIRE_MS:-400}

phc_of()
{
	echo "/dev/$(basename "$BUS/devices/e2100sim$1/ptp"/ptp*)"
}

phc()
{
	e2100_phc "$(phc_of "$1")" "${@:2}"
}

# soon NUMBER LEAST WHAT: at least, and no minute more.
soon()
{
	expect "$1" -ge "$2" "$3"
	expect "$1" -lt $(($2 + 60 * SEC)) "$3"
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
	soon "$(phc "$NIC_A" get)" $((1000 * SEC)) "set"
	phc "$NIC_A" step $((-400 * SEC))
	soon "$(phc "$NIC_A" get)" $((600 * SEC)) "stepped"
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

listens()
{
	in_b ss -Hlun "sport = $1" | grep -q .
}

# stamped [SECONDS]: a datagram from $A to $B, whose stamp is read so late. Both are
# of what the PHCs showed then.
stamped()
{
	local rx tx tx_after tx_before rx_after rx_before receiver

	make_nics "$(lower_type)"
	in_a ping -q -c 1 "$B4" >/dev/null
	phc "$NIC_A" set $((5000 * SEC))
	phc "$NIC_B" set $((9000 * SEC))
	in_b e2100_phc -s e0 7900 "${1:-0}" >"$scratch/rx" &
	receiver=$!
	within 60 listens 7900
	tx_before=$(phc "$NIC_A" get)
	rx_before=$(phc "$NIC_B" get)
	tx=$(in_a e2100_phc -t e0 "$B4" 7900)
	tx_after=$(phc "$NIC_A" get)
	rx_after=$(phc "$NIC_B" get)
	wait "$receiver"
	rx=$(cat "$scratch/rx")
	echo "# within $((tx_after - tx_before)) ns"
	expect "$tx" -ge "$tx_before" "departure"
	expect "$tx" -le "$tx_after" "departure"
	expect "$rx" -ge "$rx_before" "arrival"
	expect "$rx" -le "$rx_after" "arrival"
}

# One for a packet, of software or of the device.
sockets_get_stamps_of_the_phc()
{
	stamped
}

# Longer than a timecounter knows the way back
stamps_are_right_when_they_are_read_late()
{
	stamped 75
}

# Filters that a device cannot tell apart become the one for all; what it does not
# know, it refuses.
stamps_are_configured()
{
	make_nics direct
	[ "$(in_a e2100_phc -c e0 1 0)" = "1 0" ]
	[ "$(in_a e2100_phc -c e0 0 12)" = "0 1" ]
	fails in_a e2100_phc -c e0 3 0 2>/dev/null
	[ "$(in_a e2100_phc -c e0 1 1)" = "1 1" ]
}

# samples NAME: percentiles of a field of the last trace, us.
samples()
{
	grep -oE " $1=[0-9]+" "$scratch/trace" | cut -d= -f2 | grep -vx 0 | sort -n |
		awk '{ d[NR] = int($1 / 1000) }
		END { print "n", NR, "min", d[1],
			"p50", d[int(NR * .5) + 1], "p90", d[int(NR * .9) + 1],
			"p99", d[int(NR * .99) + 1] }'
}

# at PERCENTILE DISTRIBUTION
at()
{
	local rest=${2#* "$1" }

	echo "${rest%% *}"
}

traced_transfer()
{
	[ -e "$TRACING"/events ] || mount -t tracefs none "$TRACING"
	echo >"$TRACING"/trace
	echo 1 >"$TRACING"/events/falcon/falcon_cc/enable
	transfer 4 "$@"
	echo 0 >"$TRACING"/events/falcon/falcon_cc/enable
	cat "$TRACING"/trace >"$scratch/trace"
}

slow_lower()
{
	local ns

	for ns in "$A" "$B"; do
		tc -n "$ns" qdisc add dev "$1" root netem \
			delay "${WIRE_MS}ms" limit 10000
	done
}

# Both directions, from where the ports hand packets to the wire to where it
# hands them to the ports.
sniff_wire()
{
	sniff "$A" e0 out "$scratch/there.out"
	sniff "$B" w0 in "$scratch/there.in"
	sniff "$B" e0 out "$scratch/back.out"
	sniff "$A" w0 in "$scratch/back.in"
}

wire_sniffed()
{
	sniffed
	there=$(e2100_wire.py delays "$scratch/there.out" "$scratch/there.in")
	back=$(e2100_wire.py delays "$scratch/back.out" "$scratch/back.in")
}

# The wire is slow by netem, which knows nothing of the devices, and long enough
# that the lateness of its timers does not count; packet sockets measure it as
# well. The devices' counters are seconds apart and drift by 100 ppm in opposite
# directions, and somebody plays with the PHCs.
nic_stamps_measure_the_wire()
{
	local got rtt there back tolerance=$((WIRE_MS * 2 * 1000 / 50))

	make_nics "$(lower_type)"
	param "$NIC_A" counter_ms 1000
	param "$NIC_B" counter_ms 4000000000
	knob "$NIC_A" drift_ppb 100000
	knob "$NIC_B" drift_ppb -100000
	devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
	devlink dev reload "e2100sim/e2100sim$NIC_B" >/dev/null
	slow_lower w0
	sniff_wire
	phc "$NIC_A" wild 6 >/dev/null &
	phc "$NIC_B" wild 6 >/dev/null &
	traced_transfer -m 4K -b 3M -e 10000
	wire_sniffed
	got=$(samples delay_ns)
	echo "# the wire there, us: $there"
	echo "# and back: $back"
	echo "# stamps of the NIC: $got"
	near "$(at p50 "$got")" $((WIRE_MS * 2000)) "$tolerance" "delay, us"
	near "$(at p50 "$got")" $(($(at p50 "$there") + $(at p50 "$back"))) \
		"$tolerance" "delay by packet sockets, us"
	rtt=$(samples rtt_ns)
	echo "# round trips by them: $rtt"
	expect "$(at p50 "$rtt")" -ge $((WIRE_MS * 2000 - tolerance)) "RTT, us"
	near "$(at min "$rtt")" $((WIRE_MS * 2000)) "$tolerance" "least RTT, us"
	expect "$(counter "$B" in_replay)" -eq 0 "packets taken for replays"
	nonces_are_new "$scratch/there.out"
	drop_nics
	SECURITY=opportunistic make_pair
	slow_lower e0
	traced_transfer -m 4K -b 3M -e 10000
	echo "# stamps of software: $(samples delay_ns)"
}

# Acknowledgements that wait 100 ms at the receiver: the round trip is longer,
# the wire is not.
dwell_moves_rtt_and_not_delay()
{
	local rtt got

	make_nics "$(lower_type)"
	slow_lower w0
	in_b sysctl -q net.falcon.ack_coalesce_us=100000 \
		net.falcon.ack_coalesce_pkts=64
	both sysctl -q net.falcon.ar_percent=0 net.falcon.ar_fcwnd=0
	traced_transfer -m 4K -b 400K -e 150000
	rtt=$(samples rtt_ns)
	got=$(samples delay_ns)
	echo "# round trip, us: $rtt"
	echo "# delay of the wire: $got"
	expect "$(at p90 "$rtt")" -gt $((WIRE_MS * 2000 + 50000)) "round trip, us"
	near "$(at p50 "$got")" $((WIRE_MS * 2000)) $((WIRE_MS * 2000 / 50)) \
		"delay, us"
}

run_tests phc_is_set_stepped_and_bent counter_drifts_and_never_steps \
	sockets_get_stamps_of_the_phc \
	stamps_are_right_when_they_are_read_late stamps_are_configured \
	nic_stamps_measure_the_wire \
	dwell_moves_rtt_and_not_delay
status=$?
drop_nics
exit $status
