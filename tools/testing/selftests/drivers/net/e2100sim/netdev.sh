#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# e2100sim as a netdev: devices, wires, ordinary traffic, ethtool.

. "$(dirname "$0")/lib.sh"
need_e2100

devices_come_and_go()
{
	new_device "$NIC_A" 3 2
	netdev_of "$NIC_A" 2 >/dev/null
	fails netdev_of "$NIC_A" 3
	[ "$(ethtool -l "$(netdev_of "$NIC_A")" | awk '/^TX/ { print $2; exit }')" = 2 ]
	fails new_device "$NIC_A" 2>/dev/null
	del_device "$NIC_A"
	[ ! -e "$BUS/devices/e2100sim$NIC_A" ]
	fails del_device "$NIC_A" 2>/dev/null
}

# A driver without its device, or a device without its driver, cannot be had.
driver_and_devices_stay_together()
{
	drop_nics
	new_device "$NIC_A"
	[ ! -e "$BUS/drivers/e2100sim/bind" ]
	[ ! -e "$BUS/drivers/e2100sim/unbind" ]
	fails bus drivers_probe nothing 2>/dev/null
	bus drivers_probe "e2100sim$NIC_A" 2>/dev/null || :
	netdev_of "$NIC_A" >/dev/null
	del_device "$NIC_A"
}

arguments_are_checked()
{
	local line

	for line in x "1 0" "1 65" "1 1 0" "1 1 17"; do
		fails bus new_device "$line" 2>/dev/null
	done
	fails bus del_device x 2>/dev/null
	for line in x "1:2" "0:1 99:1" "0:1 0:1"; do
		fails bus link_device "$line" 2>/dev/null
	done
}

carries_ping_and_tcp()
{
	make_nics "$1" 2
	in_a ping -q -c 3 -i 0.2 "$B4" >/dev/null
	in_a ping -q -c 3 -i 0.2 "$B6" >/dev/null
	transfer 4 -p tcp -b 3M
	transfer 6 -p tcp -b 3M
}

port_to_port()
{
	carries_ping_and_tcp direct
}

over_a_lower_netdev()
{
	carries_ping_and_tcp "$(lower_type)"
}

over_veth()
{
	carries_ping_and_tcp veth
}

link_follows_both_ends()
{
	make_nics direct
	[ "$(in_a cat /sys/class/net/e0/carrier)" = 1 ]
	ip -n "$B" link set e0 down
	[ "$(in_a cat /sys/class/net/e0/carrier)" = 0 ]
	ip -n "$B" link set e0 up
	[ "$(in_a cat /sys/class/net/e0/carrier)" = 1 ]
	nic_unlink "$A" e0
	[ "$(in_b cat /sys/class/net/e0/carrier)" = 0 ]
	fails nic_unlink "$A" e0 2>/dev/null
	nic_link "$B" e0 "$A" e0
	in_a ping -q -c 1 "$B4" >/dev/null
}

# What the lower device sends by multicast the stack gives to listeners there as
# well: not from the wire, and not to the port.
lower_netdev_hears_itself()
{
	local before

	make_nics veth
	ip -n "$A" addr add 10.79.0.1/24 dev w0
	before=$(in_a cat /sys/class/net/e0/statistics/rx_packets)
	in_a python3 - <<-END
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		own = socket.inet_aton("10.79.0.1")
		group = socket.inet_aton("239.1.1.1")
		s.bind(("239.1.1.1", 7900))
		s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
		             group + own)
		s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
		s.settimeout(5)
		for _ in range(20):
		    s.sendto(b"x", ("239.1.1.1", 7900))
		    assert s.recv(1) == b"x"
	END
	expect "$(in_a cat /sys/class/net/e0/statistics/rx_packets)" -lt \
		$((before + 10)) "packets received by the port"
}

# Timers are late: what comes meanwhile does not overtake what waits for the link.
a_slow_link_keeps_the_order()
{
	local n

	make_nics direct
	param "$NIC_A" link_mbps 40
	transfer 4 -p tcp -b 4M
	n=$(in_b nstat -asz TcpExtTCPOFOQueue | awk '/^Tcp/ { print $2 }')
	expect "$n" -eq 0 "segments out of order"
}

