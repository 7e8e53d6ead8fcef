#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NFS over RDMA over Falcon: a tree is copied to a mount and back, byte by byte
# the same, within one machine. two_hosts.sh has server and client in two.

. "$(dirname "$0")/lib_storage.sh"

need_verbs rpc.nfsd rpc.mountd exportfs mount.nfs
have_nfs || skip_all "no NFS over RDMA"

nfs_cleanup()
{
	drop_nfs
	drop_local
	cleanup
}
trap nfs_cleanup EXIT

a_tree_is_copied_byte_exact()
{
	tree_is_kept $L4
	diff -r "$scratch/tree" "$export/tree"
	expect "$(statistic "$DEV_L" rx_read)" -gt 0 "RDMA reads"
	expect "$(statistic "$DEV_L" rx_write)" -gt 0 "RDMA writes"
}

make_local || exit 1
serve_nfs || exit 1
run_tests a_tree_is_copied_byte_exact
