#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A provider library of another ABI than the kernel's (its header says one more)
# is refused, in words.

. "$(dirname "$0")/lib.sh"

need_verbs
other=$verbs_here/other_abi/libfalcon
[ -e "$other-rdmav34.so" ] || skip_all "no library of another ABI was built"

# Without the library that is installed
with_other_library()
{
	RDMAV_DRIVERS=$other unshare -m sh -c '
		mount -t tmpfs none /etc/libibverbs.d
		exec "$@"' sh "$@"
}

library_of_another_abi_is_refused()
{
	local status=0

	make_devices
	ibv_devinfo -d "$DEV_A" | grep -q PORT_ACTIVE
	with_other_library ibv_devinfo -d "$DEV_A" >"$scratch/info" 2>&1 ||
		status=$?
	sed 's/^/# /' "$scratch/info"
	expect $status -ne 0 "ibv_devinfo's status"
	grep -q "kernel ABI of .* (supports 99 to 99)" "$scratch/info"
	# It came to its end, that is.
	grep -q "wasn't found" "$scratch/info"
	drop_devices
}

run_tests library_of_another_abi_is_refused
