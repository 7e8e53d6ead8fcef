#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Falcon on e2100sim: every op of the table does something that shows, and so
# does every fault of the wire.

. "$(dirname "$0")/lib.sh"
need_e2100

nic_of_connection()
{
	grep -oE '"nic": *"[a-z0-9]*"' "$scratch/conn.json" | head -n 1 |
		sed 's/.*: *//; s/"//g'
}

nic_is_shown()
{
	make_nics direct
	falcon -N "$A" nic show dev e0 >"$scratch/nic"
	grep -q "^e2100sim dev e0 users 0" "$scratch/nic"
	grep -q "offloads stamp conn xmit level key arrival" "$scratch/nic"
	falcon -N "$A" -j nic show dev e0 | grep -q '"ifname": *"e0"'
}

connections_use_the_nic()
{
	make_nics direct
	transfer 4 -b 2M
	[ "$(nic_of_connection)" = e2100sim ]
	transfer 6 -b 2M
	expect "$(nic_stat "$A" tx_falcon_trains)" -gt 10 "trains sent"
	expect "$(nic_stat "$B" rx_falcon)" -gt 10 "trains received"
	expect "$(nic_stat "$B" rx_stamped)" -eq "$(nic_stat "$B" rx_falcon)" \
		"stamped"
	expect "$(nic_stat "$A" tx_falcon_moved)" -eq 0 "packets left behind"
}

over_a_lower_netdev()
{
	make_nics "$(lower_type)" 2
	transfer 4 -b 2M
	[ "$(nic_of_connection)" = e2100sim ]
	transfer 6 -t seqpacket -b 2M
}

contexts_come_and_go()
{
	make_nics direct
	both sysctl -q net.falcon.linger_ms=100
	transfer 4 -b 100K
	expect "$(nic_stat "$A" ctx_added)" -eq 1 "contexts added"
	within 20 no_contexts "$NIC_A"
	expect "$(nic_stat "$A" ctx_deleted)" -eq 1 "contexts deleted"
	[ "$(users "$A")" = 0 ]
}

# A port without a place for a context: the connection uses all else of it, and
# the next one finds a place again.
contexts_that_are_refused_are_done_without()
{
	make_nics "$(lower_type)"
	both sysctl -q net.falcon.linger_ms=100
	param "$NIC_A" max_contexts 0
	transfer 4 -b 2M
	[ "$(nic_of_connection)" = e2100sim ]
	expect "$(nic_stat "$A" ctx_refused)" -ge 1 "contexts refused"
	expect "$(nic_stat "$A" ctx_added)" -eq 0 "contexts added"
	expect "$(nic_stat "$A" tx_falcon_trains)" -gt 10 "trains sent"
	expect "$(nic_stat "$A" tx_falcon_trains)" -le "$(nic_stat "$A" ctx_none)" \
		"looked up in vain"
	param "$NIC_A" max_contexts 1
	transfer 6 -b 100K
	expect "$(nic_stat "$A" ctx_added)" -eq 1 "contexts added"
	within 20 no_contexts "$NIC_A"
}

# A ring that is shorter than the window of a flow: what finds no place in it is
# lost as if on the wire, and comes again.
a_full_ring_loses_what_comes_again()
{
	make_nics direct
	both sysctl -q net.falcon.train_pkts=1
	ip -n "$A" link set e0 down
	in_a ethtool -G e0 tx 8
	ip -n "$A" link set e0 mtu 1500 up
	transfer 4 -b 1M -r 1M
	echo "# $(nic_stat "$A" tx_ring_full) found no place"
	expect "$(nic_stat "$A" tx_ring_full)" -gt 10 "packets without a place"
	expect "$(number "$scratch/sent.json" retx)" -gt 10 "retransmissions"
}

# lost_in_the_buffer: of 100 packets that come faster than the bus takes them
lost_in_the_buffer()
{
	local dropped full

	in_a ping -q -c 1 "$B4" >/dev/null
	param "$NIC_B" pcie_mbps 1
	in_a python3 - <<-END
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		for _ in range(100):
		    s.sendto(bytes(1400), ("$B4", 7900))
	END
	full=$(nic_stat "$B" rx_buffer_full)
	dropped=$(in_b cat /sys/class/net/e0/statistics/rx_dropped)
	echo "# $full lost, $dropped by the statistics of the netdev"
	expect "$full" -ge 10 "lost in the buffer"
	expect "$dropped" -eq "$full" "of them in the statistics"
}

