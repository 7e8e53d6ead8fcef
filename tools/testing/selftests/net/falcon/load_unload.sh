#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The module comes and goes, fifty times, and leaves nothing behind; it stays
# while there are sockets.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_many python3
# Namespaces of tests before this one may still be going.
within 60 modprobe -r falcon || skip_all "falcon is in use, or built in"

leaves_nothing_behind()
{
	[ ! -e /proc/sys/net/falcon ]
	fails grep -i falcon /proc/slabinfo
	fails grep -i falcon /proc/net/protocols
	fails grep -w falcon /proc/modules
	# 1000 and 4795 are nobody's any more.
	fails grep -E ' [0-9A-F]+:(03E8|12BB) ' /proc/net/udp /proc/net/udp6
}

unloaded_module_leaves_nothing_behind()
{
	modprobe falcon
	modprobe -r falcon
	leaves_nothing_behind
}

# The modules that it needs stay: ciphers test themselves for seconds.
fifty_times()
{
	for _ in $(seq 50); do
		modprobe falcon
		[ -e /proc/sys/net/falcon/cm_port ]
		rmmod falcon
	done
	leaves_nothing_behind
}

with_traffic_in_between()
{
	for _ in $(seq 5); do
		modprobe falcon
		make_pair
		transfer 4 -b 500K
		drop_pair
		within 30 modprobe -r falcon
	done
	leaves_nothing_behind
}

with_namespaces_present()
{
	modprobe -r falcon 2>/dev/null || :
	ip netns add "$A-early"
	modprobe falcon
	ip netns add "$A-late"
	ip netns exec "$A-early" test -e /proc/sys/net/falcon/cm_port
	ip netns exec "$A-late" test -e /proc/sys/net/falcon/cm_port
	modprobe -r falcon
	ip netns exec "$A-early" test ! -e /proc/sys/net/falcon
	ip netns del "$A-early"
	ip netns del "$A-late"
}

# holds NAMESPACE PORT: some program's UDP port
holds()
{
	ip netns exec "$1" python3 -c "
import signal, socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(('::', $2))
open('$scratch/holds', 'w').close()
signal.pause()" &
	holder=$!
	within 60 test -e "$scratch/holds"
	rm "$scratch/holds"
}

# Somebody has a port of Falcon's in one namespace: that has no Falcon meanwhile,
# the others do.
a_taken_port_keeps_nobody_else()
{
	local holder port

	for port in 1000 4795; do
		ip netns add "$A-taken"
		ip -n "$A-taken" link set lo up
		holds "$A-taken" "$port"
		modprobe falcon
		make_pair
		transfer 4 -b 100K
		drop_pair
		ip netns exec "$A-taken" falcon_xfer -b 100K 127.0.0.1 \
			2>"$scratch/why" >/dev/null && return 1
		grep -q "Address already in use" "$scratch/why"
		kill "$holder"
		wait "$holder" || :
		ip netns exec "$A-taken" falcon_xfer -l -b 100K &
		within 60 ip netns exec "$A-taken" falcon_xfer -b 100K \
			127.0.0.1 >/dev/null 2>&1
		wait $!
		ip netns del "$A-taken"
		within 60 modprobe -r falcon
	done
	leaves_nothing_behind
}

open_sockets_keep_the_module()
{
	modprobe falcon
	make_pair
	in_b falcon_many -n 2 -l >"$scratch/ready" < <(exec sleep 60) &
	in_a falcon_many -n 2 "$B4" < <(exec sleep 60) >/dev/null &
	within 20 grep -q ready "$scratch/ready"
	fails modprobe -r falcon 2>"$scratch/why"
	grep -q "in use" "$scratch/why"
	fails rmmod falcon 2>"$scratch/why"
	end_jobs
	drop_pair
	within 60 modprobe -r falcon
	leaves_nothing_behind
}

run_tests unloaded_module_leaves_nothing_behind fifty_times \
	with_traffic_in_between with_namespaces_present \
	a_taken_port_keeps_nobody_else open_sockets_keep_the_module
status=$?
modprobe falcon
exit $status
