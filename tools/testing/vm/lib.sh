# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# lib.sh - what scripts in the guest share.  Sourced, after vm.sh set FALCON_TOP.

# The tools of this tree, as `make guest` installed them for the guest.
install_tools()
{
	[ ! -d "$FALCON_TOP/build/guest" ] || cp -r "$FALCON_TOP/build/guest/." /
	ldconfig
}

# Two hosts in one guest: network namespaces a and b, joined by a veth pair of
# MTU 9000.  a is 10.9.0.1 and fd09::1, b is 10.9.0.2 and fd09::2.
two_hosts()
{
	local ns

	ip netns add a
	ip netns add b
	ip link add veth0 mtu 9000 netns a type veth peer name veth0 mtu 9000 netns b
	for ns in a b; do
		ip netns exec $ns sysctl -q net.ipv6.conf.veth0.accept_dad=0
		ip -n $ns link set lo up
		ip -n $ns link set veth0 up
	done
	ip -n a addr add 10.9.0.1/24 dev veth0
	ip -n b addr add 10.9.0.2/24 dev veth0
	ip -n a addr add fd09::1/64 dev veth0
	ip -n b addr add fd09::2/64 dev veth0
}
