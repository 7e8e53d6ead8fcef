#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Verbs over e2100sim: all that perftest varies, and a NIC that is reset while it
# carries them. carriers.sh has the programs of rdma-core there, and a wire that
# loses.

. "$(dirname "$0")/lib_programs.sh"

need_verbs ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw \
	ib_write_lat ib_read_lat ib_send_lat ib_atomic_lat devlink
[ -e "$BUS" ] || modprobe -q e2100sim || skip_all "no module e2100sim"

nic_carries_latencies() { carries latencies; }
nic_carries_sixty_four_queue_pairs() { carries sixty_four_queue_pairs; }
nic_carries_both_directions() { carries both_directions; }
nic_carries_what_rdma_cm_connects() { carries connected_by_rdma_cm; }

contexts_are_back()
{
	[ "$(nic_stat "$A" ctx_added)" -gt "$1" ]
}

# Three times, either end: what was in it is lost, and comes again. No queue pair
# sees more of it than time.
nic_is_reset_under_traffic()
{
	local CARRIER=e2100sim nr before added

	make_devices
	start_traffic
	for nr in 1 2 3; do
		added=$(nic_stat "$A" ctx_added)
		devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
		devlink dev reload "e2100sim/e2100sim$NIC_B" >/dev/null
		within 60 contexts_are_back "$added"
		before=$(statistic "$DEV_A" tx_write)
		within 60 written $((before + 50))
	done
	kill -0 $!
	for nr in connections_lost qp_error; do
		expect "$(statistic "$DEV_A" "$nr")" -eq 0 "$nr"
		expect "$(statistic "$DEV_B" "$nr")" -eq 0 "$nr"
	done
	end_jobs -KILL
	# And data is what was sent.
	perftest ib_write_bw -n 20 -s 65536
	pingpong rc -c -s 65536
	drop_devices
}

pinged()
{
	[ "$(grep -c '^ping data' "$scratch/client")" -gt "$1" ]
}

# Whoever connected by rdma_cm looks at each byte, and ends if one is wrong.
data_survives_a_reset()
{
	local CARRIER=e2100sim before

	make_devices
	in_b rping -s -a "$B4" -V -S 4000 >"$scratch/server" 2>&1 &
	within 60 listening in_b
	sleep 1
	in_a stdbuf -oL rping -c -a "$B4" -v -V -S 4000 >"$scratch/client" 2>&1 &
	for _ in 1 2 3; do
		before=$(grep -c '^ping data' "$scratch/client") || :
		within 60 pinged $((before + 20))
		devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
		before=$(grep -c '^ping data' "$scratch/client")
		within 60 pinged $((before + 20))
	done
	kill -0 $!
	end_jobs -KILL
	drop_devices
}

run_tests nic_carries_latencies nic_carries_sixty_four_queue_pairs \
	nic_carries_both_directions nic_carries_what_rdma_cm_connects \
	nic_is_reset_under_traffic data_survives_a_reset
status=$?
drop_nics
exit $status
