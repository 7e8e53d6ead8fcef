#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Pacing by the NIC: SO_MAX_PACING_RATE becomes departure times, and the lower
# device sees packets pass at that rate. How late each of them is, is printed,
# not judged: that is the machine's. So are probes for acknowledgements that are
# late, and windows that shrink for delay: there are none here.
#
# Goodput is judged where the machine had time: a processor without any left has
# more to do than it carries, and one on which a sleeper woke late stood still,
# for its host has other work. Such a try is printed and made again. A test whose
# largest rate was never judged is a skip. That of the whole transfer, from the
# first byte to the answer, is printed as well, and judged where the clock counts
# instructions, so that nothing stands still: `CLOCK=icount make check-vm TESTS=pace`.

. "$(dirname "$0")/lib.sh"
need_e2100
need_command python3 awk taskset

TRACING=/sys/kernel/tracing
EVENT=$TRACING/events/net/net_dev_start_xmit
PERCENTS=${PERCENTS:-20 50 80 95}
TRIES=${TRIES:-2}
STOOD_US=50000
IDLE=5
BUFFER=$((32 << 20))

# Two hosts whose windows never close, and which take nothing for lost: one
# packet at a time.
wide_open()
{
	make_nics "$(lower_type)"
	sysctl -q net.falcon.swift.init_fcwnd=200 \
		net.falcon.swift.init_ncwnd=200
	both sysctl -q net.falcon.train_pkts=1 net.falcon.loss_policy=0 \
		net.falcon.min_rto_us=5000000
}

trace_departures()
{
	echo 0 >"$EVENT/enable"
	echo 8192 >"$TRACING/buffer_size_kb"
	echo mono >"$TRACING/trace_clock"
	echo 'name == "w0"' >"$EVENT/filter"
	echo >"$TRACING/trace"
	echo 1 >"$EVENT/enable"
}

witnesses()
{
	local cpu

	seen_by=()
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		e2100_wire.py witness "$cpu" >"$scratch/late.$cpu" &
		seen_by+=($!)
		within 60 test -s "$scratch/late.$cpu"
	done
	grep '^cpu[0-9]' /proc/stat >"$scratch/before"
}

# Sets $late, the latest that one of them woke, us, and $idle, what the busiest
# processor had left, per cent.
hear_witnesses()
{
	grep '^cpu[0-9]' /proc/stat >"$scratch/after"
	kill "${seen_by[@]}"
	wait "${seen_by[@]}"
	late=$(cat "$scratch"/late.* | sort -n | tail -n 1)
	idle=$(paste -d' ' "$scratch/before" "$scratch/after" | awk '{
			n = NF / 2
			for (i = all = 0; ++i < n;)
				all += $(i + 1 + n) - $(i + 1)
			print int(($(5 + n) - $5) * 100 / (all ? all : 1))
		}' | sort -n | head -n 1)
}

# watched BYTES OPTION...: a transfer whose departures at the lower device are
# traced
watched()
{
	local bytes=$1

	shift
	wide_open
	trace_departures
	witnesses
	transfer 4 -b "$bytes" -m 64K -S "$BUFFER" -R "$BUFFER" -C fixed "$@"
	hear_witnesses
	echo 0 >"$EVENT/enable"
	cat "$TRACING/trace" >"$scratch/trace"
}

# off_by GOODPUT RATE: hundredths of a per cent
off_by()
{
	awk -v a="$1" -v b="$2" \
		'BEGIN { d = a / b - 1; print int((d < 0 ? -d : d) * 10000) }'
}

# paced BYTES-A-SECOND: sets $off, how far the goodput is off while the rate is
# what holds it back, and $whole_off, that of the whole transfer
paced()
{
	local bytes=$(($1 * 2)) late_us seen whole

	[ "$bytes" -ge 1200000 ] || bytes=1200000
	watched "$bytes" -r "$1"
	expect "$(nic_stat "$A" tx_paced)" -gt 50 "packets that the wheel held"
	seen=$(e2100_wire.py paced "$scratch/trace" "$1" "$bytes")
	late_us=${seen% rate*}
	seen=${seen##* }
	whole=$(number "$scratch/sent.json" mbytes_per_s |
		awk '{ print int($1 * 1e6) }')
	off=$(off_by "$seen" "$1")
	whole_off=$(off_by "$whole" "$1")
	awk -v a="$1" -v b="$seen" -v whole="$whole" -v late="$late_us" \
		-v idle="$idle" -v woke="$late" 'BEGIN {
		printf "# %.1f Mb/s: %+.2f %%, whole %+.2f %%; late, us: %s",
			a * 8 / 1e6, (b / a - 1) * 100, (whole / a - 1) * 100,
			late
		printf "; idle %d %%, witness woke %d us late\n", idle, woke }'
}

# had_time: the machine did, in the last transfer
had_time()
{
	[ "$idle" -ge "$IDLE" ] && [ "$late" -le "$STOOD_US" ]
}

# kept BYTES-A-SECOND: the rate is, to one per cent, where the machine has time;
# and throughout the transfer where that can be said. Sets $judged if it had.
kept()
{
	judged=
	for _ in $(seq "$TRIES"); do
		paced "$1"
		if [ "$off" -le 100 ]; then
			judged=yes
			break
		fi
		! had_time || judged=yes
	done
	[ -z "$judged" ] || expect "$off" -le 100 "1/100 % off"
	[ "${CLOCK-}" != icount ] ||
		expect "$whole_off" -le 100 "1/100 % off, of the whole"
}

judged()
{
	[ -n "$judged" ] || return "$KSFT_SKIP"
}

one_megabit_is_kept()
{
	kept 125000
	judged
}

ten_megabits_are_kept()
{
	kept 1250000
	judged
}

what_the_guest_carries_is_kept()
{
	local most percent

	watched 12M
	most=$(number "$scratch/sent.json" mbytes_per_s |
		awk '{ print int($1 * 1000000) }')
	echo "# without a rate: $((most * 8 / 1000000)) Mb/s"
	for percent in $PERCENTS; do
		echo "# $percent %:"
		kept $((most * percent / 100))
	done
	judged
}

mountpoint -q "$TRACING" || mount -t tracefs none "$TRACING"
run_tests one_megabit_is_kept ten_megabits_are_kept \
	what_the_guest_carries_is_kept
status=$?
sysctl -q net.falcon.swift.init_ncwnd=64 net.falcon.swift.init_fcwnd=32
echo local >"$TRACING/trace_clock"
echo 0 >"$EVENT/filter"
drop_nics
exit $status
