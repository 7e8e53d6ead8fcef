#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The in-kernel interface for upper layer protocols, by the sample that uses
# all of it: pushes, pulls, RNR, completion in error, and who holds what.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command nsenter
modprobe -q falcon_echo || skip_all "no module falcon_echo (samples/falcon)"

knobs=/sys/module/falcon_echo/parameters
echo=/sys/kernel/debug/falcon_echo
[ -d "$echo" ] || mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
[ -d "$echo" ] || skip_all "no debugfs"

# knob NAME VALUE...
knob()
{
	while [ $# -gt 0 ]; do
		echo "$2" >"$knobs/$1"
		shift 2
	done
}

defaults()
{
	knob count 100 size 1000 rnr_every 5 cie_every 7 timeout_s 60 \
		never_ready 0
}

# client ADDRESS: in $A, but with a /sys that has debugfs, unlike ip netns exec
client()
{
	nsenter --net="/run/netns/$A" sh -c "echo $1 >$echo/run"
}

# run ADDRESS: its report becomes comments.
run()
{
	client "$1"
	cat "$echo/result" >"$scratch/result"
	sed 's/^/# /' "$scratch/result"
}

all_ok()
{
	run "$1"
	[ "$(grep -c '^ok' "$scratch/result")" -eq 8 ]
	fails grep -q '^not ok' "$scratch/result"
}

# told NAME: the number behind a line of the report
told()
{
	sed -n "s/.* $1 # //p" "$scratch/result"
}

refcount()
{
	awk -v name="$1" '$1 == name { print $3 }' /proc/modules
}

idle()
{
	[ "$(refcount falcon_echo)" -eq 0 ]
}

lossless()
{
	make_pair
	defaults
	all_ok "$B6"
	expect "$(told all_complete)" -eq 201 "transactions and BYE"
	# 200 requests: every seventh in error, every fifth refused once.
	expect "$(told errors_have_their_code)" -eq 28 "errors"
	expect "$(told refused_is_tried_again)" -ge 39 "refused once"
	all_ok "$B4"
	drop_pair
}

as_large_as_a_packet()
{
	make_pair
	defaults
	knob size 65000 count 50
	all_ok "$B6"
	drop_pair
}

nothing_refused_nothing_failed()
{
	make_pair
	defaults
	knob rnr_every 0 cie_every 0 count 200
	all_ok "$B6"
	expect "$(told all_complete)" -eq 401 "transactions and BYE"
	expect "$(told errors_have_their_code)" -eq 0 "errors"
	expect "$(told refused_is_tried_again)" -eq 0 "refused once"
	drop_pair
}

every_request_refused_once()
{
	make_pair
	defaults
	knob rnr_every 1 count 30
	all_ok "$B6"
	expect "$(told refused_is_tried_again)" -ge 59 "refused once"
	drop_pair
}

loss_of_one_percent()
{
	make_pair
	per_packet
	defaults
	knob count 300
	faults loss 1%
	all_ok "$B6"
	expect "$(told all_complete)" -eq 601 "transactions and BYE"
	expect $(($(lost_in "$A") + $(lost_in "$B"))) -gt 0 "packets lost"
	drop_pair
}

# Section 11: a target that never answers holds nobody up for longer than the
# time-out, and nothing of it stays behind.
transactions_time_out()
{
	make_pair
	defaults
	both sysctl -q net.falcon.txn_timeout_ms=300
	knob never_ready 1 count 10 rnr_every 0 timeout_s 4
	run "$B6"
	expect "$(told none_times_out)" -eq 20 "transactions given up"
	expect "$(told all_complete)" -eq 0 "answers"
	defaults
	all_ok "$B6"
	drop_pair
}

# 0: RNRs do not count, so that a target may refuse for ever.
no_time_out_if_none_is_set()
{
	make_pair
	defaults
	both sysctl -q net.falcon.txn_timeout_ms=0
	knob never_ready 1 count 10 rnr_every 0 timeout_s 3
	run "$B6"
	expect "$(told none_times_out)" -eq 0 "transactions given up"
	# ETIMEDOUT, of the client's own patience
	grep -qx "not ok 1 the_run_ends # 110" "$scratch/result"
	defaults
	drop_pair
}

# A reader that pauses for many time-outs: sockets have none.
slow_reader_of_a_socket()
{
	make_pair
	both sysctl -q net.falcon.txn_timeout_ms=100
	transfer 6 -b 8M -w 3000
	transfer 4 -b 8M -w 3000 -t seqpacket
	drop_pair
}

nobody_listens()
{
	make_pair
	defaults
	in_b sysctl -q net.falcon.cm_port=4796
	run "$B6"
	# ECONNREFUSED
	grep -qx "not ok 1 the_run_ends # 111" "$scratch/result"
	drop_pair
}

# The peer's namespace goes while a client waits for it.
namespace_goes()
{
	local job

	make_pair
	defaults
	both sysctl -q net.falcon.user_timeout_ms=2000
	knob count 100000 timeout_s 20
	client "$B6" &
	job=$!
	within 10 in_use
	ip netns del "$B"
	wait "$job"
	grep -q "^not ok 1" "$echo/result"
	ip netns del "$A"
	within 30 idle
}

in_use()
{
	[ "$(refcount falcon_echo)" -ge 2 ]
}

connections_hold_the_module()
{
	make_pair
	defaults
	both sysctl -q net.falcon.linger_ms=15000
	all_ok "$B6"
	# Both ends linger and answer duplicates: their ULP must stay.
	expect "$(refcount falcon_echo)" -eq 2 "connections that linger"
	fails rmmod falcon_echo 2>/dev/null
	within 60 idle
	rmmod falcon_echo
	modprobe falcon_echo
	both sysctl -q net.falcon.linger_ms=500
	all_ok "$B6"
	drop_pair
	within 60 idle
}

[ $# -gt 0 ] || set -- \
	lossless \
	as_large_as_a_packet \
	nothing_refused_nothing_failed \
	every_request_refused_once \
	loss_of_one_percent \
	transactions_time_out \
	no_time_out_if_none_is_set \
	slow_reader_of_a_socket \
	nobody_listens \
	namespace_goes \
	connections_hold_the_module
run_tests "$@"
status=$?
within 60 idle
modprobe -r falcon_echo || status=1
exit $status
