#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The end of a connection travels in band, in order and acknowledged like data:
# loss does not undo it, and nothing is left of a connection some time after.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_sock_test falcon_many
make_pair 1500
per_packet

connections()
{
	local n

	n=$(falcon -N "$1" conn show state all | grep -c "$A4\|$A6") || :
	echo "$n"
}

none_left()
{
	[ "$(connections "$A")" -eq 0 ] && [ "$(connections "$B")" -eq 0 ]
}

# shellcheck disable=SC2016 # the field is awk's
sockets_left()
{
	in_a awk '/^FALCON/ { sum += $3 } END { print sum + 0 }' \
		/proc/net/protocols
}

both_ends_forget_a_closed_connection()
{
	transfer 4 -b 200K
	within 20 none_left
	expect "$(sockets_left)" -eq 0 "sockets"
}

# The sub-tests of falcon_sock_test that end connections, on a bad wire.
endings()
{
	local name failed=0

	for name in close_gives_the_peer_end_of_file \
		    half_closed_connection_works_the_other_way \
		    close_with_unread_data_resets linger_zero_resets \
		    data_sent_before_close_arrives linger_waits_for_the_data \
		    both_ends_may_close_at_once \
		    closed_listener_resets_those_in_its_queue; do
		falcon_sock_test "$@" -s "/run/netns/$B" -c "/run/netns/$A" \
			-a "$B4" $name >"$scratch/log" 2>&1 && continue
		grep -vE '^(TAP|1\.\.)' "$scratch/log" | sed 's/^/# /'
		failed=1
	done
	return $failed
}

endings_survive_loss_stream()
{
	faults delay 100us loss 10% duplicate 5%
	endings -t stream
	faults none
	within 30 none_left
}

endings_survive_loss_seqpacket()
{
	faults delay 100us loss 10% duplicate 5%
	endings -t seqpacket
	faults none
	within 30 none_left
}

closed_connection_answers_duplicates()
{
	local before

	both sysctl -q net.falcon.linger_ms=10000
	transfer 4 -b 100K
	before=$(counter "$A" in_no_conn)
	sleep 1
	expect "$(connections "$A")" -ge 1 "lingering connections"
	expect "$(counter "$A" in_no_conn)" -eq "$before" "packets refused"
	both sysctl -q net.falcon.linger_ms=1000
	within 30 none_left
}

# The peer vanished before the close: patience has an end here as well.
silent_peer_does_not_keep_an_orphan()
{
	both sysctl -q net.falcon.user_timeout_ms=2000
	mkfifo "$scratch/hold" "$scratch/close"
	in_b falcon_many -n 3 -l <"$scratch/hold" >"$scratch/b" &
	in_a falcon_many -n 3 "$B4" <"$scratch/close" >"$scratch/a" &
	exec 8>"$scratch/close" 9>"$scratch/hold"
	within 20 grep -q ready "$scratch/a"
	faults loss 100%
	exec 8>&-
	wait %2
	within 60 test_orphans_gone
	expect "$(sockets_left)" -eq 0 "sockets"
	faults none
	both sysctl -q net.falcon.user_timeout_ms=60000
}

test_orphans_gone()
{
	[ "$(connections "$A")" -eq 0 ]
}

closed_cid_is_not_used_again_soon()
{
	local i

	in_a sysctl -q net.falcon.quarantine_ms=60000
	rm -f "$scratch/cids"
	for i in 1 2 3 4 5 6 7 8; do
		transfer 4 -b "${i}K"
		number "$scratch/sent.json" cid >>"$scratch/cids"
	done
	expect "$(sort -u "$scratch/cids" | wc -l)" -eq 8 "distinct CIDs"
	in_a sysctl -q net.falcon.quarantine_ms=5000
}

run_tests both_ends_forget_a_closed_connection endings_survive_loss_stream \
	endings_survive_loss_seqpacket closed_connection_answers_duplicates \
	silent_peer_does_not_keep_an_orphan closed_cid_is_not_used_again_soon
