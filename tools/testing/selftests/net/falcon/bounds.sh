#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What one host of the network may cost another: set-ups that it does not
# confirm, requests, connections, memory. Others are served meanwhile.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_cm falcon_many

# A second host, as far as $B can tell
OTHER4=10.78.0.3
OTHER6=fd78:0:0:1::3

# A pipe that this shell keeps open to the test's end keeps falcon_many there.
set_up() # NUMBER of connections that are accepted [BACKLOG]
{
	make_pair
	in_b sysctl -q net.core.somaxconn="${2:-4096}"
	ip -n "$A" addr add $OTHER4/24 dev e0
	rm -f "$scratch/hold"
	mkfifo "$scratch/hold"
	exec 9<>"$scratch/hold"
	ip netns exec "$B" falcon_many -l -P 7000 -n "$1" <"$scratch/hold" \
		>"$scratch/ready" 9<&- &
	within 30 listening
}

listening()
{
	in_a falcon_cm probe $B4 | grep -q cookie
}

# from ADDRESS: what $A sends to $B comes from there.
from()
{
	ip -n "$A" route replace $B4 dev e0 src "$1"
}

# What comes back for an INIT, and for the same with its cookie, twice
probe()
{
	in_a falcon_cm probe -k twice $B4 | xargs
}

accepted()
{
	case $(probe) in
	"accept "*" same") ;;
	*) return 1 ;;
	esac
}

ignored()
{
	[ "$(probe)" = "silence other" ]
}

connects() # NUMBER ESTABLISHED OTHER
{
	local got want="established $2 refused 0 timed_out 0 other $3"

	got=$(in_a falcon_cm connect -t 90 -n "$1" $B4)
	[ "$got" = "$want" ] && return
	echo "# $got, expected $want"
	return 1
}

half_open_of_one_peer_are_bounded()
{
	set_up 10
	in_b sysctl -q net.falcon.peer_half_open=3
	accepted
	accepted
	accepted
	ignored
	expect "$(counter "$B" cm_peer_half_open)" -ge 1 "requests over the bound"
	expect "$(counter "$B" cm_limit)" -eq 0 "requests over the bound of all"
	from $OTHER4
	connects 2 2 0
	drop_pair
}

# Who confirms none of its set-ups has half of a listener's backlog.
a_backlog_is_not_for_one_peer()
{
	set_up 10 6
	for _ in 1 2 3 4; do
		accepted
	done
	ignored
	expect "$(counter "$B" cm_backlog)" -ge 1 "requests over the bound"
	from $OTHER4
	[ "$(in_a falcon_cm connect -t 5 $B4)" = \
		"established 1 refused 0 timed_out 0 other 0" ]
	drop_pair
}

expired_in_b()
{
	[ "$(counter "$B" cm_timeout)" -eq 1 ]
}

half_open_that_expire_count_no_more()
{
	set_up 10
	in_b sysctl -q net.falcon.peer_half_open=1 net.falcon.cm_rto_ms=20 \
		net.falcon.cm_retries=5
	accepted
	within 60 expired_in_b
	connects 1 1 0
	connects 1 1 0
	drop_pair
}

# Those that were dropped ask again, so that all get there in the end.
requests_of_one_peer_have_a_rate()
{
	set_up 20
	both sysctl -q net.falcon.cm_rto_ms=50 net.falcon.cm_retries=20
	in_b sysctl -q net.falcon.peer_rate=5
	connects 20 20 0
	expect "$(counter "$B" cm_peer_rate)" -ge 1 "requests too many"
	drop_pair
}

# An address that is only claimed costs its owner nothing.
forged_requests_spend_nothing_of_their_address()
{
	set_up 20
	in_b sysctl -q net.falcon.peer_rate=1000
	in_a falcon_cm flood -k forged -n 5000 -f $A4 -o $B4
	connects 20 20 0
	expect "$(counter "$B" cm_bad_cookie)" -ge 2000 "forged cookies"
	expect "$(counter "$B" cm_peer_rate)" -eq 0 "requests too many"
	drop_pair
}

connections_of_one_peer_are_bounded()
{
	set_up 20
	in_b sysctl -q net.falcon.peer_conns=5
	connects 8 5 3
	expect "$(counter "$B" cm_peer_conns)" -eq 3 "requests refused"
	from $OTHER4
	connects 5 5 0
	drop_pair
}

is_rekeyed()
{
	[ "$(counter "$A" cm_rekeyed)" -eq 1 ]
}

has_spent()
{
	[ "$(counter "$B" cm_peer_rate)" -ge 100 ]
}

