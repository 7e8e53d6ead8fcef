#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own storage over verbs over Falcon: nvme-rdma connected to
# nvmet-rdma, a file system, verified I/O, and an end under load, within one
# machine. two_hosts.sh has them in two.

. "$(dirname "$0")/lib_storage.sh"

need_verbs nvme fio mkfs.ext4
have_nvme || skip_all "no nvme-rdma, nvmet-rdma, or RAM disk"

nvme_cleanup()
{
	drop_nvme
	drop_local
	cleanup
}
trap nvme_cleanup EXIT

a_namespace_connects()
{
	nvme_connect $L4
	echo "# $(disk)"
	nvme id-ctrl "$(disk)" | grep -q "^sn "
	expect "$(statistic "$DEV_L" rx_bad_sequence)" -eq 0 "out of order"
}

what_is_written_is_read()
{
	verified 8M
	expect "$(statistic "$DEV_L" rx_write)" -gt 0 "RDMA writes"
	expect "$(statistic "$DEV_L" rx_read)" -gt 0 "RDMA reads"
}

a_file_system_lives_on_it()
{
	file_system_lives
}

a_disconnect_under_load_ends()
{
	ends_under_load 30
	nvme_connect $L4
	dd if="$(disk)" of=/dev/null bs=64k count=16 iflag=direct 2>/dev/null
	timeout 60 nvme disconnect -n "$nqn"
}

# The target's port goes while the host is connected.
a_target_that_goes_is_survived()
{
	nvme_connect $L4 -l 5
	rm "$nvmet/ports/79/subsystems/$nqn"
	within 60 disconnected
}

make_local || exit 1
nvme_target $L4 || exit 1
run_tests a_namespace_connects what_is_written_is_read \
	a_file_system_lives_on_it a_disconnect_under_load_ends \
	a_target_that_goes_is_survived
