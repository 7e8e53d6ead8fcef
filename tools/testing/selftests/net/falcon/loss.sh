#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whatever the wire does to packets, every byte arrives, once and in place:
# loss, duplicates, bit errors, outages.  Loss is repaired by RACK and TLP, not
# by waiting for the retransmission time-out.

. "$(dirname "$0")/lib.sh"

need_falcon
make_pair 1500
per_packet

# The retransmissions of the last transfer repair what the wire took without a
# storm: a machine that stutters adds some, but not many for each packet lost.
check_repair()
{
	local lost all again rto

	lost=$(lost_in "$A")
	all=$(number "$scratch/sent.json" tx_pkts)
	again=$(number "$scratch/sent.json" retx)
	rto=$(number "$scratch/conn.json" retx_rto)
	echo "# $all packets, $lost lost, $again sent again, $rto by time-out"
	expect "$lost" -gt 0 "packets lost on the wire"
	expect "$again" -ge $((lost / 2)) "retransmissions"
	expect "$again" -le $((lost * 3 + all / 4)) "retransmissions"
	expect "$rto" -le $((lost * 2 + all / 5)) "retransmissions by time-out"
}

one_percent_loss_stream()
{
	faults delay 1ms loss 1%
	transfer 4 -b 8M
	check_repair
}

one_percent_loss_seqpacket_ipv6()
{
	faults delay 1ms loss 1%
	transfer 6 -t seqpacket -b 8M
	check_repair
}

ten_percent_loss_stream()
{
	faults delay 1ms loss 10%
	transfer 4 -b 2M
	check_repair
}

ten_percent_loss_seqpacket()
{
	faults delay 1ms loss 10%
	transfer 4 -t seqpacket -b 2M -m 3000
	check_repair
}

duplicates_are_delivered_once()
{
	local before sent

	before=$(counter "$B" in_pkts)
	faults delay 1ms duplicate 30%
	transfer 4 -b 4M
	sent=$(number "$scratch/sent.json" tx_pkts)
	expect $(($(counter "$B" in_pkts) - before)) -gt $((sent * 5 / 4)) \
		"packets received of $sent sent"
}

# spec: 9.2.2.1-2
corrupted_packets_are_refused()
{
	local before

	before=$(counter "$B" in_bad_csum)
	faults delay 1ms corrupt 2%
	transfer 4 -b 4M
	expect "$(counter "$B" in_bad_csum)" -gt "$before" "checksum errors"
}

everything_at_once()
{
	faults delay 1ms 200us loss 2% duplicate 2% corrupt 1%
	transfer 6 -t seqpacket -b 2M -m 20000
	transfer 4 -b 2M
}

bursts_of_loss()
{
	faults delay 1ms loss gemodel 1% 20% 100% 0.1%
	transfer 4 -b 4M
}

# A receiver whose acknowledgements get lost is no dead peer.
lost_acknowledgements()
{
	faults none
	tc -n "$B" qdisc add dev e0 root netem limit 10000 delay 1ms loss 20%
	transfer 4 -b 4M
}

outage_shorter_than_the_time_budget_is_survived()
{
	faults delay 1ms
	(
		sleep 1
		faults loss 100%
		sleep 2
		faults delay 1ms
	) &
	transfer 4 -b 4M -e 40000
}

# Of this connection: those of the tests before may still linger.
# data_has_arrived PORT: whatever lingers of other tests has other ports.
data_has_arrived()
{
	[ "$(in_b falcon -j conn show state established sport "$1" |
		tr ',' '\n' | sed -n 's/.*"rx_bytes": *//p')" -gt 0 ]
}

