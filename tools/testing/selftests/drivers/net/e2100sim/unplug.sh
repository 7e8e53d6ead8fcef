#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The NIC goes, and comes back, while connections are at work: they go on in
# software without losing a transaction, and return. What waited in the NIC is
# dropped with it, or left behind as its connection moves; it comes again.

. "$(dirname "$0")/lib.sh"
need_e2100
need_command nsenter

NR=10

# start_transfers [BYTES]: $NR at once, each with its own pattern and both ends
# counting; a byte that is lost fails its exit status. They take their time
# until all_arrive() lets them go: half of them because they write little, half
# because the link of $NIC_A is slow, and what they have in flight waits for it.
start_transfers()
{
	local i bytes=${1:-4M} how

	both ip link set e0 mtu 1500
	param "$NIC_A" link_mbps 2
	watch_drops
	jobs=()
	touch "$scratch/slow"
	for i in $(seq "$NR"); do
		in_b falcon_xfer -l -P $((7100 + i)) -b "$bytes" &
		jobs+=($!)
	done
	for i in $(seq "$NR"); do
		how=(-C fixed)
		[ $((i % 2)) = 1 ] || how=(-m 1K -e 40000 -g "$scratch/slow")
		in_a falcon_xfer -P $((7100 + i)) -b "$bytes" "${how[@]}" \
			"$B4" >"$scratch/sent.$i" &
		jobs+=($!)
	done
	within 120 with_users "$NR"
	many_wait
}

waiting()
{
	cat "$DEBUG/e2100sim$1/port0/tx_waiting"
}

# waits DEVICE N: so many packets, for the link
waits()
{
	[ "$(waiting "$1")" -ge "$2" ]
}

many_wait()
{
	within 60 waits "$NIC_A" 8
	echo "# $(waiting "$NIC_A") packets wait"
}

# watch_drops: from here on $trace knows what waited in a NIC and did not depart.
watch_drops()
{
	mountpoint -q "$trace" || mount -t tracefs tracefs "$trace"
	echo >"$trace/trace"
	echo 1 >"$trace/events/e2100sim/e2100_drop/enable"
}

# dropped DEVICE: something was, since the last time
dropped()
{
	local all moved

	all=$(grep -c "e2100_drop: dev=$1 all" "$trace/trace") || :
	moved=$(grep -c "e2100_drop: dev=$1 moved" "$trace/trace") || :
	echo >"$trace/trace"
	echo "# $all dropped, $moved left behind"
	expect $((all + moved)) -gt 0 "packets that did not depart"
}

all_arrive()
{
	local job

	not_done || return
	echo 0 >"$trace/events/e2100sim/e2100_drop/enable"
	rm "$scratch/slow"
	[ ! -e "$BUS/devices/e2100sim$NIC_A" ] || param "$NIC_A" link_mbps 0
	for job in "${jobs[@]}"; do
		wait "$job" && continue
		falcon -N "$A" stat -z | sed 's/^/# a: /'
		falcon -N "$B" stat -z | sed 's/^/# b: /'
		return 1
	done
}

# Whatever has happened, happened to all of them.
not_done()
{
	local job running=0

	for job in "${jobs[@]}"; do
		! kill -0 "$job" 2>/dev/null || running=$((running + 1))
	done
	expect "$running" -eq $((NR * 2)) "processes still at work"
}

with_users()
{
	[ "$(users "$A")" -ge "$1" ]
}

# The port goes with its addresses and routes. Another one takes its place.
unplug_and_replug_during_transfers()
{
	make_nics direct
	start_transfers
	del_device "$NIC_A"
	dropped "$NIC_A"
	[ "$(falcon -N "$A" nic show | wc -l)" = 1 ]
	sleep 1
	plug "$NIC_A" "$A"
	nic_link "$A" e0 "$B" e0
	address "$A" "$A4" "$A6"
	within 120 with_users "$NR"
	all_arrive
	expect "$(nic_stat "$A" tx_falcon_trains)" -gt 10 "trains of the new one"
}

# Unplugged for good: what is below takes over.
unplug_for_good()
{
	make_nics "$(lower_type)"
	start_transfers
	del_device "$NIC_A"
	dropped "$NIC_A"
	address_moves
	all_arrive
}

nic_goes()
{
	start_transfers 2M || return
	del_device "$NIC_A"
	address_moves
	all_arrive
}

# The connection's associations go on with another counter: that of the NIC,
# which is far ahead, then that of the host. Seen from outside, by another
# program, no nonce comes twice and none is behind the one before.
nonces_are_new_when_the_nic_changes()
{
	can_decode || return "$KSFT_SKIP"
	make_nics "$(lower_type)"
	param "$NIC_A" counter_ms 4000000000
	devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
	both sysctl -q net.falcon.train_pkts=1 net.falcon.security=opportunistic
	capture w0 nic_goes
	decodes
	expect "$(counter "$B" in_bad_icv)" -eq 0 "packets not authentic"
	expect "$(counter "$B" in_replay)" -eq 0 "packets taken for replays"
}

address_moves()
{
	ip -n "$A" addr add "$A4/24" dev w0
}

