#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ping-pong of short messages: round trips of the application, by turns.

. "$(dirname "$0")/lib.sh"

PINGS=${PINGS:-2000}

# rounds NAME OPTION...
rounds()
{
	local name=$1 figure receiver

	shift
	in_b falcon_xfer -l "$@" -L "$PINGS" -m 64 &
	receiver=$!
	in_a falcon_xfer "$@" -L "$PINGS" -m 64 "$B4" >"$scratch/sent.json"
	wait $receiver
	for figure in rtt_p50_us rtt_p99_us; do
		number "$scratch/sent.json" $figure >>"$scratch/$name.$figure"
	done
}

set_up
for ((round = 0; round < ROUNDS; round++)); do
	rounds tcp -p tcp
	rounds stream -t stream
	rounds seqpacket -t seqpacket
done

printf '\nround trip of 64 bytes, us (median of %d times %d)\n' "$ROUNDS" "$PINGS"
printf '%-26s %10s %10s\n' "" p50 p99
for name in tcp stream seqpacket; do
	printf '%-26s %10s %10s\n' $name "$(median $name rtt_p50_us)" \
		"$(median $name rtt_p99_us)"
done
for name in stream seqpacket; do
	echo "$name / TCP, p50: $(ratio "$(median $name rtt_p50_us)" \
		"$(median tcp rtt_p50_us)")"
done
