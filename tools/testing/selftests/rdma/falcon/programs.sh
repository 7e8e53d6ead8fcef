#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs of rdma-core and perftest between two namespaces, unmodified: on
# a clean wire, and on one that loses a packet in a hundred.

. "$(dirname "$0")/lib.sh"

need_verbs ibv_rc_pingpong rping ib_write_bw

# What both wires see
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

with_bidirectional_traffic()
{
	perftest ib_write_bw -b -n 100 -s 65536 -q 2
	perftest ib_send_bw -b -n 50 -s 65536
	perftest ib_write_bw -R -n 100 -s 65536
}

lossless_pingpongs() { pingpongs; }
lossless_connection_manager() { connection_manager; }
lossless_rsockets() { rsockets; }
lossless_perftest() { perftests; }

lossy()
{
	per_packet
	faults loss 1%
	"$@"
	faults none
}

one_percent_lost_pingpongs() { lossy pingpongs; }
one_percent_lost_connection_manager() { lossy connection_manager; }
one_percent_lost_rsockets() { lossy rsockets; }
one_percent_lost_perftest() { lossy perftest ib_write_bw -n 200 -s 65536; }

make_devices || exit 1
run_tests lossless_pingpongs lossless_connection_manager lossless_rsockets \
	lossless_perftest with_bidirectional_traffic \
	one_percent_lost_pingpongs one_percent_lost_connection_manager \
	one_percent_lost_rsockets one_percent_lost_perftest