reload_during_transfers()
{
	make_nics "$(lower_type)"
	start_transfers
	for _ in 1 2 3; do
		many_wait
		devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
		dropped "$NIC_A"
		devlink dev reload "e2100sim/e2100sim$NIC_B" >/dev/null
		within 120 with_users "$NR"
		sleep 0.5
	done
	all_arrive
	[ "$(devlink -j health diagnose "e2100sim/e2100sim$NIC_A" reporter fw |
		grep -o '"resets":[0-9]*' | cut -d: -f2)" = 3 ]
}

# The counter begins elsewhere after each reset: behind, and far ahead.
counter_steps_at_reload()
{
	make_nics direct
	start_transfers
	for ms in 1000 4000000000 5; do
		param "$NIC_A" counter_ms "$ms"
		devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
		within 120 with_users "$NR"
	done
	all_arrive
	expect "$(counter "$B" in_replay)" -eq 0 "packets taken for replays"
}

health_reporter_recovers()
{
	make_nics "$(lower_type)"
	start_transfers
	knob "$NIC_A" break 1
	dropped "$NIC_A"
	within 120 with_users "$NR"
	all_arrive
	devlink health show "e2100sim/e2100sim$NIC_A" reporter fw >"$scratch/health"
	grep -q "state healthy error 1 recover 1" "$scratch/health"
}

dead_until_an_operator_recovers()
{
	make_nics direct
	devlink health set "e2100sim/e2100sim$NIC_A" reporter fw \
		auto_recover false
	knob "$NIC_A" break 1 2>/dev/null || :
	fails in_a ping -q -c 1 -W 1 "$B4" >/dev/null
	fails devlink health test "e2100sim/e2100sim$NIC_A" reporter fw 2>/dev/null
	devlink health recover "e2100sim/e2100sim$NIC_A" reporter fw
	in_a ping -q -c 1 "$B4" >/dev/null
}

# A reload is a recovery: the next hang is one of a device that worked.
a_reload_recovers()
{
	make_nics direct
	devlink health set "e2100sim/e2100sim$NIC_A" reporter fw \
		auto_recover false
	knob "$NIC_A" break 1 2>/dev/null || :
	devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
	devlink health show "e2100sim/e2100sim$NIC_A" reporter fw |
		grep -q "state healthy"
	in_a ping -q -c 1 "$B4" >/dev/null
	devlink health set "e2100sim/e2100sim$NIC_A" reporter fw \
		auto_recover true
	knob "$NIC_A" break 1
	in_a ping -q -c 1 "$B4" >/dev/null
}

# A namespace that dies takes its connections and lets the port go: once the
# packets of its sockets have left, or these are no longer willing to wait.
namespace_goes_under_load()
{
	make_nics "$(lower_type)"
	both sysctl -q net.falcon.user_timeout_ms=10000
	start_transfers
	end_jobs -KILL
	ip netns del "$A"
	within 60 netdev_of "$NIC_A"
	within 60 no_contexts "$NIC_A"
	del_device "$NIC_A"
}

# An upper layer in the kernel keeps no namespace, as sockets do. Its answers wait
# for a slow link when that goes, and takes the connection along, and them.
namespace_goes_while_packets_wait()
{
	local echo=/sys/module/falcon_echo/parameters

	can_probe && modprobe -q falcon_echo || return "$KSFT_SKIP"
	make_nics direct
	both sysctl -q net.falcon.user_timeout_ms=5000 \
		net.falcon.train_pkts=1 net.falcon.delay_target_us=100000 \
		net.falcon.min_rto_us=2000000
	echo 100000 >"$echo/count"
	echo 8000 >"$echo/size"
	echo 0 >"$echo/rnr_every"
	param "$NIC_B" link_mbps 2
	nsenter --net="/run/netns/$A" \
		sh -c "echo $B4 >/sys/kernel/debug/falcon_echo/run" &
	within 60 waits "$NIC_B" 2
	echo "# $(waiting "$NIC_B") packets wait"
	watch_exits
	watch_drops
	ip netns del "$B"
	within 60 have_left 1
	expect "$(ended established)" -eq 1 "connections that it took along"
	dropped "$NIC_B"
	no_more_exits
	within 20 no_contexts "$NIC_B"
	wait
	modprobe -r falcon_echo
}

# Frames of others keep no module, even while they wait for the link.
module_comes_and_goes()
{
	make_nics direct
	param "$NIC_A" link_mbps 1
	in_a python3 - 2>/dev/null <<-END &
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		while s.sendto(bytes(8000), ("$B4", 7900)):
		    pass
	END
	many_wait
	modprobe -r e2100sim
	wait
	drop_nics
	for _ in $(seq 10); do
		within 30 modprobe -r e2100sim
		modprobe e2100sim
		new_device "$NIC_A" 2 2
	done
	within 30 modprobe -r e2100sim
	[ ! -e "$BUS" ]
	[ ! -e "$DEBUG" ]
	modprobe e2100sim
}

connections_keep_the_module()
{
	make_nics direct
	start_transfers
	fails modprobe -r e2100sim 2>/dev/null
	all_arrive
}

run_tests unplug_and_replug_during_transfers unplug_for_good \
	nonces_are_new_when_the_nic_changes \
	reload_during_transfers counter_steps_at_reload \
	health_reporter_recovers dead_until_an_operator_recovers \
	a_reload_recovers \
	namespace_goes_under_load namespace_goes_while_packets_wait \
	connections_keep_the_module \
	module_comes_and_goes
status=$?
drop_nics
exit $status
