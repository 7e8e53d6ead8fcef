#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How long a set-up takes while forged requests come in, 1,000,000 a minute, beside
# how long it takes without, by turns.
#
# Who floods stands for other machines, and who sets up for a client of the
# server; all of them share one CPU here. So that the flood comes evenly,
# whatever the server does, it goes before all else. What sending alone takes
# from the set-ups is shown by packets that end at the server's door; the load is
# what the flood keeps the CPU busy with while nobody sets up.

. "$(dirname "$0")/lib.sh"

RATE=${RATE:-16667}
SETUPS=${SETUPS:-200}
LOAD_S=2

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

# Hundredths of a second that the CPU has been idle
idle()
{
	awk '/^cpu / { print $5 }' /proc/stat
}

# load NAME: percent of the CPU, now
load()
{
	local before

	before=$(idle)
	sleep $LOAD_S
	echo $((100 - ($(idle) - before) / LOAD_S)) >>"$scratch/$1.load"
}

# flood NAME KIND: set-ups while it lasts
flood()
{
	ip netns exec "$A" chrt -f 50 falcon_cm flood -k "$2" -n 100000000 \
		-R "$RATE" -f 10.99.0.0 $B4 &
	local before start flooder=$!

	sleep 1
	load "$1"
	before=$(received) start=$EPOCHREALTIME
	time_set_ups "$1"
	awk -v n=$(($(received) - before)) -v s="$start" \
		-v e="$EPOCHREALTIME" 'BEGIN { print int(n / (e - s)) }' \
		>>"$scratch/$1.rate"
	kill $flooder
	wait $flooder || :
}

# Packets that have reached the server's interface
received()
{
	in_b cat /sys/class/net/e0/statistics/rx_packets
}

# at_ingress NAMESPACE add|del MATCH...: packets that end there
at_ingress()
{
	tc -n "$1" filter "$2" dev e0 ingress protocol ip pref 1 u32 \
		match ip "${@:3}" action drop
}

flood_row()
{
	printf '%-26s %8s %8s %8s %10s %8s %12s\n' "$2" "$(median "$1" p50)" \
		"$(median "$1" p99)" "$(median "$1" failed)" \
		"$(median "$1" rate)" "$(median "$1" load)" \
		"$(ratio "$(median "$1" p99)" "$(median quiet p99)")"
}

set_up
security opportunistic
in_b ip route add 10.99.0.0/16 via $A4
both tc qdisc add dev e0 clsact
# Answers to those who have not asked are somebody else's affair.
at_ingress "$A" add dst 10.99.0.0/16
mkfifo "$scratch/hold"
exec 9<>"$scratch/hold"
ip netns exec "$B" falcon_many -l -P 7000 -n $((SETUPS * ROUNDS * 5 + 100)) \
	<"$scratch/hold" >/dev/null 9<&- &
within 30 listening

for ((round = 0; round < ROUNDS; round++)); do
	time_set_ups quiet
	load quiet
	at_ingress "$B" add src 10.99.0.0/16
	flood door init
	at_ingress "$B" del src 10.99.0.0/16
	for kind in init forged noise; do
		flood $kind $kind
	done
done

printf '\nset-up of a connection with encryption (median of %d rounds of %d), us\n' \
	"$ROUNDS" "$SETUPS"
printf '%-26s %8s %8s %8s %10s %8s %12s\n' "" p50 p99 failed "packets/s" \
	"load, %" "p99 / quiet"
flood_row quiet "no flood"
flood_row door "dropped at the door"
flood_row init "requests"
flood_row forged "requests, forged cookies"
flood_row noise "noise"
goal "p99 under requests / quiet:" \
	"$(ratio "$(median init p99)" "$(median quiet p99)")" "<=" 2