a_full_buffer_loses_what_arrives()
{
	make_nics direct
	in_b ethtool -G e0 rx 4
	lost_in_the_buffer
	make_nics direct
	param "$NIC_B" rx_buffer_kb 4
	lost_in_the_buffer
}

# A link of 20 Mb/s: whatever the windows do, the wire carries no more.
link_rate_is_kept()
{
	local mbytes

	make_nics "$(lower_type)"
	param "$NIC_A" link_mbps 20
	transfer 4 -b 2M
	mbytes=$(number "$scratch/sent.json" mbytes_per_s)
	echo "# $mbytes MB/s of 2.5"
	awk -v m="$mbytes" 'BEGIN { exit !(m < 2.5) }'
	expect "$(nic_stat "$A" tx_ring_full)" -eq 0 "ring full"
}

# falls FILE: how often ncwnd fell, and the most it fell by, in per cent
falls()
{
	sed -n 's/.* ncwnd=\([0-9]*\)->\([0-9]*\) .*/\1 \2/p' "$1" |
		awk '$2 < $1 { n++; f = 100 - $2 * 100 / $1; if (f > most) most = f }
			END { print n + 0, int(most) }'
}

# A bus that is slower than the link fills the buffer; its level closes ncwnd,
# which nothing else does, before anything is lost.
rx_level_closes_ncwnd()
{
	local events=/sys/kernel/tracing/events/falcon/falcon_cc/enable n most

	make_nics "$(lower_type)"
	sysctl -q net.falcon.swift.init_ncwnd=100 \
		net.falcon.swift.init_fcwnd=100
	both sysctl -q net.falcon.min_rto_us=2000000
	param "$NIC_B" pcie_mbps 8
	param "$NIC_B" rx_buffer_kb 1024
	[ -e "$events" ] || mount -t tracefs none /sys/kernel/tracing
	echo >/sys/kernel/tracing/trace
	echo 1 >"$events"
	transfer 4 -b 6M -S 4M -R 4M
	echo 0 >"$events"
	read -r n most < <(falls /sys/kernel/tracing/trace)
	echo "# ncwnd fell $n times, by $most % at most"
	expect "$n" -ge 1 "falls of ncwnd"
	expect "$(nic_stat "$B" rx_buffer_full)" -eq 0 "lost in the buffer"
}

# fault NAME: packets of $A suffer it, and what arrives at $B is in $scratch/wire.
fault()
{
	make_nics "$(lower_type)"
	knob "$NIC_A" port0/seed 42
	knob "$NIC_A" "port0/$1_ppm" 50000
	sniff "$B" e0 in "$scratch/wire"
	transfer 4 -b 2M
	sniffed
	echo "# $(nic_stat "$A" "fault_$1") packets of $(wc -l <"$scratch/wire")"
	expect "$(nic_stat "$A" "fault_$1")" -gt 3 "packets that suffered it"
}

wire_drops()
{
	fault drop
	expect "$(number "$scratch/sent.json" retx)" -gt 0 "retransmissions"
}

# Behind one that left later: its IV says so.
wire_reorders()
{
	fault reorder
	expect "$(awk '{ iv = substr($1, 17); n += iv < last; last = iv }
			END { print n + 0 }' "$scratch/wire")" -gt 3 "out of order"
}

wire_duplicates()
{
	fault duplicate
	expect "$(twice "$scratch/wire")" -gt 3 "packets twice on the wire"
	expect "$(number "$scratch/peer.json" rx_dup)" -gt 3 "received again"
}

wire_corrupts()
{
	fault corrupt
	expect "$(counter "$B" in_bad_csum)" -gt 3 "with a wrong checksum"
}

wire_delays()
{
	local rtt

	make_nics direct
	knob "$NIC_A" port0/delay_us 20000
	rtt=$(in_a ping -c 5 -i 0.2 "$B4" | sed -n 's|.*= \([0-9]*\)\..*|\1|p')
	echo "# $rtt ms"
	expect "$rtt" -ge 20 "round trip, ms"
	transfer 4 -b 500K
}

