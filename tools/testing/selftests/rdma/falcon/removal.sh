#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Things that end in the middle of traffic: processes, devices, netdevs,
# namespaces; and the module, which comes and goes.

. "$(dirname "$0")/lib.sh"

need_verbs ib_write_bw falcon_verbs

# The writer of start_traffic has seen errors, and come to its end. Its server may
# wait for a word by TCP.
writer_ends()
{
	within 60 fails kill -0 $!
	end_jobs -KILL
}

idle()
{
	rdma resource show "$1" | grep -q "ctx 0"
}

process_death_leaves_nothing()
{
	make_devices
	for _ in 1 2 3; do
		start_traffic
		end_jobs -KILL
		within 30 idle "$DEV_A"
		within 30 idle "$DEV_B"
		rdma resource show "$DEV_A" | grep -q "qp 1 .*mr 0"
	done
	drop_devices
}

device_goes_under_load()
{
	make_devices
	start_traffic
	rdma link delete "$DEV_A"
	gone "$DEV_A"
	writer_ends
	drop_devices
}

netdev_goes_under_load()
{
	make_devices
	start_traffic
	in_a ip link del e0
	within 30 gone "$DEV_A"
	within 30 gone "$DEV_B"
	writer_ends
	drop_pair
}

user_of_a_deleted_device_learns_it()
{
	make_devices
	its_user_learns_it rdma link delete "$DEV_A"
	gone "$DEV_A"
	drop_devices
}

user_of_a_deleted_netdev_learns_it()
{
	make_devices
	its_user_learns_it in_a ip link del e0
	within 30 gone "$DEV_A"
	within 30 gone "$DEV_B"
	drop_pair
}

# Who runs in it holds it; its devices and connections go with the last.
namespace_goes_under_load()
{
	make_devices
	start_traffic
	ip netns del "$A"
	end_jobs -KILL
	within 60 gone "$DEV_A"
	within 60 gone "$DEV_B"
	ip netns del "$B"
}

module_comes_and_goes()
{
	for _ in 1 2 3 4 5; do
		modprobe falcon_ib
		make_devices
		drop_devices
		within 30 modprobe -r falcon_ib
	done
	modprobe falcon_ib
}

# Whoever has a device open loses it: uverbs holds no driver that can do that.
module_goes_from_under_its_users()
{
	make_devices
	falcon_verbs hold "$DEV_A" >"$scratch/held" < <(exec sleep 100) &
	within 60 grep -q ready "$scratch/held"
	rdma resource show "$DEV_A" | grep -q "ctx 1"
	within 30 rmmod falcon_ib
	gone "$DEV_A"
	kill -0 $!
	end_jobs
	drop_pair
	modprobe falcon_ib
}

run_tests process_death_leaves_nothing device_goes_under_load \
	netdev_goes_under_load namespace_goes_under_load \
	user_of_a_deleted_device_learns_it user_of_a_deleted_netdev_learns_it \
	module_comes_and_goes module_goes_from_under_its_users
