#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What an application may expect of a Falcon socket: falcon_sock_test, for
# streams and messages, over IPv4 and IPv6, within a host and between two.  TCP
# and SCTP take the same sub-tests, which shows that they ask for what sockets
# do.  Everything runs at once, for most of the time is spent waiting.
#
# LONG=1 adds the sub-tests that take minutes.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_sock_test
make_pair
modprobe -q sctp

names=

# start NAME OPTION...
start()
{
	local name=$1

	shift
	names="$names $name"
	(
		falcon_sock_test ${LONG:+-L} "$@" >"$scratch/$name" 2>&1
		echo $? >"$scratch/$name.status"
	) &
}

result_of()
{
	while [ ! -s "$scratch/$1.status" ]; do
		sleep 0.2
	done
	grep -vE '^(ok|TAP|1\.\.)' "$scratch/$1" | sed "s/^/# $1: /"
	return "$(cat "$scratch/$1.status")"
}

pair=(-s "/run/netns/$B" -c "/run/netns/$A" -a)
start stream4 -4
start stream6 -6
start seqpacket4 -4 -t seqpacket
start seqpacket6 -6 -t seqpacket
start wire_stream4 -4 "${pair[@]}" "$B4"
start wire_seqpacket6 -6 -t seqpacket "${pair[@]}" "$B6"
start tcp6 -6 -p tcp
start sctp4 -4 -p sctp -t seqpacket

for name in $names; do
	eval "$name() { result_of $name; }"
done
# shellcheck disable=SC2086 # names are words
run_tests $names
