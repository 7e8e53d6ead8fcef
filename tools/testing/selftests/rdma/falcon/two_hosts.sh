#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two machines, each with a Falcon device over its end of a link, encrypted as
# they come:
#
#	make check-hosts TESTS=rdma/falcon/two_hosts
#
# runs this in both. The kernel of the first serves a disk and files, that of the
# second uses them; elsewhere it is skipped.

. "$(dirname "$0")/lib_storage.sh"

need_two_hosts verbs
need_verbs ibv_rc_pingpong nvme fio mkfs.ext4 rpc.nfsd rpc.mountd exportfs \
	mount.nfs

dev=falcon0
nqn=falcon-two-hosts
hex=$(printf 'ffff:0a4d:%04x' "$HOST")

two_hosts_cleanup()
{
	drop_nvme
	drop_nfs
	rdma link delete $dev 2>/dev/null
	cleanup
}
trap two_hosts_cleanup EXIT

device_over_the_link()
{
	rdma link add $dev type falcon netdev e0
	within 20 has_gid $dev "$hex"
	sysctl -q net.falcon.delay_target_us=20000 \
		net.falcon.min_rto_us=50000 net.falcon.ack_coalesce_us=100
	meet device
}

# on 1|2 COMMAND...: there alone
on()
{
	[ "$HOST" != "$1" ] || "${@:2}"
}

ends_meet()
{
	local gid

	gid=$(gid_of $dev "$hex")
	if [ "$HOST" = 1 ]; then
		timeout 100 ibv_rc_pingpong -d $dev -g "$gid" -c >/dev/null &
		within 60 listening
		meet listening
		wait $!
	else
		meet listening
		timeout 100 ibv_rc_pingpong -d $dev -g "$gid" -c "$PEER4" \
			>/dev/null
	fi
	meet pingpong
	expect "$(counter_here in_opened)" -gt 10 "packets opened"
}

counter_here()
{
	falcon stat "$1" | awk '{ print $2 }'
}

# Both use the disk, as it is, and on a link that loses a packet in a hundred.
nvme_works_between_them()
{
	have_nvme || return $KSFT_SKIP
	on 1 nvme_target "$LOCAL4"
	meet target
	on 2 nvme_connect "$PEER4"
	on 2 verified 8M
	on 2 file_system_lives
	tc qdisc add dev e0 root netem limit 10000 loss 1%
	on 2 verified 2M
	meet verified
	tc qdisc del dev e0 root
	on 2 expect "$(statistic $dev rx_write)" -gt 100 "RDMA writes"
	on 2 expect "$(statistic $dev rx_read)" -gt 100 "RDMA reads"
	on 2 timeout 60 nvme disconnect -n "$nqn"
	meet disconnected
}

nfs_works_between_them()
{
	have_nfs || return $KSFT_SKIP
	on 1 serve_nfs
	meet serving
	on 2 tree_is_kept "$PEER4"
	meet kept
}

run_tests device_over_the_link ends_meet nvme_works_between_them \
	nfs_works_between_them
