#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of e2100sim share, on top of those of net/falcon: devices,
# ports, wires, knobs. Device 7 has its port in namespace $A, device 8 in $B;
# both ports are called e0 there.

nic_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/testing/selftests/net/falcon/lib.sh
. "$nic_here/../../../net/falcon/lib.sh"

PATH=$nic_here:$PATH
BUS=/sys/bus/e2100sim
DEBUG=/sys/kernel/debug/e2100sim
NIC_A=7 NIC_B=8
export NIC_A NIC_B DEBUG

need_e2100()
{
	need_falcon
	need_command devlink ping
	[ -e "$BUS" ] || modprobe -q e2100sim || skip_all "no module e2100sim"
	[ -e "$DEBUG" ] || mount -t debugfs none /sys/kernel/debug
}

# bus FILE ARGUMENT...
bus()
{
	echo "${*:2}" >"$BUS/$1"
}

new_device()
{
	bus new_device "$@"
}

del_device()
{
	bus del_device "$1"
}

# The netdev of a device's port, while it is in this namespace.
netdev_of()
{
	find "$BUS/devices/e2100sim$1/net" -mindepth 1 -maxdepth 1 -printf '%f\n' |
		sort | sed -n "$((${2:-0} + 1))p" | grep .
}

# plug DEVICE NAMESPACE [QUEUES]: a new device; its port becomes e0 there.
plug()
{
	new_device "$1" 1 "${3:-1}"
	ip link set "$(netdev_of "$1")" netns "$2" name e0
}

# address NAMESPACE IPV4 IPV6 [MTU]: e0 comes up.
address()
{
	ip netns exec "$1" sysctl -q net.ipv6.conf.all.accept_dad=0 \
		net.ipv6.conf.e0.accept_dad=0
	ip -n "$1" link set lo up
	ip -n "$1" link set e0 mtu "${4:-9000}" up
	ip -n "$1" addr add "$2/24" dev e0
	ip -n "$1" addr add "$3/64" dev e0
}

ifindex()
{
	ip -n "$1" -o link show dev "$2" | cut -d: -f1
}

# nic_link NAMESPACE DEV NAMESPACE DEV: link_device.
nic_link()
{
	local a b

	a=$(ifindex "$1" "$2")
	b=$(ifindex "$3" "$4")
	# shellcheck disable=SC2320 # the echo is what may fail
	echo "11:$a 12:$b" >$BUS/link_device \
		11<"/run/netns/$1" 12<"/run/netns/$3"
}

nic_unlink()
{
	local a

	a=$(ifindex "$1" "$2")
	echo "11:$a" >$BUS/unlink_device 11<"/run/netns/$1"
}

# wire TYPE: joins $A and $B by "direct" (port to port), "veth" or "netdevsim"
# below the ports.
wire()
{
	local ns

	[ "$1" = direct ] || echo "# lower: $1"
	case $1 in
	direct)
		nic_link "$A" e0 "$B" e0
		return ;;
	veth)
		ip link add w0 netns "$A" type veth peer name w0 netns "$B" ;;
	netdevsim)
		lower_netdevsim "$A" 91
		lower_netdevsim "$B" 92
		# shellcheck disable=SC2320 # the echo is what may fail
		echo "11:$(ifindex "$A" w0) 12:$(ifindex "$B" w0)" \
			>/sys/bus/netdevsim/link_device \
			11<"/run/netns/$A" 12<"/run/netns/$B" ;;
	esac
	for ns in "$A" "$B"; do
		ip -n "$ns" link set w0 mtu 9000 up
		nic_link "$ns" e0 "$ns" w0
	done
}

lower_netdevsim()
{
	echo "$2 1" >/sys/bus/netdevsim/new_device
	ip link set "$(basename "/sys/bus/netdevsim/devices/netdevsim$2/net"/*)" \
		netns "$1" name w0
}

have_netdevsim()
{
	[ -e /sys/bus/netdevsim/link_device ] || modprobe -q netdevsim
	[ -e /sys/bus/netdevsim/link_device ]
}

# The wire below the ports that this kernel has: netdevsim, else veth.
lower_type()
{
	if have_netdevsim; then
		echo netdevsim
	else
		echo veth
	fi
}

# make_nics [WIRE [QUEUES]]: two hosts with a NIC each.
make_nics()
{
	local ns

	drop_nics
	ip netns add "$A"
	ip netns add "$B"
	plug "$NIC_A" "$A" "${2:-1}"
	plug "$NIC_B" "$B" "${2:-1}"
	wire "${1:-direct}"
	address "$A" "$A4" "$A6"
	address "$B" "$B4" "$B6"
	patient
}

# What a test that failed has left behind fails no other.
drop_nics()
{
	local id

	for id in "$NIC_A" "$NIC_B"; do
		[ ! -e "$BUS/devices/e2100sim$id" ] || del_device "$id"
	done
	for id in 91 92; do
		[ ! -e /sys/bus/netdevsim/devices/netdevsim$id ] ||
			echo "$id" >/sys/bus/netdevsim/del_device
	done
	ip netns del "$A" 2>/dev/null || :
	ip netns del "$B" 2>/dev/null || :
}

# stat NAMESPACE NAME: of ethtool -S.
nic_stat()
{
	ip netns exec "$1" ethtool -S e0 | sed -n "s/^ *$2: //p"
}

# param DEVICE NAME VALUE: of devlink.
param()
{
	devlink dev param set "e2100sim/e2100sim$1" name "$2" value "$3" \
		cmode runtime
}

# knob DEVICE NAME VALUE: of debugfs.
knob()
{
	echo "$3" >"$DEBUG/e2100sim$1/$2"
}

# sniff NAMESPACE DEVICE in|out FILE: every packet of Falcon, until sniffed()
sniff()
{
	ip netns exec "$1" e2100_wire.py capture "$2" "$3" "$4" >"$4.up" &
	sniffers+=($!)
	within 60 grep -q capturing "$4.up"
}

sniffed()
{
	kill "${sniffers[@]}"
	wait "${sniffers[@]}" || :
	sniffers=()
}

# twice FILE: of what sniff() saw, packets that came more than once
twice()
{
	cut -d' ' -f1 "$1" | sort | uniq -d | wc -l
}

# nonces_are_new FILE: none of them twice, those inside of trains among them
nonces_are_new()
{
	local all frames

	all=$(wc -l <"$1")
	frames=$(cut -d' ' -f4 "$1" | sort -u | wc -l)
	echo "# $all packets in $frames frames"
	expect "$all" -gt 100 "packets captured"
	expect $((all - frames)) -gt 10 "of them in trains"
	expect "$(twice "$1")" -eq 0 "nonces seen twice"
}

# Nothing of any connection is left on a device.
no_contexts()
{
	[ "$(cat "$DEBUG/e2100sim$1/port0/contexts")" = "0 0" ]
}

# users NAMESPACE: connections on the NIC, by falcon nic.
users()
{
	falcon -N "$1" -j nic show dev e0 | grep -oE '"users": *[0-9]+' |
		sed 's/.*: *//'
}
