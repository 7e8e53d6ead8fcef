#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Devices come by `rdma link add`, say what they are, and go: by user, with
# their netdev, with its namespace.

. "$(dirname "$0")/lib.sh"

need_verbs

device_is_described()
{
	make_devices
	ibv_devinfo -v -d "$DEV_A" >"$scratch/info"
	grep -qE 'state:\s+PORT_ACTIVE' "$scratch/info"
	grep -qE 'active_mtu:\s+4096' "$scratch/info"
	grep -qE 'link_layer:\s+Ethernet' "$scratch/info"
	grep -qE 'GID\[ *[0-9]+\]:.*10\.78\.0\.1, RoCE v2' "$scratch/info"
	grep -qE 'max_mcast_grp:\s+0$' "$scratch/info"
	grep -q XRC "$scratch/info"
	grep -q MEM_WINDOW_TYPE_2B "$scratch/info"
	fails grep -q 'RoCE v1' "$scratch/info"
	[ "$(statistic "$DEV_A" cq_overflow)" = 0 ]
	rdma resource show "$DEV_A" | grep -q "qp 1"
	drop_devices
}

mtu_of_the_port_follows_the_netdev()
{
	make_devices 1500
	ibv_devinfo -d "$DEV_A" | grep -qE 'active_mtu:\s+1024'
	in_a ip link set e0 mtu 9000
	ibv_devinfo -d "$DEV_A" | grep -qE 'active_mtu:\s+4096'
	drop_devices
}

state_of_the_port_follows_the_netdev()
{
	make_devices
	in_a ip link set e0 down
	within 5 eval "ibv_devinfo -d $DEV_A | grep -q PORT_DOWN"
	in_a ip link set e0 up
	within 5 eval "ibv_devinfo -d $DEV_A | grep -q PORT_ACTIVE"
	drop_devices
}

second_device_on_a_netdev_is_refused()
{
	make_devices
	fails in_a rdma link add "$DEV_A-2" type falcon netdev e0
	[ ! -e "/sys/class/infiniband/$DEV_A-2" ]
	drop_devices
}

name_in_use_is_refused()
{
	make_devices
	in_a ip link add d0 type dummy
	fails in_a rdma link add "$DEV_A" type falcon netdev d0
	in_a rdma link add "$DEV_A-2" type falcon netdev d0
	drop_devices
	within 30 gone "$DEV_A-2"
}

user_deletes_a_device()
{
	make_devices
	rdma link delete "$DEV_A"
	gone "$DEV_A"
	in_a rdma link add "$DEV_A" type falcon netdev e0
	[ -e "/sys/class/infiniband/$DEV_A" ]
	drop_devices
}

netdev_that_moves_loses_its_device()
{
	make_devices
	in_a ip link add d0 type dummy
	in_a rdma link add "$DEV_A-2" type falcon netdev d0
	in_a ip link set d0 netns "$B"
	within 30 gone "$DEV_A-2"
	[ -e "/sys/class/infiniband/$DEV_A" ]
	drop_devices
}

counters_of_resources_are_exact()
{
	make_devices
	falcon_verbs hold "$DEV_A" >"$scratch/held" < <(exec sleep 60) &
	within 20 grep -q ready "$scratch/held"
	rdma resource show "$DEV_A" >"$scratch/resources"
	grep -q "ctx 1" "$scratch/resources"
	# A queue pair in RESET is on no port.
	rdma resource show qp link "$DEV_A" >>"$scratch/resources"
	rdma resource show mr dev "$DEV_A" >>"$scratch/resources"
	sed 's/^/# /' "$scratch/resources"
	grep -q "type RC state RESET.*comm falcon_verbs" "$scratch/resources"
	grep -q "mrlen 4096.*comm falcon_verbs" "$scratch/resources"
	end_jobs
	within 10 eval "rdma resource show $DEV_A | grep -q 'ctx 0'"
	drop_devices
}

# One page, of a user who may not lock what he likes
pins_with_limit()
{
	setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock \
		prlimit --memlock="$1" falcon_verbs hold "$DEV_A" </dev/null
}

pinned_memory_counts_as_locked()
{
	make_devices
	pins_with_limit 4096
	fails pins_with_limit 0
	drop_devices
}

rings_are_on_their_owners_account()
{
	local group=/sys/fs/cgroup/falcon-$$ bytes

	grep -qw memory /sys/fs/cgroup/cgroup.controllers || return $KSFT_SKIP
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	make_devices
	mkdir "$group"
	: >"$scratch/held"
	(
		echo $BASHPID >"$group/cgroup.procs"
		exec falcon_verbs hold "$DEV_A" >"$scratch/held"
	) < <(exec sleep 100) &
	within 60 grep -q ready "$scratch/held"
	bytes=$(awk '$1 == "vmalloc" { print $2 }' "$group/memory.stat")
	end_jobs
	within 20 rmdir "$group"
	# A completion queue alone has 128 entries of 64 bytes.
	expect "$bytes" -gt 8192 "bytes of rings"
	drop_devices
}

run_tests device_is_described mtu_of_the_port_follows_the_netdev \
	state_of_the_port_follows_the_netdev \
	second_device_on_a_netdev_is_refused name_in_use_is_refused \
	user_deletes_a_device netdev_that_moves_loses_its_device \
	counters_of_resources_are_exact pinned_memory_counts_as_locked \
	rings_are_on_their_owners_account
