#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The NIC goes, and comes back, while connections are at work: they go on in
# software without losing a transaction, and return.

. "$(dirname "$0")/lib.sh"
need_e2100

NR=10

# start_transfers [BYTES]: $NR at once, each with its own pattern and both ends
# counting; a byte that is lost fails its exit status. They take their time
# until all_arrive() lets them go.
start_transfers()
{
	local i bytes=${1:-4M}

	jobs=()
	touch "$scratch/slow"
	for i in $(seq "$NR"); do
		in_b falcon_xfer -l -P $((7100 + i)) -b "$bytes" &
		jobs+=($!)
	done
	for i in $(seq "$NR"); do
		in_a falcon_xfer -P $((7100 + i)) -b "$bytes" -m 1K -e 40000 \
			-g "$scratch/slow" "$B4" >"$scratch/sent.$i" &
		jobs+=($!)
	done
	within 120 with_users "$NR"
}

all_arrive()
{
	local job

	not_done || return
	rm "$scratch/slow"
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
	make_nics direct
	start_transfers
	for _ in 1 2 3; do
		devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
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
	make_nics direct
	start_transfers
	knob "$NIC_A" break 1
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

# A namespace that dies takes its connections and lets the port go.
namespace_goes_under_load()
{
	make_nics direct
	start_transfers
	end_jobs
	ip netns del "$A"
	within 60 netdev_of "$NIC_A"
	within 60 no_contexts "$NIC_A"
	del_device "$NIC_A"
}

module_comes_and_goes()
{
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
	namespace_goes_under_load connections_keep_the_module \
	module_comes_and_goes
status=$?
drop_nics
exit $status