# Nothing leaves $A that nobody asked for.
quiet_a()
{
	in_a sysctl -q net.ipv6.conf.e0.disable_ipv6=1
	ip -n "$A" neigh replace "$B4" dev e0 nud permanent \
		lladdr "$(in_b cat /sys/class/net/e0/address)"
	ip -n "$B" neigh replace "$A4" dev e0 nud permanent \
		lladdr "$(in_a cat /sys/class/net/e0/address)"
}

# Round trips of a new connection are measured from the first on: it has had no
# other NIC whose stamps could be among them.
round_trips_are_measured_at_once()
{
	make_nics direct
	transfer 4 -b 100K
	expect "$(number "$scratch/conn.json" rtt_ns)" -gt 0 "round trip, ns"
}

# The same seed gives the same faults: the same packets of the same pings.
seed_repeats()
{
	local run first

	make_nics direct
	quiet_a
	knob "$NIC_A" port0/drop_ppm 300000
	for run in 1 2; do
		knob "$NIC_A" port0/seed 7
		in_a ping -n -c 30 -i 0.05 -W 1 "$B4" |
			sed -n 's/.*icmp_seq=\([0-9]*\) .*/\1/p' >"$scratch/$run"
	done
	first=$(paste -sd' ' "$scratch/1")
	echo "# answered: $first"
	[ "$first" = "$(paste -sd' ' "$scratch/2")" ]
	[ "$(wc -l <"$scratch/1")" -lt 30 ]
}

skel_has_users()
{
	falcon nic show dev sk0 | grep -q "^skel dev sk0 users [1-9]"
}

# The skeleton of a driver that nic-driver.rst speaks of: over a veth of the
# initial namespace, which is all that it looks at. Packets that are paced wait in
# it; when the device goes under it, it lets go of them, and of the connection.
the_skeleton_is_a_nic()
{
	local receiver saved

	modprobe -n -q falcon_nic_skel || return "$KSFT_SKIP"
	drop_nics
	ip netns add "$B"
	ip link add sk0 type veth peer name e0 netns "$B"
	ip link set sk0 up
	ip addr add "$A4/24" dev sk0
	address "$B" "$B4" "$B6" 1500
	patient "$B"
	# As patient() does, for this end is in no namespace of ours.
	saved=$(sysctl net.falcon.delay_target_us net.falcon.min_rto_us \
		net.falcon.ack_coalesce_us)
	sysctl -q net.falcon.delay_target_us=20000 \
		net.falcon.min_rto_us=20000 net.falcon.ack_coalesce_us=100
	modprobe falcon_nic_skel ifname=sk0
	falcon nic show dev sk0 | grep -q "^skel dev sk0"
	in_b falcon_xfer -l -b 1M &
	receiver=$!
	falcon_xfer -b 1M -r 1M -x "falcon -j conn >$scratch/conn.json" "$B4" \
		>"$scratch/sent.json"
	wait "$receiver"
	sysctl -q -p - <<<"$saved"
	[ "$(nic_of_connection)" = skel ]
	within 120 modprobe -r falcon_nic_skel
	modprobe falcon_nic_skel ifname=sk0
	in_b falcon_xfer -l -b 10M 2>/dev/null &
	falcon_xfer -b 10M -r 100K "$B4" >/dev/null 2>&1 &
	within 30 skel_has_users
	timeout 60 ip link del sk0
	within 30 fails skel_has_users
	end_jobs -KILL
	falcon nic show >"$scratch/nic"
	fails grep -q "^skel " "$scratch/nic"
	modprobe -r falcon_nic_skel
}

run_tests nic_is_shown connections_use_the_nic over_a_lower_netdev \
	contexts_come_and_go contexts_that_are_refused_are_done_without \
	a_full_ring_loses_what_comes_again round_trips_are_measured_at_once \
	a_full_buffer_loses_what_arrives link_rate_is_kept rx_level_closes_ncwnd \
	wire_drops wire_reorders wire_duplicates wire_corrupts wire_delays \
	seed_repeats the_skeleton_is_a_nic
status=$?
sysctl -q net.falcon.swift.init_ncwnd=64 net.falcon.swift.init_fcwnd=32
drop_nics
exit $status
