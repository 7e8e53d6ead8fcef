#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The connection manager: how a set-up ends, well or not, when messages are
# lost, doubled, late, malformed or forged.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_cm falcon_many

# Short, so that giving up takes a second: 20 + 40 + ... + 640 ms.
impatient()
{
	both sysctl -q net.falcon.cm_rto_ms=20 net.falcon.cm_retries=5
}

# listener NUMBER [NAMESPACE]: accepts that many and holds them. The job is the
# program itself, not a shell around it, so that it ends with the test.
listener()
{
	ip netns exec "${2:-$B}" falcon_many -l -P 7000 -n "$1" \
		<"$scratch/hold" >"$scratch/ready${2:+-a}" 9<&- &
}

# A pipe that this shell keeps open to the test's end keeps falcon_many there.
hold()
{
	rm -f "$scratch/hold"
	mkfifo "$scratch/hold"
	exec 9<>"$scratch/hold"
}

listening()
{
	[ "$(in_a falcon_cm probe $B4 | cut -d' ' -f1)" = cookie ]
}

# probe KIND: what the peer answers
probe()
{
	in_a falcon_cm probe -k "$1" $B4
}

is_answer()
{
	[ "$2" = "$3" ] && return
	echo "# $1: $2, expected $3"
	return 1
}

refused_when_nobody_listens()
{
	make_pair
	is_answer IPv4 "$(in_a falcon_cm connect $B4)" \
		"established 0 refused 1 timed_out 0 other 0"
	is_answer IPv6 "$(in_a falcon_cm connect $B6)" \
		"established 0 refused 1 timed_out 0 other 0"
	expect "$(counter "$A" cm_refused_in)" -eq 2 "refusals received"
	expect "$(counter "$B" cm_refused_out)" -eq 2 "refusals sent"
	drop_pair
}

refused_by_icmp_when_the_port_is_closed()
{
	make_pair
	in_b sysctl -q net.falcon.cm_port=4796
	in_a sysctl -q net.falcon.cm_rto_ms=10000
	is_answer IPv4 "$(in_a falcon_cm connect -t 8 $B4)" \
		"established 0 refused 1 timed_out 0 other 0"
	is_answer IPv6 "$(in_a falcon_cm connect -t 8 $B6)" \
		"established 0 refused 1 timed_out 0 other 0"
	expect "$(counter "$B" cm_in)" -eq 0 "messages at the closed port"
	drop_pair
}

times_out_in_silence()
{
	make_pair
	impatient
	tc -n "$B" qdisc add dev e0 root netem loss 100%
	is_answer connect "$(in_a falcon_cm connect -t 10 $B4)" \
		"established 0 refused 0 timed_out 1 other 0"
	expect "$(counter "$A" cm_timeout)" -eq 1 "set-ups timed out"
	expect "$(counter "$A" cm_out)" -eq 6 "transmissions"
	drop_pair
}

the_port_can_be_changed()
{
	make_pair
	hold
	both sysctl -q net.falcon.cm_port=5000
	listener 1
	within 30 in_a falcon_cm probe -p 5000 $B4
	is_answer connect "$(in_a falcon_cm connect $B4)" \
		"established 1 refused 0 timed_out 0 other 0"
	fails in_b sysctl -q net.falcon.cm_port=1000 2>/dev/null
	expect "$(in_b sysctl -n net.falcon.cm_port)" -eq 5000 "port"
	is_answer probe "$(in_a falcon_cm probe -p 5000 -s 1 $B4)" \
		"refuse 24 1 0000"
	drop_pair
}

each_bad_request_has_its_reason()
{
	make_pair
	hold
	listener 1
	within 30 listening
	is_answer init "$(probe init)" "cookie 36"
	is_answer version "$(probe version)" "refuse 24 2 0001"
	is_answer unknown "$(probe unknown)" "refuse 24 3 8077"
	is_answer optional "$(probe optional)" "cookie 36"
	is_answer missing "$(probe missing)" "refuse 24 4 800b"
	is_answer value "$(probe value)" "refuse 24 4 8007"
	is_answer short "$(probe short)" silence
	is_answer order "$(probe order)" silence
	is_answer service "$(in_a falcon_cm probe -s 1 $B4)" "refuse 24 1 0000"
	# A listener for streams is none for messages.
	is_answer service "$(in_a falcon_cm probe -s $((7000 + 65536)) $B4)" \
		"refuse 24 1 0000"
	drop_pair
}

