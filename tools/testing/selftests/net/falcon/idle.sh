#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What an established connection costs that nothing is sent on: at most 8 KiB
# of kernel memory an end (slabs, per-CPU memory, vmalloc), the file and the
# inode of its socket, which any socket has, left out.
#
# N is the number of connections.

. "$(dirname "$0")/lib.sh"

LIMIT=8192
N=${N:-10000}

need_falcon
need_command falcon_many
make_pair

# Bytes of slabs, per-CPU memory and vmalloc, without the caches of files.
memory_in_use()
{
	sync
	awk '
	/^(Slab|Percpu|VmallocUsed):/ { sum += $2 * 1024 }
	FILENAME ~ /slabinfo/ &&
	/^(filp|sock_inode_cache|dentry|fsnotify_mark|lsm_file_cache|lsm_inode_cache) / {
		sum -= $15 * $6 * 4096
	}
	END { printf "%d\n", sum }' /proc/meminfo /proc/slabinfo
}

no_sockets()
{
	in_b grep -i '^falcon' /proc/net/protocols |
		awk '{ n += $3 } END { exit n > 0 }'
}

no_connections()
{
	! falcon -N "$A" conn show | grep -q "$B4" &&
		! falcon -N "$B" conn show | grep -q "$A4"
}

# What was there before has been given back: frees are batched, and come late.
memory_rests()
{
	local was now

	was=$(memory_in_use)
	sleep 2
	now=$(memory_in_use)
	[ $((was - now)) -lt 65536 ] && [ $((now - was)) -lt 65536 ]
}

held()
{
	local before after each held=

	within 10 grep -q . /proc/slabinfo
	in_b falcon_many -v -n 20 -l < <(exec sleep 1) >/dev/null &
	in_a falcon_many -v -n 20 "$B4" < <(exec sleep 1) >/dev/null
	wait
	within 120 no_connections
	within 120 memory_rests
	before=$(memory_in_use)
	in_b falcon_many "$@" -n "$N" -l >"$scratch/b" < <(exec sleep 900) &
	in_a falcon_many "$@" -n "$N" "$B4" >"$scratch/a" < <(exec sleep 900) &
	within 600 grep -q ready "$scratch/a"
	within 60 grep -q ready "$scratch/b"
	sleep 2
	held=$(falcon -N "$A" conn show state established | grep -c "$B4")
	after=$(memory_in_use)
	each=$(((after - before) / (2 * N)))
	echo "# $held connections, $each bytes an endpoint"
	expect "$held" -eq "$N" "connections"
	expect "$each" -le $LIMIT "bytes an endpoint"
	# What costs next to nothing was not measured.
	expect "$each" -ge 512 "bytes an endpoint"
	# So many sockets take a while to close; until then the port is theirs.
	end_jobs
	within 120 no_sockets
}

idle_connections_are_cheap()
{
	held
}

idle_connections_that_were_used_are_cheap()
{
	N=$((N / 10))
	held -v
}

run_tests idle_connections_are_cheap idle_connections_that_were_used_are_cheap
