#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs of rdma-core and perftest between two namespaces, unmodified: on
# a clean wire, and on one that loses a packet in a hundred.

. "$(dirname "$0")/lib_programs.sh"

need_verbs ibv_rc_pingpong rping ib_write_bw

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

one_percent_lost_pingpongs() { lossy pingpongs; }
one_percent_lost_connection_manager() { lossy connection_manager; }
one_percent_lost_rsockets() { lossy rsockets; }
one_percent_lost_perftest() { lossy perftest ib_write_bw -n 200 -s 65536; }

make_devices || exit 1
run_tests lossless_pingpongs lossless_connection_manager lossless_rsockets \
	lossless_perftest with_bidirectional_traffic \
	one_percent_lost_pingpongs one_percent_lost_connection_manager \
	one_percent_lost_rsockets one_percent_lost_perftest
