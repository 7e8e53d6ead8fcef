#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A live connection under packets from nowhere.  Without its SPI and PCID they
# move counters and nothing else: the transfer completes.  With both right they
# may break the connection, but neither the kernel nor its memory.
#
# FULL=1 throws 100,000 random and 1,000,000 mutated packets.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_fuzz
make_pair 1500
per_packet

RANDOM_PKTS=20000
MUTATED_PKTS=60000
if [ -n "${FULL-}" ]; then
	RANDOM_PKTS=100000
	MUTATED_PKTS=1000000
fi

refused()
{
	local sum=0 name

	for name in in_bad_psp in_bad_hdr in_no_conn in_bad_addr in_bad_spi \
		    in_bad_pcid in_bad_fn in_replay in_bad_version; do
		sum=$((sum + $(counter "$B" $name)))
	done
	echo $sum
}

# Throws packets during a transfer that outlives them, which must not notice.
under_fire()
{
	local before thrown counted stop=$scratch/stop

	before=$(refused)
	(
		while [ ! -e "$stop" ]; do
			transfer 4 -b 3M -m 30000 -e 2000
			echo "done" >>"$scratch/transfers"
		done
	) &
	transfers=$!
	sleep 1
	thrown=$(in_a falcon_fuzz "$@")
	touch "$stop"
	wait $transfers
	counted=$(($(refused) - before))
	echo "# $thrown thrown, $counted refused," \
		"$(wc -l <"$scratch/transfers") transfers meanwhile"
	# Some are lost on the way to a socket that is full.
	expect "$counted" -gt $((thrown / 2)) "packets refused"
	expect "$counted" -le "$((thrown + 10))" "packets refused"
	rm "$stop" "$scratch/transfers"
}

random_packets_move_counters_only()
{
	under_fire -s 1 -n $RANDOM_PKTS "$B4"
}

random_packets_move_counters_only_ipv6()
{
	under_fire -s 2 -n $RANDOM_PKTS "$B6"
}

# spec: 9.2.2.3-8
mutated_packets_without_spi_and_pcid_move_counters_only()
{
	under_fire -i e0 -s 3 -n $MUTATED_PKTS "$B4"
	expect "$(counter "$B" in_bad_spi)" -gt 0 "wrong SPIs"
}

mutated_acknowledgements_without_spi_and_pcid()
{
	local before

	in_b falcon_xfer -l -b 40M &
	in_a falcon_xfer -b 40M -m 30000 -e 5000 "$B4" >/dev/null &
	sleep 1
	before=$(counters "$A" 'in_bad_*')
	in_b falcon_fuzz -i e0 -s 4 -n $RANDOM_PKTS "$A4"
	expect "$(counters "$A" 'in_bad_*')" -gt "$before" "packets refused"
	wait %2
	wait %1
}

slab_bytes()
{
	awk '/^Slab:/ { print $2 * 1024 }' /proc/meminfo
}

# Not even the peer itself can make the kernel hold more than its buffers, and
# a connection that broke can be made anew.
mutated_packets_with_spi_and_pcid_are_bounded()
{
	local before after direction

	before=$(slab_bytes)
	for direction in 1 2 3; do
		in_b falcon_xfer -l -b 200M 2>/dev/null &
		in_a falcon_xfer -b 200M -m 30000 -e 5000 "$B4" \
			>/dev/null 2>&1 &
		sleep 1
		in_a falcon_fuzz -k -i e0 -s $((direction + 10)) \
			-n $((MUTATED_PKTS / 3)) "$B4" || :
		after=$(slab_bytes)
		expect $(((after - before) / 1048576)) -le 64 "MiB of slabs"
		end_jobs
	done
	transfer 4 -b 1M
}

run_tests random_packets_move_counters_only \
	random_packets_move_counters_only_ipv6 \
	mutated_packets_without_spi_and_pcid_move_counters_only \
	mutated_acknowledgements_without_spi_and_pcid \
	mutated_packets_with_spi_and_pcid_are_bounded
