#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own storage over verbs over Falcon: nvme-rdma connected to
# nvmet-rdma, a file system, verified I/O, and an end under load.  Both live in
# the initial namespace.

. "$(dirname "$0")/lib.sh"

need_verbs nvme fio mkfs.ext4

nqn=falcon-$$
config=/sys/kernel/config/nvmet

for module in brd nvmet-rdma nvme-rdma; do
	modprobe -q $module || skip_all "no module $module"
done
[ -b /dev/ram0 ] || skip_all "no /dev/ram0"

nvme_cleanup()
{
	nvme disconnect -n "$nqn" >/dev/null 2>&1
	rm -f $config/ports/79/subsystems/"$nqn"
	rmdir $config/ports/79 2>/dev/null
	rmdir $config/subsystems/"$nqn"/namespaces/1 2>/dev/null
	rmdir $config/subsystems/"$nqn" 2>/dev/null
	drop_local
	cleanup
}
trap nvme_cleanup EXIT

target()
{
	make_local
	[ -d $config ] || mount -t configfs none /sys/kernel/config
	mkdir $config/subsystems/"$nqn"
	echo 1 >$config/subsystems/"$nqn"/attr_allow_any_host
	mkdir $config/subsystems/"$nqn"/namespaces/1
	echo /dev/ram0 >$config/subsystems/"$nqn"/namespaces/1/device_path
	echo 1 >$config/subsystems/"$nqn"/namespaces/1/enable
	mkdir $config/ports/79
	echo ipv4 >$config/ports/79/addr_adrfam
	echo rdma >$config/ports/79/addr_trtype
	echo 4420 >$config/ports/79/addr_trsvcid
	echo $L4 >$config/ports/79/addr_traddr
	ln -s $config/subsystems/"$nqn" $config/ports/79/subsystems/
}

# The block device of the host's end
disk()
{
	local ctrl

	for ctrl in /sys/class/nvme/nvme*; do
		grep -qx "$nqn" "$ctrl/subsysnqn" 2>/dev/null || continue
		[ -b "/dev/${ctrl##*/}n1" ] && echo "/dev/${ctrl##*/}n1" &&
			return
	done
	return 1
}

connect()
{
	timeout 60 nvme connect -t rdma -a $L4 -s 4420 -n "$nqn" -i 2 "$@"
	within 20 disk >/dev/null
}

disconnected()
{
	fails disk >/dev/null
}

a_namespace_connects()
{
	connect
	echo "# $(disk)"
	nvme id-ctrl "$(disk)" | grep -q "^sn "
	expect "$(statistic "$DEV_L" rx_bad_sequence)" -eq 0 "out of order"
}

what_is_written_is_read()
{
	fio --name=verify --filename="$(disk)" --rw=randwrite --bs=4k-128k \
		--size=8M --direct=1 --ioengine=libaio --iodepth=8 \
		--verify=crc32c --verify_fatal=1 --minimal >"$scratch/fio"
	expect "$(statistic "$DEV_L" rx_write)" -gt 0 "RDMA writes"
	expect "$(statistic "$DEV_L" rx_read)" -gt 0 "RDMA reads"
}

a_file_system_lives_on_it()
{
	local dir=$scratch/mnt

	mkfs.ext4 -q -F "$(disk)" 12M
	mkdir -p "$dir"
	mount "$(disk)" "$dir"
	cp /bin/bash "$dir/one"
	cp /bin/bash "$dir/two"
	umount "$dir"
	mount "$(disk)" "$dir"
	cmp /bin/bash "$dir/one"
	cmp /bin/bash "$dir/two"
	umount "$dir"
}

a_disconnect_under_load_ends()
{
	local job

	fio --name=load --filename="$(disk)" --rw=randrw --bs=16k --size=8M \
		--direct=1 --ioengine=libaio --iodepth=16 --time_based \
		--runtime=30 --minimal >"$scratch/fio" 2>&1 &
	job=$!
	sleep 3
	timeout 60 nvme disconnect -n "$nqn"
	within 30 disconnected
	fails wait $job
	connect
	dd if="$(disk)" of=/dev/null bs=64k count=16 iflag=direct 2>/dev/null
	timeout 60 nvme disconnect -n "$nqn"
}

# The target's port goes while the host is connected.
a_target_that_goes_is_survived()
{
	connect -l 5
	rm $config/ports/79/subsystems/"$nqn"
	within 60 disconnected
}

target
run_tests a_namespace_connects what_is_written_is_read \
	a_file_system_lives_on_it a_disconnect_under_load_ends \
	a_target_that_goes_is_survived
