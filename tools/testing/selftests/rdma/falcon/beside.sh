#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rxe and siw are loaded, carry traffic and are unloaded beside Falcon's devices,
# whose traffic goes on all the while; none takes another's device for its own.

. "$(dirname "$0")/lib.sh"

need_verbs ibv_rc_pingpong ib_write_bw rping
modprobe -q rdma_rxe || skip_all "no module rdma_rxe"

falcon_works()
{
	in_b timeout 60 ibv_rc_pingpong -d "$DEV_B" -g "$GID_B" -n 100 -c \
		>/dev/null &
	within 60 listening in_b
	in_a timeout 60 ibv_rc_pingpong -d "$DEV_A" -g "$GID_A" -n 100 -c $B4 \
		>/dev/null
	wait $!
}

# Falcon's traffic has not ended, and does not stand still.
traffic_goes_on()
{
	within 20 written "$(statistic "$DEV_A" tx_write)"
}

# On two dummies of this namespace: rxe knows no others.
other_works()
{
	local server

	timeout 60 ibv_rc_pingpong -d "$1" -g "$2" -n 100 -p 18700 >/dev/null &
	server=$!
	within 60 listening
	timeout 60 ibv_rc_pingpong -d "$1" -g "$2" -n 100 -p 18700 localhost \
		>/dev/null
	wait $server
}

# iWARP is connected by rdma_cm alone.
iwarp_works()
{
	local server

	timeout 60 rping -s -a "$1" -C 10 -V >/dev/null &
	server=$!
	within 60 listening
	sleep 1
	timeout 60 rping -c -a "$1" -C 10 -V >/dev/null
	wait $server
}

add_netdev()
{
	ip link add "$1" type dummy 2>/dev/null || return 0
	ip addr add "$2/24" dev "$1"
	ip link set "$1" up
}

rxe_comes_and_goes()
{
	start_traffic
	modprobe rdma_rxe
	add_netdev falrxe 10.79.0.1
	rdma link add rxe0 type rxe netdev falrxe
	within 10 has_gid rxe0 ffff:0a4f:0001
	other_works rxe0 "$(gid_of rxe0 ffff:0a4f:0001)"
	traffic_goes_on
	rmmod rdma_rxe
	gone rxe0
	[ -e "/sys/class/infiniband/$DEV_A" ]
	traffic_goes_on
	end_jobs
	falcon_works
	ip link del falrxe
}

both_on_one_netdev()
{
	start_traffic
	modprobe rdma_rxe
	add_netdev falrxe 10.79.0.1
	rdma link add "$DEV_A-2" type falcon netdev falrxe
	rdma link add rxe0 type rxe netdev falrxe
	within 10 has_gid rxe0 ffff:0a4f:0001
	within 10 has_gid "$DEV_A-2" ffff:0a4f:0001
	other_works rxe0 "$(gid_of rxe0 ffff:0a4f:0001)"
	other_works "$DEV_A-2" "$(gid_of "$DEV_A-2" ffff:0a4f:0001)"
	ip link set falrxe down
	ip link set falrxe up
	ip link del falrxe
	within 30 gone "$DEV_A-2"
	within 30 gone rxe0
	rmmod rdma_rxe
	traffic_goes_on
	end_jobs
	falcon_works
}

siw_comes_and_goes()
{
	modprobe -q siw || return $KSFT_SKIP
	start_traffic
	add_netdev falsiw 10.79.1.1
	rdma link add siw0 type siw netdev falsiw
	[ -e /sys/class/infiniband/siw0 ]
	iwarp_works 10.79.1.1
	traffic_goes_on
	rmmod siw
	gone siw0
	traffic_goes_on
	end_jobs
	falcon_works
	ip link del falsiw
}

make_devices || exit 1
run_tests rxe_comes_and_goes both_on_one_netdev siw_comes_and_goes
