#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perftest over all that its programs can vary: operation, size, number of queue
# pairs, how they are connected, one direction or both. What counts is that each
# comes to its end, not how fast. With FULL=1 also every size from 2 bytes to
# 8 MiB, and more numbers of queue pairs.

. "$(dirname "$0")/lib_programs.sh"

need_verbs ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw \
	ib_write_lat ib_read_lat ib_send_lat ib_atomic_lat

# A byte, a packet and a bit, and the largest
sizes()
{
	perftest "$1" -s 1 -n 50
	perftest "$1" -s 9001 -n 50
	perftest "$1" -s 8388608 -n 5
}

sizes_of_writes() { sizes ib_write_bw; }
sizes_of_reads() { sizes ib_read_bw; }
sizes_of_sends() { sizes ib_send_bw; }

all_sizes()
{
	local op

	for op in write read send; do
		perftest ib_${op}_bw -a -n 5
		perftest ib_${op}_lat -a -n 5
	done
}

numbers_of_queue_pairs()
{
	local op n

	for n in 4 16 64; do
		for op in write read send; do
			perftest ib_${op}_bw -q "$n" -s 65536 -n 10
		done
		perftest ib_atomic_bw -q "$n" -n 10
	done
}

more=()
[ -z "${FULL-}" ] || more=(all_sizes numbers_of_queue_pairs)
make_devices || exit 1
run_tests sizes_of_writes sizes_of_reads sizes_of_sends latencies \
	sixty_four_queue_pairs both_directions connected_by_rdma_cm \
	"${more[@]}"
