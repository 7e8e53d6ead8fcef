#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The cache of contexts: more connections than it has entries. An own count,
# of the look-ups as they are traced, says what hits and misses must be.

. "$(dirname "$0")/lib.sh"
need_e2100
need_command falcon_many awk

CONNS=${CONNS:-1000}
ENTRIES=${ENTRIES:-100}
TRACING=/sys/kernel/tracing

trace_look_ups()
{
	[ -e "$TRACING"/events ] || mount -t tracefs none "$TRACING"
	echo 32768 >"$TRACING"/buffer_size_kb
	echo nop >"$TRACING"/current_tracer
	# One order for all CPUs.
	echo counter >"$TRACING"/trace_clock
	echo >"$TRACING"/trace
	echo "$1" >"$TRACING"/events/e2100sim/e2100_ctx/enable
}

# own_count DEVICE: "hits misses" of a cache of $ENTRIES that replaces the least
# recently used, from the trace: a list, and who is in it.
own_count()
{
	awk -v dev="dev=$1" -v entries="$ENTRIES" '
	function unlink_cid(c) {
		next_of[prev_of[c]] = next_of[c]
		prev_of[next_of[c]] = prev_of[c]
		delete prev_of[c]
		delete next_of[c]
		count--
	}
	function push(c) {
		next_of[c] = next_of["head"]
		prev_of[c] = "head"
		prev_of[next_of["head"]] = c
		next_of["head"] = c
		count++
	}
	BEGIN { next_of["head"] = "tail"; prev_of["tail"] = "head" }
	/e2100_ctx:/ {
		for (i = 1; i <= NF && $i != "e2100_ctx:"; i++);
		if ($(i + 1) != dev)
			next
		c = $(i + 2) $(i + 3)
		if (c in prev_of) {
			unlink_cid(c)
			if ($(i + 4) != "del")
				hits++
		} else {
			misses++
		}
		if ($(i + 4) != "del")
			push(c)
		if (count > entries)
			unlink_cid(prev_of["tail"])
	}
	END { print hits + 0, misses + 0 }' "$scratch/trace"
}

counted()
{
	echo "$(nic_stat "$1" ctx_hit) $(nic_stat "$1" ctx_miss)"
}

hits_and_misses_are_as_traced()
{
	local a b lost count_a count_b

	make_nics "$(lower_type)"
	both sysctl -q net.falcon.security=none
	param "$NIC_A" cache_entries "$ENTRIES"
	param "$NIC_B" cache_entries "$ENTRIES"
	both sysctl -q net.falcon.max_conns=$((CONNS * 2))
	mkfifo "$scratch/hold"
	exec 9<>"$scratch/hold"
	trace_look_ups 1
	in_b falcon_many -v -n "$CONNS" -l >"$scratch/ready" <&9 &
	in_a falcon_many -v -n "$CONNS" "$B4" >"$scratch/up" <&9 &
	within "${PATIENCE:-300}" grep -q ready "$scratch/up"
	within 60 contexts_are "$CONNS $ENTRIES"
	within 60 all_is_traced
	echo 0 >"$TRACING"/events/e2100sim/e2100_ctx/enable
	echo local >"$TRACING"/trace_clock
	lost=$(cat "$TRACING"/per_cpu/cpu*/stats |
		awk '/^(overrun|dropped events)/ { n += $NF } END { print n }')
	expect "$lost" -eq 0 "look-ups that the trace lost"
	a=$(own_count "$NIC_A")
	b=$(own_count "$NIC_B")
	echo "# $CONNS connections, $ENTRIES entries: hits and misses $a, $b"
	echo "# counted by the devices: $count_a, $count_b"
	[ "$a" = "$count_a" ]
	[ "$b" = "$count_b" ]
	expect "${a#* }" -ge "$CONNS" "misses"
}

# contexts_are "KNOWN AT-HAND"
contexts_are()
{
	[ "$(cat "$DEBUG/e2100sim$NIC_A/port0/contexts")" = "$1" ]
}

# No look-up falls between what is read of the counters and of the trace.
all_is_traced()
{
	count_a=$(counted "$A")
	count_b=$(counted "$B")
	cat "$TRACING"/trace >"$scratch/trace"
	[ "$(counted "$A") $(counted "$B")" = "$count_a $count_b" ]
}

# What a look-up costs is part of every round trip: at least once each way.
a_look_up_takes_its_time()
{
	local quick slow

	make_nics "$(lower_type)"
	param "$NIC_B" cache_miss_ns 1000000
	param "$NIC_B" cache_entries 0
	in_a ping -q -c 2 "$B4" >/dev/null
	quick=$(ping_pong)
	expect "$(nic_stat "$B" ctx_miss)" -eq 0 "misses, if all are at hand"
	param "$NIC_B" cache_hit_ns 1000000
	slow=$(ping_pong)
	echo "# $quick us, $slow us with look-ups of 1000 us each way"
	expect "$slow" -ge 2000 "round trip, us"
}

# Two connections that take the only entry from each other: an engine that looks
# up for this long does nothing else. There is one for each direction.
a_miss_takes_its_time()
{
	local begin ms misses other

	make_nics direct
	param "$NIC_B" cache_entries 1
	param "$NIC_B" cache_miss_ns 1000000
	in_a ping -q -c 2 "$B4" >/dev/null
	begin=$(date +%s%N)
	in_b falcon_xfer -l -P 7001 -L 300 -m 64 >/dev/null &
	in_a falcon_xfer -P 7001 -L 300 -m 64 "$B4" >/dev/null &
	other=$!
	ping_pong 300 >/dev/null
	wait "$other"
	ms=$((($(date +%s%N) - begin) / 1000000))
	misses=$(nic_stat "$B" ctx_miss)
	echo "# $misses misses of 1 ms in $ms ms"
	expect "$misses" -ge 2 "misses"
	expect $((ms * 2)) -ge "$misses" "engines' time, ms"
}

# ping_pong [N]: median of as many, us
ping_pong()
{
	local n=${1:-50} receiver

	in_b falcon_xfer -l -L "$n" -m 64 >/dev/null &
	receiver=$!
	in_a falcon_xfer -L "$n" -m 64 "$B4" >"$scratch/pings"
	wait "$receiver"
	number "$scratch/pings" rtt_p50_us | cut -d. -f1
}

run_tests hits_and_misses_are_as_traced a_look_up_takes_its_time \
	a_miss_takes_its_time
status=$?
drop_nics
exit $status
