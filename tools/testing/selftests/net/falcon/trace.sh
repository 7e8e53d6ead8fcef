#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every tracepoint fires where it should, and its fields make sense.

. "$(dirname "$0")/lib.sh"

need_falcon
tracing=/sys/kernel/tracing
[ -d $tracing/events ] || mount -t tracefs tracefs $tracing 2>/dev/null
[ -d $tracing/events/falcon ] || skip_all "no tracepoints of falcon"
make_pair 1500
per_packet

start_trace()
{
	echo 0 >$tracing/tracing_on
	echo >$tracing/trace
	echo 40000 >$tracing/buffer_size_kb
	echo 1 >$tracing/events/falcon/enable
	echo 1 >$tracing/tracing_on
}

stop_trace()
{
	echo 0 >$tracing/tracing_on
	echo 0 >$tracing/events/falcon/enable
	grep -v '^#' $tracing/trace >"$scratch/trace" || :
	echo >$tracing/trace
}

# Lines of the trace that match; none is no error.
events()
{
	grep -c "$1" "$scratch/trace" || :
}

fired()
{
	expect "$(events " $1:")" -ge "${2:-1}" "$1 events"
}

clean_transfer_is_traced()
{
	faults none
	start_trace
	transfer 4 -b 500K
	stop_trace
	fired falcon_send 300
	fired falcon_receive 300
	fired falcon_ack 10
	fired falcon_cc 10
	fired falcon_conn_state 4
	expect "$(events ' falcon_retransmit:')" -le 3 \
		"retransmissions"
}

retransmissions_are_traced_with_their_reason()
{
	local traced counted

	faults delay 100us loss 5%
	start_trace
	transfer 4 -b 1M
	stop_trace
	fired falcon_retransmit 5
	grep ' falcon_retransmit:' "$scratch/trace" >"$scratch/retx"
	grep -qE 'rack|tlp' "$scratch/retx"
	traced=$(wc -l <"$scratch/retx")
	counted=$(number "$scratch/sent.json" retx)
	# The reading end sends two packets again at most: its answer and FIN.
	expect "$traced" -ge "$counted" "traced of $counted counted"
	expect "$traced" -le $((counted + 20)) "traced of $counted counted"
	faults none
}

path_changes_are_traced()
{
	faults delay 100us
	start_trace
	(
		sleep 1
		faults loss 100%
		sleep 3
		faults delay 100us
	) &
	transfer 6 -b 4M -e 30000
	stop_trace
	fired falcon_relabel
	faults none
}

disabled_tracepoints_are_silent()
{
	stop_trace
	echo 1 >$tracing/tracing_on
	transfer 4 -b 100K
	grep -v '^#' $tracing/trace >"$scratch/trace" || :
	expect "$(events falcon_)" -eq 0 "events"
}

run_tests clean_transfer_is_traced \
	retransmissions_are_traced_with_their_reason \
	path_changes_are_traced disabled_tracepoints_are_silent
