#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the verbs tests share: a Falcon device at either end of the pair that
# net/falcon/lib.sh makes, or that of e2100sim, and the provider library in
# sight.

verbs_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/testing/selftests/drivers/net/e2100sim/lib.sh
. "$verbs_here/../../drivers/net/e2100sim/lib.sh"
PATH=$verbs_here:$PATH

# RoCE v2 GIDs of a device: 0 is of its link-local address.
DEV_A=fala$$ DEV_B=falb$$ DEV_L=fall$$
L4=10.79.2.1

need_verbs()
{
	need_falcon
	need_command rdma ibv_devinfo "$@"
	modprobe -q falcon_ib || skip_all "no module falcon_ib"
	# A library from the build tree stands in for an installed one.
	[ -e /etc/libibverbs.d/falcon.driver ] ||
		export RDMAV_DRIVERS=$FALCON_TOP/build/tools/libfalcon
}

# gid_of DEVICE ADDRESS-HEX: index of the GID that ends so.
gid_of()
{
	local file

	# Most of the table is empty, and cannot be read.
	file=$(grep -ls "$2\$" /sys/class/infiniband/"$1"/ports/1/gids/*) || :
	[ -n "$file" ] || return 1
	basename "${file%%$'\n'*}"
}

has_gid()
{
	gid_of "$1" "$2" >/dev/null
}

# make_devices [MTU]: $DEV_A in $A, $DEV_B in $B; $GID_A and $GID_B are the
# indices of their IPv4 GIDs. CARRIER=e2100sim: over two emulated NICs, not veth.
make_devices()
{
	if on_e2100sim; then
		make_nics direct
		both sysctl -q net.falcon.security="${SECURITY:-none}"
		within 30 in_a ping -c 1 -W 1 $B4
	else
		make_pair "${1:-9000}"
	fi
	add_devices
}

on_e2100sim()
{
	[ "${CARRIER-}" = e2100sim ]
}

# add_devices: on e0 of both.
add_devices()
{
	in_a rdma link add "$DEV_A" type falcon netdev e0
	in_b rdma link add "$DEV_B" type falcon netdev e0
	within 20 has_gid "$DEV_A" ffff:0a4e:0001
	within 20 has_gid "$DEV_B" ffff:0a4e:0002
	GID_A=$(gid_of "$DEV_A" ffff:0a4e:0001)
	GID_B=$(gid_of "$DEV_B" ffff:0a4e:0002)
	export GID_A GID_B
}

# make_local: $DEV_L, over a netdev of its own in the initial namespace, where
# the kernel's own consumers live. They talk to $L4, an address of this host.
make_local()
{
	ip link add "fl$$" mtu 9000 type dummy
	ip addr add $L4/24 dev "fl$$"
	ip link set "fl$$" up
	rdma link add "$DEV_L" type falcon netdev "fl$$"
	within 20 has_gid "$DEV_L" ffff:0a4f:0201
}

drop_local()
{
	ip link del "fl$$" 2>/dev/null
	within 30 gone "$DEV_L"
}

gone()
{
	! [ -e "/sys/class/infiniband/$1" ]
}

drop_devices()
{
	if on_e2100sim; then
		drop_nics
	else
		drop_pair
	fi
	within 30 gone "$DEV_A"
	within 30 gone "$DEV_B"
}

# statistic DEVICE NAME: a counter of its port.
statistic()
{
	rdma statistic show link "$1/1" | tr ' ' '\n' |
		grep -x -A 1 "$2" | tail -n 1
}

written()
{
	[ "$(statistic "$DEV_A" tx_write)" -gt "$1" ]
}

# start_traffic: process $! writes from $DEV_A to $DEV_B, until its end is made or
# comes.
start_traffic()
{
	local before

	before=$(statistic "$DEV_A" tx_write)
	in_b ib_write_bw -d "$DEV_B" -x "$GID_B" -F -D 600 -s 65536 -q 4 \
		>/dev/null 2>&1 &
	within 60 listening in_b
	in_a ib_write_bw -d "$DEV_A" -x "$GID_A" -F -D 600 -s 65536 -q 4 $B4 \
		>/dev/null 2>&1 &
	within 60 written $((before + 20))
}

# its_user_learns_it COMMAND...: which takes $DEV_A away
its_user_learns_it()
{
	local user

	falcon_verbs removed "$DEV_A" "$GID_A" >"$scratch/removed" &
	user=$!
	within 60 grep -q ready "$scratch/removed"
	"$@"
	wait $user || { cat "$scratch/removed"; return 1; }
}

# listening [in_a|in_b]: a program waits for its peer there, by TCP or rdma_cm.
listening()
{
	[ -n "$("$@" ss -Htln)" ] ||
		"$@" rdma resource show cm_id | grep -q LISTEN
}

# serve ARGS...: the program in $program, or the first of two, at one end; waits
# until it can be found.
serve()
{
	in_b timeout 100 "${program% *}" "$@" >"$scratch/server" 2>&1 &
	within 60 listening in_b || { sed 's/^/# /' "$scratch/server"; return 1; }
	# rdma_cm says so before it does.
	sleep 1
}

# pair SERVER-ARGS -- CLIENT-ARGS: at both ends; both must succeed.
pair()
{
	local server=() status=0

	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	serve "${server[@]}"
	in_a timeout 90 "${program#* }" "$@" >"$scratch/client" 2>&1 ||
		status=$?
	wait $! || status=$?
	[ $status -eq 0 ] || { tail -n 5 "$scratch/server" "$scratch/client" |
		sed 's/^/# /'; return 1; }
}

# pingpong TYPE ARGS...
pingpong()
{
	program=ibv_$1_pingpong
	shift
	pair -d "$DEV_B" -g "$GID_B" -n 200 "$@" -- \
		-d "$DEV_A" -g "$GID_A" -n 200 "$@" $B4
}

# perftest's bandwidth and latency: fixed counts, a size each
perftest()
{
	program=$1
	shift
	pair -d "$DEV_B" -x "$GID_B" -F -p 18600 "$@" -- \
		-d "$DEV_A" -x "$GID_A" -F -p 18600 "$@" $B4
}