a_cookie_is_for_one_request()
{
	make_pair
	hold
	listener 1
	within 30 listening
	is_answer forged "$(probe forged)" "cookie 36"
	is_answer moved "$(probe moved)" "cookie 36"
	expect "$(counter "$B" cm_bad_cookie)" -eq 2 "bad cookies"
	expect "$(in_b falcon conn | grep -c .)" -le 1 "connections"
	drop_pair
}

# Any process has a port, and is not its host's connection manager.
a_request_comes_from_the_port_of_the_kernel()
{
	make_pair
	hold
	listener 1
	within 30 listening
	is_answer port "$(in_a setpriv --reuid=65534 --clear-groups \
		falcon_cm probe -k port $B4)" silence
	expect "$(counter "$B" cm_bad_port)" -eq 1 "requests from elsewhere"
	is_answer init "$(probe init)" "cookie 36"
	drop_pair
}

the_same_request_gets_the_same_accept()
{
	make_pair
	hold
	listener 1
	within 30 listening
	is_answer twice "$(probe twice | cut -d' ' -f1 | xargs)" "accept same"
	drop_pair
}

timed_out_in_b()
{
	[ "$(counter "$B" cm_timeout)" -eq 1 ]
}

a_half_open_connection_expires()
{
	make_pair
	impatient
	hold
	listener 1
	within 30 listening
	probe twice >/dev/null
	within 30 timed_out_in_b
	# What was reserved for it is free again.
	is_answer connect "$(in_a falcon_cm connect $B4)" \
		"established 1 refused 0 timed_out 0 other 0"
	drop_pair
}

half_open_connections_are_bounded()
{
	make_pair
	hold
	in_b sysctl -q net.falcon.max_half_open=3
	listener 10
	within 30 listening
	for _ in 1 2 3; do
		is_answer accept "$(probe twice | cut -d' ' -f1 | xargs)" \
			"accept same"
	done
	is_answer "one too many" "$(probe twice | xargs)" "silence other"
	expect "$(counter "$B" cm_limit)" -ge 1 "requests over the bound"
	drop_pair
}

the_peer_hears_of_a_set_up_that_expires()
{
	make_pair
	impatient
	hold
	listener 1
	within 30 listening
	in_a falcon_cm probe -k wait $B4 >"$scratch/wait"
	# EXPIRED, with the initiator's own identity as proof
	is_answer "after ACCEPT" "$(sed 1d "$scratch/wait")" "reset 40 11 0000"
	drop_pair
}

connections_in_b()
{
	in_b falcon -j conn | grep -c '"cid"' || :
}

counter_is() # NAMESPACE NAME NUMBER
{
	[ "$(counter "$1" "$2")" -eq "$3" ]
}

no_connection_in_b()
{
	[ "$(connections_in_b)" -eq 0 ]
}

# INIT with cookie arrives 1.2 s after the call, ACCEPT would 0.4 s later: the
# socket is closed in between.
a_closed_socket_cancels_its_set_up()
{
	local before

	make_pair
	both sysctl -q net.falcon.cm_rto_ms=10000
	hold
	listener 1
	within 30 listening
	before=$(counter "$B" cm_in)
	faults delay 400ms
	is_answer connect "$(in_a falcon_cm connect -t 1 $B4)" \
		"established 0 refused 0 timed_out 0 other 1"
	# INIT twice, RESET
	within 30 counter_is "$B" cm_in $((before + 3))
	within 30 no_connection_in_b
	expect "$(counter "$B" cm_established)" -eq 0 "connections"
	drop_pair
}

# spec: 8.4.3.2-1
both_connect_to_each_other()
{
	make_pair
	hold
	listener 20
	listener 20 "$A"
	within 30 listening
	in_b falcon_cm connect -n 20 $A4 >"$scratch/b" &
	is_answer "A to B" "$(in_a falcon_cm connect -n 20 $B4)" \
		"established 20 refused 0 timed_out 0 other 0"
	within 60 grep -q "established 20 " "$scratch/b"
	drop_pair
}

