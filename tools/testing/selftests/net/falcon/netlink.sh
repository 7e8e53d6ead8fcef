#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The falcon command and the netlink family behind it: connections are listed,
# filtered, watched and killed, JSON is JSON, and who may not is told why.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_many python3
make_pair

# A pipe that this shell holds open keeps falcon_many there until the end.
mkfifo "$scratch/hold"
exec 9<>"$scratch/hold"

# hold_connections N: N of them from $A to $B, port 7001.
hold_connections()
{
	in_b falcon_many -n "$1" -l <"$scratch/hold" >"$scratch/b" 2>&1 9<&- &
	in_a falcon_many -n "$1" "$B4" <"$scratch/hold" >"$scratch/a" 2>&1 9<&- &
	within 120 grep -q ready "$scratch/a"
	within 20 grep -q ready "$scratch/b"
}

# jq would do, but is not everywhere: EXPRESSION sees the JSON as j.
json()
{
	python3 -c "import json, sys; j = json.load(sys.stdin); print($1)"
}

# lines [FILTER]...: established connections of $A, which those of the tests
# before that linger are not.
lines()
{
	falcon -N "$A" conn show state established "$@" | grep -c "$B4" || :
}

connections_are_shown_at_both_ends()
{
	hold_connections 3
	expect "$(lines)" -eq 3 "connections"
	expect "$(falcon -N "$B" conn show | grep -c "$A4")" -eq 3 "connections"
	falcon -N "$A" -j conn >"$scratch/a.json"
	falcon -N "$B" -j conn >"$scratch/b.json"
	[ "$(json 'sorted(c["cid"] for c in j)' <"$scratch/a.json")" = \
	  "$(json 'sorted(c["peer_cid"] for c in j)' <"$scratch/b.json")" ]
}

filters_select()
{
	local cid

	hold_connections 5
	cid=$(falcon -N "$A" -j conn show state established | json 'j[0]["cid"]')
	expect "$(lines cid "$cid")" -eq 1 "by cid"
	expect "$(lines dport 7001)" -eq 5 "by the peer's port"
	expect "$(lines dport 7002)" -eq 0 "by another port"
	expect "$(lines dst "$B4")" -eq 5 "by address"
	expect "$(lines dst 10.78.0.0/24)" -eq 5 "by prefix"
	expect "$(lines dst 10.79.0.0/24)" -eq 0 "by another prefix"
	expect "$(falcon -N "$A" conn show state setup | grep -c "$B4" || :)" \
		-eq 0 "by another state"
	expect "$(falcon -N "$A" -6 conn show | grep -c "$B4" || :)" -eq 0 \
		"by family"
}

# Many messages are needed for the answer: it is complete and without doubles.
large_dumps_are_complete()
{
	hold_connections 400
	falcon -N "$A" -j conn show state established >"$scratch/a.json"
	expect "$(json 'len(j)' <"$scratch/a.json")" -eq 400 "connections"
	expect "$(json 'len(set(c["cid"] for c in j))' <"$scratch/a.json")" \
		-eq 400 "distinct connections"
}

every_object_speaks_json()
{
	local object

	hold_connections 1
	for object in conn stat nic param; do
		falcon -N "$A" -j "$object" | json 'len(j)' >/dev/null
		falcon -N "$A" -j -p "$object" | json 'len(j)' >/dev/null
	done
}

killed_connection_tells_both_ends()
{
	in_b falcon_xfer -l -b 1G 2>"$scratch/receiver" &
	in_a falcon_xfer -b 1G -e 1000 "$B4" 2>"$scratch/sender" &
	within 20 test "$(lines)" -ge 0
	within 20 grep -q "$B4" <(sleep 1; falcon -N "$A" conn show)
	falcon -N "$A" conn kill dport 7000
	fails wait %2
	fails wait %1
	grep -q "Software caused connection abort" "$scratch/sender"
	# How the peer learns is the ULP's business; that it learns is not.
	[ -s "$scratch/receiver" ]
}

kill_all_leaves_none()
{
	hold_connections 20
	falcon -N "$A" conn kill all >/dev/null
	expect "$(lines)" -eq 0 "established connections"
}

as_nobody()
{
	in_a setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps -all --bounding-set -all "$@"
}

killing_needs_cap_net_admin()
{
	command -v setpriv >/dev/null || return $KSFT_SKIP
	hold_connections 1
	as_nobody falcon conn show | grep -q "$B4"
	fails as_nobody falcon conn kill all 2>"$scratch/why"
	grep -q CAP_NET_ADMIN "$scratch/why"
	expect "$(lines)" -eq 1 "connections left"
}

errors_say_what_is_wrong()
{
	fails falcon -N "$A" stat cid 1 2>"$scratch/why"
	grep -qi "no connection" "$scratch/why"
	fails falcon -N "$A" conn kill cid 1 2>"$scratch/why"
	grep -qi "no such connection" "$scratch/why"
	fails falcon -N "$A" conn show cid 0x1000000 2>"$scratch/why"
	[ -s "$scratch/why" ]
	fails falcon -N "$A" conn show no-such-filter 2>"$scratch/why"
	[ -s "$scratch/why" ]
	fails falcon -N no-such-namespace conn 2>"$scratch/why"
	[ -s "$scratch/why" ]
}

monitor_tells_the_life_of_a_connection()
{
	falcon -N "$A" -j monitor >"$scratch/events" &
	sleep 0.5
	transfer 4 -b 100K
	within 20 grep -q closed "$scratch/events"
	kill %1
	grep -q established "$scratch/events"
}

counters_of_a_connection_add_up()
{
	# No other connection lingers in these namespaces.
	drop_pair
	make_pair
	transfer 4 -b 1M
	expect "$(number "$scratch/conn.json" tx_bytes)" -ge 1048576 "bytes sent"
	expect "$(number "$scratch/conn.json" tx_bytes)" -le 1200000 "bytes sent"
	expect "$(counter "$B" in_pkts)" -ge 100 "packets received"
}

run_tests connections_are_shown_at_both_ends filters_select \
	large_dumps_are_complete every_object_speaks_json \
	killed_connection_tells_both_ends kill_all_leaves_none \
	killing_needs_cap_net_admin errors_say_what_is_wrong \
	monitor_tells_the_life_of_a_connection counters_of_a_connection_add_up