lower_netdev_goes()
{
	make_nics veth
	fails nic_link "$A" e0 "$A" w0 2>/dev/null
	ip -n "$A" link set w0 mtu 2000
	[ "$(in_a cat /sys/class/net/e0/mtu)" = 2000 ]
	fails ip -n "$A" link set e0 mtu 3000 2>/dev/null
	ip -n "$A" link del w0
	[ "$(in_a cat /sys/class/net/e0/carrier)" = 0 ]
	ip link add w0 netns "$A" type veth peer name w0 netns "$B"
	ip -n "$A" link set w0 up
	ip -n "$B" link set w0 up
	nic_link "$A" e0 "$A" w0
	nic_link "$B" e0 "$B" w0
	in_a ping -q -c 1 "$B4" >/dev/null
}

ethtool_tells()
{
	make_nics direct
	in_a ethtool -i e0 | grep -qx "driver: e2100sim"
	in_a ethtool -i e0 | grep -qx "bus-info: e2100sim$NIC_A"
	in_a ethtool -k e0 | grep -q "^tx-udp-segmentation: on"
	in_a ethtool -S e0 | grep -q "^ *tx_falcon_trains: 0"
	param "$NIC_A" link_mbps 25000
	in_a ethtool e0 | grep -q "Speed: 25000Mb/s"
	in_a ethtool -s e0 speed 40000 duplex full autoneg off
	in_a ethtool e0 | grep -q "Speed: 40000Mb/s"
	devlink dev param show "e2100sim/e2100sim$NIC_A" name link_mbps |
		grep -q "value 40000"
	fails in_a ethtool -s e0 speed 1000001 autoneg off 2>/dev/null
	fails in_a ethtool -s e0 duplex half autoneg off 2>/dev/null
	in_a ethtool -G e0 rx 17
	in_a ethtool -g e0 | grep -q "^RX:.*17$"
	fails in_a ethtool -G e0 tx 17 2>/dev/null
	ip -n "$A" link set e0 down
	in_a ethtool -G e0 tx 1024
	ip -n "$A" link set e0 up
	in_a ethtool -T e0 >"$scratch/stamps"
	grep -q hardware-receive "$scratch/stamps"
	grep -q "^PTP Hardware Clock: [0-9]" "$scratch/stamps"
	in_a ping -q -c 1 "$B4" >/dev/null
}

devlink_tells()
{
	local handle=e2100sim/e2100sim$NIC_A

	drop_nics
	new_device "$NIC_A" 2
	devlink dev show | grep -qx "$handle"
	devlink dev info "$handle" >"$scratch/info"
	grep -q "serial_number 0000000$NIC_A" "$scratch/info"
	grep -q "board.id E2100-SIM" "$scratch/info"
	devlink dev reload "$handle" >"$scratch/reload"
	netdev_of "$NIC_A" 1 >/dev/null
	devlink health show "$handle" reporter fw | grep -q "state healthy"
	del_device "$NIC_A"
	fails devlink dev show "$handle" 2>/dev/null
}

devlink_params_have_bounds()
{
	local handle=e2100sim/e2100sim$NIC_A

	drop_nics
	new_device "$NIC_A"
	fails param "$NIC_A" rx_buffer_kb 0 2>/dev/null
	fails param "$NIC_A" link_mbps 1000001 2>/dev/null
	fails param "$NIC_A" psp_keys 1048577 2>/dev/null
	param "$NIC_A" link_mbps 1000000
	devlink dev param show "$handle" name link_mbps | grep -q "value 1000000"
	del_device "$NIC_A"
}

# A port may live in any namespace, and survives the one that it lived in.
ports_move_between_namespaces()
{
	make_nics direct
	ip -n "$A" link set e0 netns "$B" name e1
	ip -n "$B" link set e1 up
	[ "$(in_b cat /sys/class/net/e1/carrier)" = 1 ]
	ip -n "$B" link set e1 netns "$A" name e0
	address "$A" "$A4" "$A6"
	in_a ping -q -c 1 "$B4" >/dev/null
	ip netns del "$A"
	within 60 netdev_of "$NIC_A"
}

# The rings are of 8 entries, and $A knows the address of $B.
with_short_rings()
{
	make_nics direct
	ip -n "$A" link set e0 down
	in_a ethtool -G e0 tx 8
	ip -n "$A" link set e0 up
	in_a ping -q -c 1 "$B4" >/dev/null
}

# throw N BYTES: as many datagrams, each by a socket of its own, at once
throw()
{
	in_a python3 -c "import socket
for _ in range($1):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.sendto(bytes($2), ('$B4', 7001))"
}

