#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh - two hosts in a VM talk Falcon, before your eyes.
#
# On the host: builds what the guest needs, boots a VM, and runs itself there
# (argument "guest").  There: loads the module, makes two network namespaces,
# sends a stream from one to the other, and shows the connection meanwhile.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)

if [ "${1-}" != guest ]; then
	make -s -j"$(nproc)" -C "$top" KVER="${KVER:-6.1}" guest >/dev/null
	exec "$top/tools/testing/vm/vm.sh" --kernel "${KVER:-6.1}" --dir "$top" \
		-- scripts/demo.sh guest
fi

# shellcheck source=tools/testing/vm/lib.sh
. "$FALCON_TOP/tools/testing/vm/lib.sh"

show()
{
	printf '\n\033[1m# %s\033[0m\n' "$*"
	"$@"
}

install_tools
show modprobe falcon
two_hosts
ip netns exec b falcon-perf -s &
sleep 1
show ip netns exec a falcon-perf -c fd09::2 -t 6 -i 2 &
sleep 3
show falcon -N a conn
show falcon -N a nic
wait $!
show ip netns exec a falcon-perf -c fd09::2 -L -t 3
show falcon -N a stat
