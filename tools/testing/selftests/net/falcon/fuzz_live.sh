#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A live connection under packets from nowhere.  Without its SPI and PCID they
# move counters and nothing else: the transfer completes.  With both right they
# may break the connection, but neither the kernel nor its memory.
#
# FULL=1 throws 100,000 random packets, 1,000,000 mutated ones without SPI and
# PCID, and 100,000 with both.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_fuzz
make_pair 1500
per_packet

RANDOM_PKTS=20000
MUTATED_PKTS=60000
VICTIMS=8
BURST=1000
BURSTS=5
if [ -n "${FULL-}" ]; then
	RANDOM_PKTS=100000
	MUTATED_PKTS=1000000
	BURSTS=100
fi

refused()
{
	falcon -N "$B" stat | awk '
		/^in_(bad_(psp|hdr|addr|spi|pcid|fn|version)|no_conn|replay) / {
			sum += $2
		}
		END { print sum + 0 }'
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

# What the kernel and processes hold and cannot give back, in MiB: slabs, and the
# pages of packets, which are nobody's
memory_held()
{
	awk '$1 == "MemTotal:" { kb += $2 }
		$1 ~ /^(MemFree|Buffers|Cached):/ { kb -= $2 }
		END { print int(kb / 1024) }' /proc/meminfo
}

begin_victims()
{
	local i

	touch "$scratch/slow"
	for i in $(seq "$VICTIMS"); do
		in_b falcon_xfer -l -P $((7100 + i)) -b 200M 2>/dev/null &
		in_a falcon_xfer -P $((7100 + i)) -b 200M -m 1400 -e 100000 \
			"$B4" >/dev/null 2>&1 &
	done
	within 60 victims_live
}

victims_live()
{
	[ "$(falcon -N "$A" conn state established | grep -c '^established ')" \
		-ge "$VICTIMS" ]
}

# Sets $met, how many of those thrown reached a connection that lived.
burst() # SEED
{
	local in out refused

	in=$(counter "$B" in_pkts)
	out=$(counter "$A" out_pkts)
	refused=$(refused)
	thrown=$(in_a falcon_fuzz -k -i e0 -c 64 -s "$1" -n $BURST "$B4")
	refused=$(($(refused) - refused))
	in=$(($(counter "$B" in_pkts) - in))
	out=$(($(counter "$A" out_pkts) - out))
	met=$((in - out - refused))
}

# Not even the peer itself can make the kernel hold more than its buffers, and
# a connection that broke can be made anew: each burst has connections to meet
# that no other has touched.
mutated_packets_with_spi_and_pcid_are_bounded()
{
	local n before all=0 all_met=0 most=0 held

	both sysctl -q net.falcon.replay_margin_ms=60000
	for n in $(seq "$BURSTS"); do
		begin_victims
		before=$(memory_held)
		burst $((n + 10))
		held=$(($(memory_held) - before))
		[ $held -le $most ] || most=$held
		all=$((all + thrown))
		all_met=$((all_met + met))
		end_jobs
	done
	echo "# $all thrown, $all_met met a connection, $most MiB more held"
	expect $all_met -gt $((all / 2)) "packets that met a connection"
	expect $most -le 64 "MiB held"
	transfer 4 -b 1M
}

run_tests random_packets_move_counters_only \
	random_packets_move_counters_only_ipv6 \
	mutated_packets_without_spi_and_pcid_move_counters_only \
	mutated_acknowledgements_without_spi_and_pcid \
	mutated_packets_with_spi_and_pcid_are_bounded