# What finds no room in the ring takes no time of the link: 500 times 64 ms were
# half a minute.
a_flood_leaves_the_link_to_others()
{
	with_short_rings
	param "$NIC_A" link_mbps 1
	throw 500 8000
	expect "$(nic_stat "$A" tx_ring_full)" -gt 300 "without room"
	in_a ping -q -c 1 -W 15 "$B4" >/dev/null
}

# What waits for a quarter of an hour is lost, and its places are free.
a_reset_empties_the_rings()
{
	with_short_rings
	knob "$NIC_A" port0/delay_us 1000000000
	throw 30 8
	expect "$(nic_stat "$A" tx_ring_full)" -ge 22 "without room"
	knob "$NIC_A" port0/delay_us 1000
	fails in_a ping -q -c 1 -W 1 "$B4" >/dev/null
	devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
	in_a ping -q -c 1 -W 15 "$B4" >/dev/null
}

# events NAME FILTER COMMAND...: runs it, and counts the events of net:NAME
events()
{
	local tracing=/sys/kernel/tracing event=$1

	mountpoint -q "$tracing" || mount -t tracefs none "$tracing"
	echo "$2" >"$tracing/events/net/$event/filter"
	echo >"$tracing/trace"
	echo 1 >"$tracing/events/net/$event/enable"
	"${@:3}" >/dev/null
	echo 0 >"$tracing/events/net/$event/enable"
	echo 0 >"$tracing/events/net/$event/filter"
	cat "$tracing/trace" >"$scratch/events"
	grep -c " $event:" "$scratch/events"
}

# A wire that delays takes trains apart: what comes out whole, GRO has made.
gso_goes_in_and_gro_comes_out()
{
	local whole='name == "e0" && len > 18000' n

	make_nics direct
	knob "$NIC_A" port0/delay_us 100
	n=$(events net_dev_start_xmit "$whole" transfer 4 -p tcp -b 2M)
	expect "$n" -gt 0 "trains of TCP that went in"
	n=$(events netif_receive_skb "$whole" transfer 4 -p tcp -b 2M)
	expect "$n" -gt 0 "trains of TCP that came out"
	n=$(events net_dev_start_xmit "$whole" transfer 4 -m 64K -b 2M)
	expect "$n" -gt 0 "trains of Falcon that went in"
	n=$(events netif_receive_skb "$whole" transfer 4 -m 64K -b 2M)
	expect "$n" -gt 0 "trains of Falcon that came out"
}

# shellcheck disable=SC2016 # the inner shell expands it
datagrams_to_64_ports()
{
	in_a bash -c 'for port in {7001..7064}; do
		echo x >"/dev/udp/$B4/$port"
	done'
}

# What arrives goes to a queue by the hash of its flow.
queues_share_the_flows()
{
	local n queues

	make_nics direct 4
	expect "$(in_b find /sys/class/net/e0/queues -name 'tx-*' | wc -l)" \
		-eq 4 "transmit queues"
	in_a ping -q -c 1 "$B4" >/dev/null
	n=$(events napi_gro_receive_entry 'name == "e0" && len == 30' \
		datagrams_to_64_ports)
	expect "$n" -eq 64 "datagrams"
	queues=$(sed -n 's/.* queue_mapping=\([0-9]*\) .*/\1/p' \
		"$scratch/events" | sort -u | wc -l)
	expect "$queues" -eq 4 "receive queues that took part"
}

link_rate_is_kept()
{
	local mbytes

	make_nics direct
	param "$NIC_A" link_mbps 40
	transfer 4 -p tcp -b 3M
	mbytes=$(number "$scratch/sent.json" mbytes_per_s)
	echo "# $mbytes MB/s of TCP over 40 Mb/s"
	awk -v m="$mbytes" 'BEGIN { exit !(m < 5.1) }'
}

run_tests devices_come_and_go driver_and_devices_stay_together \
	arguments_are_checked port_to_port over_veth \
	over_a_lower_netdev link_follows_both_ends lower_netdev_goes \
	lower_netdev_hears_itself a_slow_link_keeps_the_order \
	gso_goes_in_and_gro_comes_out queues_share_the_flows \
	ethtool_tells devlink_tells devlink_params_have_bounds \
	ports_move_between_namespaces a_flood_leaves_the_link_to_others \
	a_reset_empties_the_rings link_rate_is_kept
status=$?
drop_nics
exit $status
