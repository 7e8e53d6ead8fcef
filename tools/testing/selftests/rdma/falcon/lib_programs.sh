#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs of rdma-core and perftest, as programs.sh and carriers.sh run
# them between $DEV_A and $DEV_B, whatever these are over.

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
	loses 0
}