# Whoever asks for connections spends nothing that those of others live by.
new_keys_cost_nothing_of_the_account_of_requests()
{
	local sender spender

	SECURITY=opportunistic set_up 1
	touch "$scratch/slow"
	transfer 4 -P 7001 -b 8M -m 4K -e 20000 -g "$scratch/slow" &
	sender=$!
	within 30 established
	# One request a second; new keys are sent three times in that time.
	in_b sysctl -q net.falcon.peer_rate=1
	in_a sysctl -q net.falcon.cm_rto_ms=150 net.falcon.cm_retries=2
	in_a falcon_cm probe -k spend -t 10 $B4 >/dev/null &
	spender=$!
	within 30 has_spent
	in_a falcon key rotate
	within 10 is_rekeyed
	expect "$(counter "$A" cm_rekey_failed)" -eq 0 "keys given up"
	wait $spender
	rm "$scratch/slow"
	wait $sender
	drop_pair
}

# Whoever has one address has 64 bits of them.
addresses_of_one_ipv6_network_are_one_peer()
{
	local i

	set_up 20
	in_b sysctl -q net.falcon.peer_conns=2
	for i in 11 12; do
		ip -n "$A" -6 addr add fd78::$i/64 dev e0
		ip -n "$A" -6 route replace $B6 dev e0 src fd78::$i
		in_a falcon_cm connect $B6 | grep -q "established 1 "
	done
	ip -n "$A" -6 addr add fd78::13/64 dev e0
	ip -n "$A" -6 route replace $B6 dev e0 src fd78::13
	in_a falcon_cm connect $B6 | grep -q "other 1"
	expect "$(counter "$B" cm_peer_conns)" -eq 1 "requests refused"
	ip -n "$A" -6 addr add $OTHER6/64 dev e0
	ip -n "$B" -6 route add fd78:0:0:1::/64 dev e0
	ip -n "$A" -6 route replace $B6 dev e0 src $OTHER6
	in_a falcon_cm connect $B6 | grep -q "established 1 "
	drop_pair
}

# The account of a peer that has gone makes room.
peers_are_bounded()
{
	set_up 10
	in_b sysctl -q net.falcon.max_peers=1 net.falcon.cm_rto_ms=20 \
		net.falcon.cm_retries=5
	accepted
	from $OTHER4
	ignored
	expect "$(counter "$B" cm_peers)" -ge 1 "peers too many"
	within 60 expired_in_b
	within 60 accepted
	drop_pair
}

# rx_no_resource of all connections of $B
refused_for_memory()
{
	in_b falcon -j -s conn | grep -oE '"rx_no_resource": *[0-9]+' |
		awk -F: '{ sum += $2 } END { print sum + 0 }'
}

memory_refused()
{
	[ "$(refused_for_memory)" -gt 0 ]
}

# Two transfers of one peer, to readers that sleep: what their buffers do not
# take is held, as far as the peer may. Both arrive whole. The arguments say who
# connects: "", an address, or the other way about.
a_peer_fills_memory() # HOST-OF-SENDER HOST-OF-READER
{
	local port

	make_pair
	in_b sysctl -q net.falcon.peer_rx_pkts=64 net.falcon.peer_rx_bytes=65536
	for port in 7000 7001; do
		in_b falcon_xfer -l -P $port -b 2M -R 8192 -w 8000 ${2:+"$2"} &
		in_a falcon_xfer -P $port -b 2M ${1:+"$1"} >"$scratch/$port" &
	done
	within 60 memory_refused
	echo "# $(refused_for_memory) requests refused for want of memory"
	wait %1
	wait %2
	wait %3
	wait %4
	drop_pair
}

memory_of_one_peer_is_bounded()
{
	a_peer_fills_memory $B4 ""
}

memory_of_one_peer_that_was_asked_is_bounded()
{
	a_peer_fills_memory "" $A4
}

# skbs that there are, in the whole machine
skbs()
{
	awk '$1 == "skbuff_head_cache" { print $2 }' /proc/slabinfo
}

# Not those that were freed and are kept, to see who uses them
can_count_skbs()
{
	case $(uname -r) in
	*debug*) echo "# a checker keeps what was freed"; return 1 ;;
	esac
}

reassembled()
{
	in_b cat /proc/net/snmp |
		awk '$1 == "Ip:" && $2 ~ /^[0-9]/ { print $16 }'
}

has_joined() # PACKETS
{
	[ "$(reassembled)" -ge "$1" ]
}

