#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Verbs over what connections can be besides packets in the clear over veth:
# encrypted ones, and ones that an emulated NIC carries.

. "$(dirname "$0")/lib.sh"
rmdir "$scratch"
# shellcheck source=tools/testing/selftests/drivers/net/e2100sim/lib.sh
. "$verbs_here/../../drivers/net/e2100sim/lib.sh"

need_verbs ibv_rc_pingpong rping ib_write_bw

programs()
{
	pingpong rc -c -s 4096
	pingpong ud -s 1000
	program=rping
	pair -s -a $B4 -C 10 -V -S 4000 -- -c -a $B4 -C 10 -V -S 4000
	perftest ib_write_bw -n 20 -s 65536
	perftest ib_read_bw -n 20 -s 65536
	perftest ib_atomic_bw -n 20
	perftest ib_send_lat -n 20 -s 8
}

encrypted()
{
	SECURITY=opportunistic make_devices
	programs
	expect "$(counter "$B" in_opened)" -gt 200 "packets opened"
	expect "$(counter "$A" out_sealed)" -gt 200 "packets sealed"
	drop_devices
}

# Connections are made by the kernel's workers, with keys of whoever made the
# queue pairs: this session keyring is nobody else's.
keys_of_the_maker()
{
	command -v keyctl >/dev/null || return $KSFT_SKIP
	keyctl new_session >/dev/null
	SECURITY=psk make_devices
	head -c 32 /dev/urandom >"$scratch/key"
	in_a keyctl padd falcon $B4 @s <"$scratch/key" >/dev/null
	in_b keyctl padd falcon $A4 @s <"$scratch/key" >/dev/null
	pingpong rc -c -s 4096
	expect "$(counter "$B" in_opened)" -gt 10 "packets opened"
	drop_devices
}

emulated_nic()
{
	[ -e "$BUS" ] || modprobe -q e2100sim || return $KSFT_SKIP
	ip netns add "$A"
	ip netns add "$B"
	plug $NIC_A "$A"
	plug $NIC_B "$B"
	wire direct
	address "$A" $A4 $A6
	address "$B" $B4 $B6
	patient
	both sysctl -q net.falcon.security=none
	within 30 in_a ping -c 1 -W 1 $B4
	add_devices
	programs
	falcon -N "$A" nic show dev e0 | grep -q "^e2100sim dev e0"
	drop_pair
	del_device $NIC_A
	del_device $NIC_B
	within 30 gone "$DEV_A"
	within 30 gone "$DEV_B"
}

run_tests encrypted keys_of_the_maker emulated_nic
