#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NFS over RDMA over Falcon: a tree is copied to a mount and back, byte by byte
# the same. Server and client live in the initial namespace.

. "$(dirname "$0")/lib.sh"

need_verbs rpc.nfsd rpc.mountd exportfs mount.nfs

mnt=$scratch/mnt

for module in nfsd nfs rpcrdma; do
	modprobe -q $module || skip_all "no module $module"
done

nfs_cleanup()
{
	umount -f -l "$mnt" 2>/dev/null
	exportfs -au 2>/dev/null
	rpc.nfsd 0 2>/dev/null
	[ -z "$mountd" ] || kill "$mountd"
	umount "$scratch/export" 2>/dev/null
	drop_local
	cleanup
}
mountd=
trap nfs_cleanup EXIT

# Version 4 alone: it needs no port mapper.
serve_nfs()
{
	make_local
	mkdir -p "$scratch/export" "$mnt" /var/lib/nfs/v4recovery
	mount -t tmpfs none "$scratch/export"
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	touch /var/lib/nfs/etab /var/lib/nfs/rmtab
	rpc.mountd -F -N 2 -N 3 >/dev/null 2>&1 &
	mountd=$!
	exportfs -i -o rw,no_root_squash,insecure,fsid=0,sync \
		"*:$scratch/export"
	rpc.nfsd -N 3 -V 4.2 -G 10 -L 10 2
	echo "rdma 20049" >/proc/fs/nfsd/portlist
}

a_tree_is_copied_byte_exact()
{
	local tree=$scratch/tree

	timeout 60 mount -t nfs -o vers=4.2,proto=rdma,port=20049 "$L4:/" \
		"$mnt"
	mount | grep "$mnt" | grep -q "proto=rdma"
	mkdir -p "$tree/below"
	cp /bin/bash "$tree/one"
	head -c 100 /dev/urandom >"$tree/small"
	head -c 3000001 /dev/urandom >"$tree/below/large"
	cp -r "$tree" "$mnt/tree"
	sync -f "$mnt/tree"
	diff -r "$tree" "$scratch/export/tree"
	umount "$mnt"
	timeout 60 mount -t nfs -o vers=4.2,proto=rdma,port=20049 "$L4:/" \
		"$mnt"
	diff -r "$tree" "$mnt/tree"
	umount "$mnt"
	expect "$(statistic "$DEV_L" rx_read)" -gt 0 "RDMA reads"
	expect "$(statistic "$DEV_L" rx_write)" -gt 0 "RDMA writes"
}

serve_nfs || exit 1
run_tests a_tree_is_copied_byte_exact