# The kernel gives it out some time after the carrier is there.
link_local_address()
{
	ip -n "$B" -6 -o addr show dev e0 scope link |
		sed 's/.*inet6 \([^/]*\).*/\1/' | grep .
}

to_a_link_local_address()
{
	local addr

	make_pair
	hold
	listener 2
	within 30 listening
	within 10 link_local_address
	addr=$(link_local_address)
	is_answer connect "$(in_a falcon_cm connect -n 2 "$addr%e0")" \
		"established 2 refused 0 timed_out 0 other 0"
	within 30 grep -q ready "$scratch/ready"
	drop_pair
}

into_a_vrf()
{
	make_pair
	modprobe -q vrf || return $KSFT_SKIP
	ip -n "$B" link add red type vrf table 10
	ip -n "$B" link set red up
	ip -n "$B" link set e0 master red
	ip -n "$B" addr replace $B6/64 dev e0
	in_b sysctl -q net.ipv4.udp_l3mdev_accept=1
	hold
	listener 4
	within 30 listening
	is_answer IPv4 "$(in_a falcon_cm connect -n 2 $B4)" \
		"established 2 refused 0 timed_out 0 other 0"
	is_answer IPv6 "$(in_a falcon_cm connect -n 2 $B6)" \
		"established 2 refused 0 timed_out 0 other 0"
	within 30 grep -q ready "$scratch/ready"
	drop_pair
}

module_is_idle()
{
	[ "$(awk '$1 == "falcon" { print $3 }' /proc/modules)" -eq 0 ]
}

# When the sockets close, 100 set-ups are half open in B, their ACCEPTs on the
# way, and the RESETs that would end them leave too late.
namespaces_go_in_the_middle_of_set_ups()
{
	local server client

	for _ in 1 2 3; do
		make_pair
		hold
		listener 100
		server=$!
		within 30 listening
		faults delay 400ms
		ip netns exec "$A" falcon_cm connect -n 100 $B4 &
		client=$!
		sleep 1.4
		kill -9 $server $client
		drop_pair
	done
	within 60 module_is_idle
}

hundreds_at_once()
{
	make_pair
	hold
	listener 300
	within 30 listening
	is_answer connect "$(in_a falcon_cm connect -n 300 -t 60 $B4)" \
		"established 300 refused 0 timed_out 0 other 0"
	within 60 grep -q ready "$scratch/ready"
	drop_pair
}

under() # NETEM...
{
	make_pair
	both sysctl -q net.falcon.cm_rto_ms=50 net.falcon.cm_retries=20
	hold
	listener 50
	within 30 listening
	faults "$@"
	is_answer connect "$(in_a falcon_cm connect -n 50 -t 90 $B4)" \
		"established 50 refused 0 timed_out 0 other 0"
	within 90 grep -q ready "$scratch/ready"
	faults none
	drop_pair
}

messages_lost()
{
	under loss 20%
}

messages_doubled()
{
	under duplicate 100%
}

messages_late_and_out_of_order()
{
	under delay 20ms 20ms
}

a_bit_wrong()
{
	under corrupt 20%
}

[ $# -gt 0 ] || set -- \
	refused_when_nobody_listens \
	refused_by_icmp_when_the_port_is_closed \
	times_out_in_silence \
	the_port_can_be_changed \
	each_bad_request_has_its_reason \
	a_cookie_is_for_one_request \
	a_request_comes_from_the_port_of_the_kernel \
	the_same_request_gets_the_same_accept \
	a_half_open_connection_expires \
	half_open_connections_are_bounded \
	the_peer_hears_of_a_set_up_that_expires \
	a_closed_socket_cancels_its_set_up \
	both_connect_to_each_other \
	to_a_link_local_address \
	into_a_vrf \
	namespaces_go_in_the_middle_of_set_ups \
	hundreds_at_once \
	messages_lost \
	messages_doubled \
	messages_late_and_out_of_order \
	a_bit_wrong
run_tests "$@"
