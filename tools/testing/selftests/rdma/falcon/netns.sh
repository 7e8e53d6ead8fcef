#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who sees a device: with `rdma system set netns exclusive` its own namespace
# alone, to which `rdma dev set netns` moves it. Its connections live in that of
# its netdev all the same.

. "$(dirname "$0")/lib.sh"

need_verbs falcon_verbs ibv_rc_pingpong rping

# The kernel changes it while there is no namespace but the first.
within 20 rdma system set netns exclusive ||
	skip_all "there are other network namespaces"

shared_again()
{
	cleanup
	within 60 rdma system set netns shared
}
trap shared_again EXIT

# sees [in_a|in_b] DEVICE
sees()
{
	"${@:1:$#-1}" rdma dev show | grep -qw "${!#}"
}

# Either to where its netdev is
move_devices()
{
	rdma dev set "$DEV_A" netns "$A"
	rdma dev set "$DEV_B" netns "$B"
	within 20 in_a sh -c "grep -qs ffff:0a4e:0001 \
		/sys/class/infiniband/$DEV_A/ports/1/gids/$GID_A"
	within 20 in_b sh -c "grep -qs ffff:0a4e:0002 \
		/sys/class/infiniband/$DEV_B/ports/1/gids/$GID_B"
}

device_is_seen_in_its_namespace_alone()
{
	make_devices
	sees "$DEV_A"
	fails sees in_a "$DEV_A"
	move_devices
	fails sees "$DEV_A"
	sees in_a "$DEV_A"
	fails sees in_b "$DEV_A"
	fails in_b ibv_devinfo -d "$DEV_A" >/dev/null 2>&1
	drop_devices
}

devices_that_were_moved_work()
{
	make_devices
	move_devices
	pingpong rc -c -s 65536
	pingpong ud -s 1000
	program=rping
	pair -s -a $B4 -C 10 -V -S 4000 -- -c -a $B4 -C 10 -V -S 4000
	drop_devices
}

device_comes_back()
{
	make_devices
	move_devices
	ip netns attach "$A-first" $$
	in_a rdma dev set "$DEV_A" netns "$A-first"
	ip netns del "$A-first"
	sees "$DEV_A"
	fails sees in_a "$DEV_A"
	within 20 has_gid "$DEV_A" ffff:0a4e:0001
	rdma link delete "$DEV_A"
	drop_devices
}

user_of_a_device_that_moves_learns_it()
{
	make_devices
	its_user_learns_it rdma dev set "$DEV_A" netns "$A"
	sees in_a "$DEV_A"
	in_a rdma resource show "$DEV_A" | grep -q "ctx 0"
	drop_devices
}

# The kernel gives it back, unless its netdev has gone with the namespace.
device_outlives_a_namespace()
{
	make_devices
	ip netns add "$A-2"
	rdma dev set "$DEV_A" netns "$A-2"
	ip netns del "$A-2"
	within 60 sees "$DEV_A"
	move_devices
	pingpong rc -c
	drop_devices
}

run_tests device_is_seen_in_its_namespace_alone devices_that_were_moved_work \
	device_comes_back user_of_a_device_that_moves_learns_it \
	device_outlives_a_namespace
