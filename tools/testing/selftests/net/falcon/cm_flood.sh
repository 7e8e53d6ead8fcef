#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A flood of forged requests costs a MAC and a packet each: it makes no
# connection, takes no memory that stays, and keeps nobody from connecting.
# NUMBER sets how many, 100000 by default.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_cm falcon_many

NUMBER=${NUMBER:-100000}

listening()
{
	[ "$(in_a falcon_cm probe $B4 | cut -d' ' -f1)" = cookie ]
}

# Answers to addresses that do not exist leave through the veth, and end there.
set_up()
{
	make_pair
	in_b ip route add 10.99.0.0/16 via $A4
	rm -f "$scratch/hold"
	mkfifo "$scratch/hold"
	exec 9<>"$scratch/hold"
	ip netns exec "$B" falcon_many -l -P 7000 -n 200 <"$scratch/hold" \
		>"$scratch/ready" 9<&- &
	within 30 listening
}

slab_kb()
{
	awk '/^Slab:/ { print $2 }' /proc/meminfo
}

connects_during_a_flood() # KIND
{
	local flood round before

	set_up
	before=$(slab_kb)
	in_a falcon_cm flood -k "$1" -n "$NUMBER" -f 10.99.0.0 $B4 \
		>"$scratch/sent" &
	flood=$!
	for round in 1 2 3 4; do
		in_a falcon_cm connect -n 50 -t 60 $B4 >"$scratch/connect"
		grep -q "established 50 " "$scratch/connect" || {
			echo "# round $round: $(cat "$scratch/connect")"
			return 1
		}
		if [ "$round" -eq 1 ]; then
			expect "$(jobs -r | grep -c flood)" -eq 1 \
				"floods during the first 50 connections"
		fi
	done
	wait $flood
	within 30 grep -q ready "$scratch/ready"
	echo "# $(cat "$scratch/sent"), received $(counter "$B" cm_in)," \
		"cookies $(counter "$B" cm_cookies)," \
		"slab $(($(slab_kb) - before)) kB more"
	expect "$(counter "$B" cm_in)" -gt $((NUMBER / 2)) "messages received"
	expect "$(counter "$B" cm_established)" -eq 200 "connections"
	expect $(($(slab_kb) - before)) -lt 20000 "kB of slab"
	drop_pair
}

forged_addresses()
{
	connects_during_a_flood init
}

forged_cookies()
{
	connects_during_a_flood forged
}

noise()
{
	connects_during_a_flood noise
}

run_tests forged_addresses forged_cookies noise