# The path becomes narrow, and what waits for a reader has come in fragments of 48
# bytes: held is what was charged, not an skb for each of them.
what_came_in_fragments_is_held_in_one_piece()
{
	local before more sender

	can_count_skbs || return $KSFT_SKIP
	make_pair
	in_b falcon_xfer -l -b 400K -R 4M -w 20000 &
	in_a falcon_xfer -b 400K -m 1000 -e 20000 -S 4M $B4 >/dev/null &
	sender=$!
	within 30 established
	before=$(skbs)
	ip -n "$A" route replace $B4 dev e0 mtu lock 68
	within 60 has_joined 200
	more=$(($(skbs) - before))
	echo "# $(reassembled) packets joined, $more skbs more"
	expect $more -le $((1000 + 2 * $(reassembled))) "skbs more"
	ip -n "$A" route del $B4
	wait $sender
	wait
	drop_pair
}

skbs_are_below() # NUMBER
{
	[ "$(skbs)" -lt "$1" ]
}

aborted_in_b() # CONNECTIONS
{
	[ "$(counter "$B" conn_aborted)" -ge "$1" ]
}

# Connections that nobody accepts are filled and reset: nothing of them stays. It
# takes five seconds until the RESET goes out of band.
what_a_reset_connection_has_sent_is_dropped()
{
	local before more

	can_count_skbs || return $KSFT_SKIP
	make_pair 1500
	per_packet
	rm -f "$scratch/hold"
	mkfifo "$scratch/hold"
	exec 9<>"$scratch/hold"
	in_b python3 -c '
import socket, sys

s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 252)
s.bind(("", 7000))
s.listen(100)
sys.stdin.read()
' <"$scratch/hold" 9<&- &
	within 30 listening
	before=$(skbs)
	in_a python3 -c '
import socket, struct, sys, time

socks = []
for i in range(20):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 252)
    s.connect((sys.argv[1], 7000))
    s.setblocking(False)
    socks.append(s)
    try:
        while True:
            s.send(bytes(1400))
    except BlockingIOError:
        pass
time.sleep(2)
for s in socks:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()
' $B4
	more=$(($(skbs) - before))
	expect $more -ge 2000 "skbs of connections that live"
	within 60 aborted_in_b 20
	within 30 skbs_are_below $((before + 1000))
	drop_pair
}

MANY=400

# have_moved TIMES: all connections of that namespace, at both ends
have_moved()
{
	[ "$(counter "$A-many" cm_rekeyed)" -ge $((2 * MANY * $1)) ]
}

# A namespace with very many connections to itself
many_connections()
{
	ip netns add "$A-many"
	ip -n "$A-many" link set lo up
	rm -f "$scratch/many"
	mkfifo "$scratch/many"
	exec 8<>"$scratch/many"
	ip netns exec "$A-many" falcon_many -l -P 7000 -n $MANY \
		<"$scratch/many" >"$scratch/accepted" 8<&- &
	sleep 1
	ip netns exec "$A-many" falcon_many -P 7000 -n $MANY 127.0.0.1 \
		<"$scratch/many" >"$scratch/connected" 8<&- &
	within 120 grep -q ready "$scratch/connected"
}

milliseconds()
{
	echo $(($(date +%s%N) / 1000000))
}

# What renews the keys of very many connections holds up no other namespace: the
# slowest set-up meanwhile takes a part of the time that all of it takes.
others_are_set_up_while_a_namespace_renews_its_keys()
{
	local start took slowest

	SECURITY=opportunistic set_up 200
	many_connections
	start=$(milliseconds)
	falcon -N "$A-many" key rotate
	in_a falcon_cm time -n 90 $B4 >"$scratch/time"
	within 60 have_moved 1
	took=$(($(milliseconds) - start))
	slowest=$(awk '{ print int($4 / 1000) }' "$scratch/time")
	echo "# $((2 * MANY)) new keys in $took ms, a set-up in $slowest ms at most"
	expect "$slowest" -lt $((took / 3)) "ms of the slowest set-up"
	ip netns del "$A-many"
	drop_pair
}

[ $# -gt 0 ] || set -- \
	half_open_of_one_peer_are_bounded \
	a_backlog_is_not_for_one_peer \
	half_open_that_expire_count_no_more \
	requests_of_one_peer_have_a_rate \
	forged_requests_spend_nothing_of_their_address \
	new_keys_cost_nothing_of_the_account_of_requests \
	connections_of_one_peer_are_bounded \
	addresses_of_one_ipv6_network_are_one_peer \
	peers_are_bounded \
	memory_of_one_peer_is_bounded \
	memory_of_one_peer_that_was_asked_is_bounded \
	what_came_in_fragments_is_held_in_one_piece \
	what_a_reset_connection_has_sent_is_dropped \
	others_are_set_up_while_a_namespace_renews_its_keys
run_tests "$@"
