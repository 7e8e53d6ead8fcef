#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own storage and files over two e2100sim NICs that are wired to each
# other. Its consumers live in the initial namespace, so both ports do; rules make
# what goes from the one address to the other leave by a port, and not be delivered
# within the host.

. "$(dirname "$0")/lib_storage.sh"

need_verbs nvme fio mkfs.ext4 rpc.nfsd rpc.mountd exportfs mount.nfs devlink
[ -e "$BUS" ] || modprobe -q e2100sim || skip_all "no module e2100sim"
have_nvme || skip_all "no nvme-rdma, nvmet-rdma, or RAM disk"
have_nfs || skip_all "no NFS over RDMA"

# port NETDEV ADDRESS PEER-ADDRESS PEER-NETDEV TABLE: what is for the peer's
# address goes out here, though it is this host's as well; so rdma_cm looks it up.
port()
{
	local dev=$1 mac

	mac=$(cat "/sys/class/net/$4/address")
	sysctl -q "net.ipv4.conf.$dev.accept_local=1" \
		"net.ipv4.conf.$dev.rp_filter=0"
	ip addr add "$2/32" dev "$dev"
	ip link set "$dev" mtu 9000 up
	ip neigh replace "$3" lladdr "$mac" dev "$dev" nud permanent
	ip route add "$3" dev "$dev" src "$2" table "$5"
	ip rule add pref 1 iif lo to "$3" lookup "$5"
	ip rule add pref 1 oif "$dev" to "$3" lookup "$5"
}

make_wired()
{
	local a b

	new_device "$NIC_A" 1 1
	new_device "$NIC_B" 1 1
	a=$(netdev_of "$NIC_A")
	b=$(netdev_of "$NIC_B")
	# shellcheck disable=SC2320 # the echo is what may fail
	echo "11:$(cat "/sys/class/net/$a/ifindex") \
12:$(cat "/sys/class/net/$b/ifindex")" >$BUS/link_device \
		11</proc/self/ns/net 12</proc/self/ns/net
	sysctl -q net.ipv4.conf.all.rp_filter=0 \
		net.falcon.delay_target_us=20000 net.falcon.min_rto_us=20000 \
		net.falcon.ack_coalesce_us=100
	ip link set "$b" up
	port "$a" $A4 $B4 "$b" 7901
	port "$b" $B4 $A4 "$a" 7902
	ip rule add pref 2 lookup local
	ip rule del pref 0
	rdma link add "$DEV_A" type falcon netdev "$a"
	rdma link add "$DEV_B" type falcon netdev "$b"
	within 20 has_gid "$DEV_A" ffff:0a4e:0001
	within 20 has_gid "$DEV_B" ffff:0a4e:0002
}

drop_wired()
{
	local id

	for id in "$NIC_A" "$NIC_B"; do
		[ ! -e "$BUS/devices/e2100sim$id" ] || del_device "$id"
	done
	ip rule add pref 0 lookup local 2>/dev/null
	while ip rule del pref 1 2>/dev/null; do :; done
	ip rule del pref 2 2>/dev/null
	within 30 gone "$DEV_A"
	within 30 gone "$DEV_B"
}

storage_cleanup()
{
	drop_nvme
	drop_nfs
	drop_wired
	cleanup
}
trap storage_cleanup EXIT

# carried STATISTIC: so many of either port's, since it came
carried()
{
	local id

	for id in "$NIC_A" "$NIC_B"; do
		ethtool -S "$(netdev_of "$id")" | sed -n "s/^ *$1: //p"
	done | sort -n | head -n 1
}

nvme_is_carried()
{
	nvme_target $B4
	nvme_connect $B4 -w $A4
	verified 8M
	file_system_lives
	expect "$(statistic "$DEV_A" rx_write)" -gt 100 "RDMA writes"
	expect "$(statistic "$DEV_A" rx_read)" -gt 100 "RDMA reads"
	expect "$(carried ctx_added)" -ge 1 "contexts"
	expect "$(carried tx_falcon_trains)" -gt 50 "trains"
}

nvme_survives_a_reset_of_the_nic()
{
	local job

	fio --name=load --filename="$(disk)" --rw=randwrite --bs=4k-64k \
		--size=8M --direct=1 --ioengine=libaio --iodepth=8 --loops=20 \
		--verify=crc32c --verify_fatal=1 --minimal >"$scratch/fio" 2>&1 &
	job=$!
	for _ in 1 2 3; do
		sleep 2
		kill -0 $job
		devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
		devlink dev reload "e2100sim/e2100sim$NIC_B" >/dev/null
	done
	wait $job
	expect "$(statistic "$DEV_A" connections_lost)" -eq 0 "lost"
}

nvme_disconnects_under_load()
{
	ends_under_load 60
}

files_are_carried()
{
	local trains

	trains=$(carried tx_falcon_trains)
	serve_nfs
	tree_is_kept $B4
	diff -r "$scratch/tree" "$export/tree"
	expect "$(carried tx_falcon_trains)" -gt $((trains + 50)) "trains"
}

make_wired || exit 1
run_tests nvme_is_carried files_are_carried \
	nvme_survives_a_reset_of_the_nic nvme_disconnects_under_load
