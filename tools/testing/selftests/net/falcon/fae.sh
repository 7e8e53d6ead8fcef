#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Congestion control of a module of its own, the parameters of Swift, and what
# an algorithm sees: marks of ECN, from the wire to its window.

. "$(dirname "$0")/lib.sh"

need_falcon
modprobe -q falcon_fae_ecn ||
	skip_all "no module falcon_fae_ecn (samples/falcon)"
swift=/proc/sys/net/falcon/swift

set_fae()
{
	both sysctl -q net.falcon.fae="$1"
}

used_fae()
{
	grep -q "\"fae\": *\"$1\"" "$scratch/conn.json"
}

refcount()
{
	awk '$1 == "falcon_fae_ecn" { print $3 }' /proc/modules
}

unused()
{
	[ "$(refcount)" -eq 0 ]
}

module_registers_an_algorithm()
{
	make_pair
	set_fae ecn
	transfer 4 -b 4M
	used_fae ecn
	transfer 6 -b 4M
	used_fae ecn
	drop_pair
	within 30 unused
}

connections_hold_the_algorithm()
{
	make_pair
	set_fae ecn
	in_b falcon_xfer -l -b 1G 2>/dev/null &
	in_a falcon_xfer -b 1G -e 10000 "$B4" >/dev/null 2>&1 &
	within 10 eval '! unused'
	fails rmmod falcon_fae_ecn 2>/dev/null
	end_jobs
	both sysctl -q net.falcon.linger_ms=0
	drop_pair
	within 30 unused
	rmmod falcon_fae_ecn
	modprobe falcon_fae_ecn
}

# A namespace may name an algorithm whose module has gone.
algorithm_that_has_gone_is_swift()
{
	make_pair
	set_fae ecn
	within 30 unused
	rmmod falcon_fae_ecn
	transfer 4 -b 200K
	used_fae swift
	fails in_a sysctl -q net.falcon.fae=ecn 2>/dev/null
	modprobe falcon_fae_ecn
	drop_pair
}

# netem marks where it would drop, if it may: the receiver counts the marks, its
# ACKs carry the counter, and the algorithm's window stays smaller for it.
marks_reach_the_algorithm()
{
	local without acks=$trace/events/falcon/falcon_ack/enable

	make_pair 1500
	per_packet
	both sysctl -q net.falcon.flows_ipv4=1
	set_fae ecn
	transfer 4 -b 4M
	without=$(number "$scratch/conn.json" fcwnd_milli)
	faults loss 30% ecn
	mountpoint -q "$trace" || mount -t tracefs tracefs "$trace"
	echo >"$trace/trace"
	echo 1 >"$acks"
	transfer 4 -b 4M
	echo 0 >"$acks"
	grep -cE ' falcon_ack: .* ecn=[1-9]' "$trace/trace" >"$scratch/marks" || :
	echo >"$trace/trace"
	echo "# fcwnd $without without marks," \
		"$(number "$scratch/conn.json" fcwnd_milli) with"
	expect "$(number "$scratch/conn.json" fcwnd_milli)" -lt "$without" "fcwnd"
	expect "$(cat "$scratch/marks")" -gt 0 "ACKs that tell of marks"
	drop_pair
}

# flows OWN PEERS WANT: what $A and $B may have, and what a connection gets.
flows()
{
	in_a sysctl -q net.falcon.flows_ipv4="$1"
	in_b sysctl -q net.falcon.flows_ipv4="$2"
	transfer 4 -b 1M
	expect "$(number "$scratch/sent.json" flows)" -eq "$3" \
		"flows of $1 and $2"
}

peer_with_one_flow_gets_one()
{
	make_pair
	flows 4 4 4
	flows 4 1 1
	flows 1 4 1
	drop_pair
}

write_knob()
{
	printf %s "$2" 2>/dev/null >"$swift/$1" || return 1
} 2>/dev/null

parameters_are_decimals_within_bounds()
{
	[ "$(cat "$swift/min_fcwnd")" = 0.01 ]
	[ "$(cat "$swift/max_fcwnd")" = 256 ]
	write_knob max_fcwnd 512.5
	[ "$(cat "$swift/max_fcwnd")" = 512.5 ]
	write_knob max_fcwnd 256
	write_knob plb_target_delay_multiplier 1.25
	[ "$(cat "$swift/plb_target_delay_multiplier")" = 1.25 ]
	write_knob plb_target_delay_multiplier 1.01
	# The greatest is below 2048, and the initial window lies between.
	fails write_knob max_fcwnd 2048
	fails write_knob max_fcwnd 31
	fails write_knob init_fcwnd 257
	fails write_knob fabric_multiplicative_decrease_factor 1.1
	fails write_knob target_rx_buffer_level 32
	fails write_knob min_ncwnd 0
	fails write_knob min_ncwnd 1.5
	fails write_knob delay_select 4
	fails write_knob max_fcwnd nonsense
	[ "$(cat "$swift/max_fcwnd")" = 256 ]
}

every_parameter_takes_its_own_value()
{
	local file value count=0

	for file in "$swift"/*; do
		value=$(cat "$file")
		write_knob "${file##*/}" "$value"
		[ "$(cat "$file")" = "$value" ]
		count=$((count + 1))
	done
	expect "$count" -eq 34 "parameters"
}

parameters_are_heeded()
{
	make_pair
	both sysctl -q net.falcon.flows_ipv4=1
	set_fae fixed
	write_knob init_fcwnd 7
	transfer 4 -b 1M
	write_knob init_fcwnd 32
	expect "$(number "$scratch/conn.json" fcwnd_milli)" -eq 7000 "fcwnd"
	drop_pair
}

default_events()
{
	write_knob event_queue_threshold_1 256
	write_knob event_time_threshold_ns 50000
	write_knob event_packets_threshold 16
}

# Events wait for the end of a batch, and how many wait decides which ACKs become
# events; what is sent arrives all the same.
# spec: 10.6+1 10.6.1-1
events_wait_in_a_queue()
{
	make_pair
	transfer 4 -b 1M
	expect "$(counter "$A" fae_queued)" -eq 0 "events queued by default"
	both sysctl -q net.falcon.fae_batch=4
	transfer 4 -b 4M
	expect "$(counter "$A" fae_queued)" -gt 0 "events queued"
	expect "$(counter "$A" fae_held_back)" -eq 0 "ACKs held back"
	write_knob event_queue_threshold_1 0
	write_knob event_time_threshold_ns 1000000000
	write_knob event_packets_threshold 1023
	transfer 4 -b 4M
	expect "$(counter "$A" fae_held_back)" -gt 0 "ACKs held back"
	default_events
	both sysctl -q net.falcon.fae_batch=0
	transfer 4 -b 1M
	drop_pair
}

# They are of all connections: no other namespace has them.
parameters_belong_to_the_host()
{
	make_pair
	fails in_a cat "$swift/max_fcwnd" 2>/dev/null
	drop_pair
}

run_tests module_registers_an_algorithm connections_hold_the_algorithm \
	algorithm_that_has_gone_is_swift marks_reach_the_algorithm \
	peer_with_one_flow_gets_one \
	parameters_are_decimals_within_bounds \
	every_parameter_takes_its_own_value parameters_are_heeded \
	events_wait_in_a_queue parameters_belong_to_the_host
status=$?
within 30 unused
modprobe -r falcon_fae_ecn || status=1
exit $status
