#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own consumers of verbs: a target of nvmet-rdma over a RAM disk and
# a host of nvme-rdma, a server and a client of NFS over RDMA. The initial
# namespace is the only one that they know.

# shellcheck source=tools/testing/selftests/rdma/falcon/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

nqn=falcon-$$
nvmet=/sys/kernel/config/nvmet
export=$scratch/export
mnt=$scratch/mnt
mountd=

have_nvme()
{
	local module

	# What size it has otherwise is the kernel's configuration.
	modprobe -q brd rd_size=$((16 << 10)) || return
	for module in nvmet-rdma nvme-rdma; do
		modprobe -q $module || return
	done
	[ -b /dev/ram0 ]
}

# nvme_target ADDRESS
nvme_target()
{
	[ -d $nvmet ] || mount -t configfs none /sys/kernel/config
	mkdir "$nvmet/subsystems/$nqn"
	echo 1 >"$nvmet/subsystems/$nqn/attr_allow_any_host"
	mkdir "$nvmet/subsystems/$nqn/namespaces/1"
	echo /dev/ram0 >"$nvmet/subsystems/$nqn/namespaces/1/device_path"
	echo 1 >"$nvmet/subsystems/$nqn/namespaces/1/enable"
	mkdir $nvmet/ports/79
	echo ipv4 >$nvmet/ports/79/addr_adrfam
	echo rdma >$nvmet/ports/79/addr_trtype
	echo 4420 >$nvmet/ports/79/addr_trsvcid
	echo "$1" >$nvmet/ports/79/addr_traddr
	ln -s "$nvmet/subsystems/$nqn" $nvmet/ports/79/subsystems/
}

drop_nvme()
{
	nvme disconnect -n "$nqn" >/dev/null 2>&1
	rm -f "$nvmet/ports/79/subsystems/$nqn"
	rmdir $nvmet/ports/79 2>/dev/null
	rmdir "$nvmet/subsystems/$nqn/namespaces/1" 2>/dev/null
	rmdir "$nvmet/subsystems/$nqn" 2>/dev/null
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

# nvme_connect ADDRESS [OPTION...]
nvme_connect()
{
	timeout 60 nvme connect -t rdma -a "$1" -s 4420 -n "$nqn" -i 2 "${@:2}"
	within 20 disk >/dev/null
}

disconnected()
{
	fails disk >/dev/null
}

# verified SIZE: written at random, and read back
verified()
{
	fio --name=verify --filename="$(disk)" --rw=randwrite --bs=4k-128k \
		--size="$1" --direct=1 --ioengine=libaio --iodepth=8 \
		--verify=crc32c --verify_fatal=1 --minimal >"$scratch/fio"
}

# ends_under_load SECONDS: a disconnect while fio would go on for so long
ends_under_load()
{
	local job

	fio --name=load --filename="$(disk)" --rw=randrw --bs=16k --size=8M \
		--direct=1 --ioengine=libaio --iodepth=16 --time_based \
		--runtime="$1" --minimal >"$scratch/fio" 2>&1 &
	job=$!
	sleep 3
	timeout 60 nvme disconnect -n "$nqn"
	within 30 disconnected
	fails wait $job
}

# A file system on it keeps two files.
file_system_lives()
{
	mkfs.ext4 -q -F "$(disk)" 12M
	mkdir -p "$mnt"
	mount "$(disk)" "$mnt"
	cp /bin/bash "$mnt/one"
	cp /bin/bash "$mnt/two"
	umount "$mnt"
	mount "$(disk)" "$mnt"
	cmp /bin/bash "$mnt/one"
	cmp /bin/bash "$mnt/two"
	umount "$mnt"
}

have_nfs()
{
	local module

	for module in nfsd nfs rpcrdma; do
		modprobe -q $module || return
	done
}

# Version 4 alone: it needs no port mapper.
serve_nfs()
{
	mkdir -p "$export" /var/lib/nfs/v4recovery
	mount -t tmpfs none "$export"
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	touch /var/lib/nfs/etab /var/lib/nfs/rmtab
	rpc.mountd -F -N 2 -N 3 >/dev/null 2>&1 &
	mountd=$!
	exportfs -i -o rw,no_root_squash,insecure,fsid=0,sync "*:$export"
	rpc.nfsd -N 3 -V 4.2 -G 10 -L 10 2
	echo "rdma 20049" >/proc/fs/nfsd/portlist
}

drop_nfs()
{
	umount -f -l "$mnt" 2>/dev/null
	exportfs -au 2>/dev/null
	rpc.nfsd 0 2>/dev/null
	[ -z "$mountd" ] || kill "$mountd" 2>/dev/null
	umount "$export" 2>/dev/null
}

# mount_nfs ADDRESS
mount_nfs()
{
	mkdir -p "$mnt"
	timeout 60 mount -t nfs -o vers=4.2,proto=rdma,port=20049 "$1:/" "$mnt"
	mount | grep "$mnt" | grep -q "proto=rdma"
}

# tree_is_kept ADDRESS: what is copied there is there when it is mounted anew
tree_is_kept()
{
	local tree=$scratch/tree

	mount_nfs "$1"
	mkdir -p "$tree/below"
	cp /bin/bash "$tree/one"
	head -c 100 /dev/urandom >"$tree/small"
	head -c 3000001 /dev/urandom >"$tree/below/large"
	cp -r "$tree" "$mnt/tree"
	sync -f "$mnt/tree"
	umount "$mnt"
	mount_nfs "$1"
	diff -r "$tree" "$mnt/tree"
	umount "$mnt"
}
