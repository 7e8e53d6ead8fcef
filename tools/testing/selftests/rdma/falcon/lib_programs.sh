#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs of rdma-core and perftest, as programs.sh, perftest.sh, carriers.sh
# and nic.sh run them between $DEV_A and $DEV_B, whatever these are over.

# shellcheck source=tools/testing/selftests/rdma/falcon/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

pingpongs()
{
	pingpong rc -c -s 65536
	pingpong rc -e
	pingpong ud -s 1000
	pingpong srq -q 4
	pingpong xsrq
}

connection_manager()
{
	program=rping
	pair -s -a $B4 -C 20 -V -S 4000 -- -c -a $B4 -C 20 -V -S 4000
	program=ucmatose
	pair -b $B4 -c 4 -- -s $B4 -c 4
	program=udaddy
	pair -b $B4 -c 2 -- -s $B4 -c 2
	program="rdma_server rdma_client"
	pair -- -s $B4
	program="rdma_xserver rdma_xclient"
	pair -c r -- -s $B4 -c r
	pair -c x -- -s $B4 -c x
}

rsockets()
{
	program=riostream
	pair -b $B4 -S 65536 -I 1 -C 20 -T v -- \
		-s $B4 -S 65536 -I 1 -C 20 -T v
	program=rcopy
	head -c 3000000 /dev/urandom >"$scratch/file"
	serve
	in_a timeout 90 rcopy "$scratch/file" "$B4:$scratch/copy" >/dev/null
	end_jobs
	cmp "$scratch/file" "$scratch/copy"
	rm "$scratch/copy"
}

perftests()
{
	perftest ib_write_bw -n 200 -s 65536
	perftest ib_write_bw -n 100 -s 1
	perftest ib_write_bw -n 20 -s 1048576 -q 4
	perftest ib_read_bw -n 100 -s 65536
	perftest ib_send_bw -n 100 -s 65536
	perftest ib_atomic_bw -n 100
	perftest ib_write_lat -n 200 -s 8
	perftest ib_read_lat -n 100 -s 8
	perftest ib_send_lat -n 100 -s 8
}

# loses PERCENT: so many packets, in both directions
loses()
{
	local id

	if ! on_e2100sim; then
		per_packet
		faults loss "$1%"
		return
	fi
	for id in "$NIC_A" "$NIC_B"; do
		knob "$id" port0/drop_ppm $(($1 * 10000))
	done
}

# lossy COMMAND...: while one packet in a hundred is lost
lossy()
{
	loses 1
	"$@"
	# The NICs' losses are counted by carries().
	on_e2100sim || expect $(($(lost_in "$A") + $(lost_in "$B"))) -gt 0 \
		"packets lost"
	loses 0
}

latencies()
{
	local op

	for op in write read send; do
		perftest ib_${op}_lat -s 1 -n 50
		perftest ib_${op}_lat -s 65536 -n 20
	done
	perftest ib_atomic_lat -n 50
}

sixty_four_queue_pairs()
{
	local op

	for op in write read send; do
		perftest ib_${op}_bw -q 64 -s 4096 -n 10
	done
	perftest ib_atomic_bw -q 64 -n 10
}

both_directions()
{
	local op

	for op in write read send; do
		perftest ib_${op}_bw -b -q 2 -s 65536 -n 20
	done
	perftest ib_atomic_bw -b -n 20
}

connected_by_rdma_cm()
{
	local op

	for op in write read send; do
		perftest ib_${op}_bw -R -s 65536 -n 20
		perftest ib_${op}_lat -R -s 8 -n 20
	done
	perftest ib_atomic_bw -R -n 20
	perftest ib_write_bw -R -b -q 8 -s 65536 -n 20
}

# carries [STATISTIC] COMMAND...: the NICs do, a connection each and more, and
# count what is looked for.
carries()
{
	local CARRIER=e2100sim statistic=tx_falcon_trains ns

	case $1 in
	fault_drop|psp_sealed) statistic=$1; shift ;;
	esac
	[ -e "$BUS" ] || modprobe -q e2100sim || return "$KSFT_SKIP"
	make_devices
	"$@"
	for ns in "$A" "$B"; do
		expect "$(nic_stat "$ns" ctx_added)" -ge 1 "contexts"
		expect "$(nic_stat "$ns" tx_falcon_trains)" -gt 50 "trains"
		expect "$(nic_stat "$ns" "$statistic")" -gt 3 "$statistic"
	done
	drop_devices
}
