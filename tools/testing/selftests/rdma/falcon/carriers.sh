#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Verbs over what connections can be besides packets in the clear over veth:
# encrypted ones, and ones that an emulated NIC carries.

. "$(dirname "$0")/lib_programs.sh"

need_verbs ibv_rc_pingpong rping ib_write_bw

encrypted()
{
	SECURITY=opportunistic make_devices
	pingpong rc -c -s 4096
	pingpong ud -s 1000
	program=rping
	pair -s -a "$B4" -C 10 -V -S 4000 -- -c -a "$B4" -C 10 -V -S 4000
	perftest ib_write_bw -n 20 -s 65536
	perftest ib_read_bw -n 20 -s 65536
	perftest ib_atomic_bw -n 20
	perftest ib_send_lat -n 20 -s 8
	expect "$(counter "$B" in_opened)" -gt 200 "packets opened"
	expect "$(counter "$A" out_sealed)" -gt 200 "packets sealed"
	drop_devices
}

# Connections are made by the kernel's workers, with keys of whoever made the
# queue pairs: this session keyring is nobody else's.
keys_of_the_maker()
{
	command -v keyctl >/dev/null || return "$KSFT_SKIP"
	keyctl new_session >/dev/null
	SECURITY=psk make_devices
	head -c 32 /dev/urandom >"$scratch/key"
	in_a keyctl padd falcon "$B4" @s <"$scratch/key" >/dev/null
	in_b keyctl padd falcon "$A4" @s <"$scratch/key" >/dev/null
	pingpong rc -c -s 4096
	expect "$(counter "$B" in_opened)" -gt 10 "packets opened"
	# Those of datagrams are of whoever made the device.
	pingpong ud -s 1000
	drop_devices
}

sizes()
{
	perftest ib_write_bw -n 20 -s 1
	perftest ib_write_bw -n 20 -s 9001 -q 8
	perftest ib_write_bw -n 5 -s 8388608
	perftest ib_read_bw -n 20 -s 65536
	perftest ib_send_bw -n 20 -s 65536 -b
	perftest ib_atomic_bw -n 20
	perftest ib_send_lat -n 20 -s 8
	perftest ib_write_bw -n 10 -s 4096 -q 64
	perftest ib_write_bw -R -n 20 -s 65536
}

nic_carries_pingpongs() { carries pingpongs; }
nic_carries_connection_manager() { carries connection_manager; }
nic_carries_rsockets() { carries rsockets; }
nic_carries_perftest() { carries sizes; }

nic_seals_and_opens()
{
	SECURITY=opportunistic carries psp_sealed pingpongs
}

on_a_lossy_wire()
{
	lossy pingpongs
	lossy connection_manager
	lossy rsockets
	lossy perftest ib_write_bw -n 100 -s 65536
	lossy perftest ib_read_bw -n 100 -s 65536
}

nic_carries_over_a_wire_that_loses_one_percent()
{
	carries fault_drop on_a_lossy_wire
}

run_tests encrypted keys_of_the_maker \
	nic_carries_pingpongs nic_carries_connection_manager \
	nic_carries_rsockets nic_carries_perftest nic_seals_and_opens \
	nic_carries_over_a_wire_that_loses_one_percent
status=$?
[ ! -e "$BUS" ] || drop_nics
exit $status
