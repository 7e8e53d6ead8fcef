#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How long a set-up takes while forged requests come in, 1,000,000 a minute or as
# many as this machine can forge, beside how long it takes without, by turns.

. "$(dirname "$0")/lib.sh"

RATE=${RATE:-16667}
SETUPS=${SETUPS:-200}

listening()
{
	in_a falcon_cm probe $B4 | grep -q cookie
}

# time_set_ups NAME: their p50 and p99 are added to $scratch/NAME.*.
time_set_ups()
{
	in_a falcon_cm time -n "$SETUPS" $B4 >"$scratch/time"
	read -r _ p50 _ p99 _ failed <"$scratch/time"
	echo "$p50" >>"$scratch/$1.p50"
	echo "$p99" >>"$scratch/$1.p99"
	echo "$failed" >>"$scratch/$1.failed"
}

# flood KIND: set-ups while it lasts. Who floods stands for other machines: only
# what his packets cost when they arrive is the server's, not that he waits for
# the same CPU.
flood()
{
	ip netns exec "$A" chrt -i 0 falcon_cm flood -k "$1" -n 100000000 -R "$RATE" \
		-f 10.99.0.0 $B4 &
	local before start flooder=$!

	sleep 1
	before=$(counter "$B" cm_in) start=$EPOCHREALTIME
	time_set_ups "$1"
	awk -v n=$(($(counter "$B" cm_in) - before)) -v s="$start" \
		-v e="$EPOCHREALTIME" 'BEGIN { print int(n / (e - s)) }' \
		>>"$scratch/$1.rate"
	kill $flooder
	wait $flooder || :
}

flood_row()
{
	printf '%-26s %10s %10s %10s %10s %14s\n' "$2" "$(median "$1" p50)" \
		"$(median "$1" p99)" "$(median "$1" failed)" \
		"$(median "$1" rate)" \
		"$(ratio "$(median "$1" p99)" "$(median quiet p99)")"
}

set_up
security opportunistic
in_b ip route add 10.99.0.0/16 via $A4
mkfifo "$scratch/hold"
exec 9<>"$scratch/hold"
ip netns exec "$B" falcon_many -l -P 7000 -n $((SETUPS * ROUNDS * 4 + 100)) \
	<"$scratch/hold" >/dev/null 9<&- &
within 30 listening

for ((round = 0; round < ROUNDS; round++)); do
	time_set_ups quiet
	for kind in init forged noise; do
		flood $kind
	done
done

printf '\nset-up of a connection with encryption (median of %d rounds of %d), us\n' \
	"$ROUNDS" "$SETUPS"
printf '%-26s %10s %10s %10s %10s %14s\n' "" p50 p99 failed "forged/s" \
	"p99 / quiet"
echo 0 >"$scratch/quiet.rate"
flood_row quiet "no flood"
flood_row init "requests"
flood_row forged "requests, forged cookies"
flood_row noise "noise"