outage_longer_than_the_time_budget_ends_the_connection()
{
	local port=$((7100 + RANDOM % 800)) start sender

	both sysctl -q net.falcon.user_timeout_ms=2000
	faults delay 1ms
	in_b falcon_xfer -l -P $port -b 64M 2>"$scratch/receiver" &
	in_a falcon_xfer -P $port -b 64M -e 100000 "$B4" 2>"$scratch/sender" &
	sender=$!
	# A set-up that is cut off has another patience, of half a minute.
	within 60 data_has_arrived $port
	faults loss 100%
	start=$SECONDS
	fails wait $sender
	expect $((SECONDS - start)) -le 20 "seconds until the sender knows"
	grep -q "Connection timed out" "$scratch/sender"
	both sysctl -q net.falcon.user_timeout_ms=60000
	faults none
}

# A packet that is given up ends the connection at both ends, and no byte behind
# it is read.
nothing_behind_a_hole_is_delivered()
{
	local port=$((7100 + RANDOM % 800))

	both sysctl -q net.falcon.max_attempts=1 net.falcon.loss_policy=0
	faults delay 1ms loss 30%
	in_b falcon_xfer -l -P $port -b 4M 2>"$scratch/receiver" &
	fails in_a falcon_xfer -P $port -b 4M -e 100000 "$B4" 2>"$scratch/sender"
	faults none
	# Nobody tells the receiver: its machine cannot be reached. It reads on.
	sleep 2
	both sysctl -q net.falcon.max_attempts=100 net.falcon.loss_policy=12
	sed 's/^/# /' "$scratch/sender" "$scratch/receiver"
	fails grep -E "byte [0-9]+ is" "$scratch/receiver"
}

# silent_peer [shut]: a reader, of a half-closed connection if told so, whose peer
# becomes unreachable when nothing is on the way
silent_peer()
{
	local port=$((7100 + RANDOM % 800)) reader

	faults none
	in_b python3 - "$B4" $port <<-'EOF' &
		import socket, sys, time
		s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 252)
		s.bind((sys.argv[1], int(sys.argv[2])))
		s.listen()
		c = s.accept()[0]
		c.send(b"x")
		time.sleep(1000)
	EOF
	in_a python3 - "$B4" $port "$scratch/asks" "${1-}" >"$scratch/reader" <<-'EOF' &
		import socket, sys, time
		s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 252)
		s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
		for name in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL):
		    s.setsockopt(socket.IPPROTO_TCP, name, 1)
		while s.connect_ex((sys.argv[1], int(sys.argv[2]))):
		    time.sleep(0.2)
		s.recv(1)
		if sys.argv[4]:
		    s.shutdown(socket.SHUT_WR)
		open(sys.argv[3], "w").close()
		try:
		    print("read", s.recv(1))
		except OSError as e:
		    print(e)
	EOF
	reader=$!
	within 60 test -e "$scratch/asks"
	sleep 3		# questions that are answered
	faults loss 100%
	wait $reader
	rm "$scratch/asks"
	end_jobs
	faults none
	sed 's/^/# /' "$scratch/reader"
	grep -q "Connection timed out" "$scratch/reader"
}

keepalive_finds_a_peer_that_is_gone()
{
	both sysctl -q net.falcon.user_timeout_ms=2000
	silent_peer
	both sysctl -q net.falcon.user_timeout_ms=60000
}

keepalive_goes_on_when_half_closed()
{
	both sysctl -q net.falcon.user_timeout_ms=2000
	silent_peer shut
	both sysctl -q net.falcon.user_timeout_ms=60000
}

run_tests one_percent_loss_stream one_percent_loss_seqpacket_ipv6 \
	ten_percent_loss_stream ten_percent_loss_seqpacket \
	duplicates_are_delivered_once corrupted_packets_are_refused \
	everything_at_once bursts_of_loss lost_acknowledgements \
	outage_shorter_than_the_time_budget_is_survived \
	outage_longer_than_the_time_budget_ends_the_connection \
	keepalive_finds_a_peer_that_is_gone \
	keepalive_goes_on_when_half_closed \
	nothing_behind_a_hole_is_delivered
