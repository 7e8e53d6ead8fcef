#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# in-tree.sh - copies the sources into a kernel tree, and hooks them up there.
#
# Every file has its place in a kernel tree already; what is added is a line in
# the Kconfig and in the Makefile of each module's parent directory.  May be run
# again: files are renewed, lines are not doubled.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
linux=${1-}

if [ ! -e "$linux/Kbuild" ] || [ ! -e "$linux/net/Kconfig" ]; then
	echo "usage: make in-tree LINUX=DIRECTORY (of a kernel's sources)" >&2
	exit 2
fi
cd "$top"

# Copies what git knows below these paths, or all of it outside a clone.
copy()
{
	local path

	for path; do
		[ -e "$path" ] || continue
		{ git ls-files -- "$path" 2>/dev/null || find "$path" -type f; } |
			cpio --quiet -pdum "$linux"
	done
}

# hook FILE LINE ANCHOR: LINE after the first that starts with ANCHOR.
hook()
{
	local file=$linux/$1 line=$2 anchor=$3

	grep -qxF "$line" "$file" && return
	grep -q "^$anchor" "$file" || {
		echo "in-tree.sh: nothing like '$anchor' in $1" >&2
		return 1
	}
	awk -v line="$line" -v anchor="$anchor" '
		{ print }
		!done && index($0, anchor) == 1 { print line; done = 1 }
	' "$file" >"$file.new"
	cat "$file.new" >"$file"
	rm "$file.new"
}

tab=$(printf '\t')

copy include net/falcon Documentation/networking/falcon \
	Documentation/netlink/specs/falcon.yaml \
	tools/net/falcon tools/testing/selftests/net/falcon

hook net/Kconfig 'source "net/falcon/Kconfig"' 'source "net/sctp/Kconfig"'
hook net/Makefile "obj-\$(CONFIG_FALCON)$tab$tab+= falcon/" "obj-\$(CONFIG_IP_SCTP)"

copy samples/falcon
hook samples/Kconfig 'source "samples/falcon/Kconfig"' 'if SAMPLES'
hook samples/Makefile "obj-\$(CONFIG_FALCON)$tab$tab$tab+= falcon/" \
	"obj-\$(CONFIG_SAMPLE_KPROBES)"

copy drivers/net/e2100sim tools/testing/selftests/drivers/net/e2100sim
hook drivers/net/Kconfig 'source "drivers/net/e2100sim/Kconfig"' \
	'source "drivers/net/hyperv/Kconfig"'
hook drivers/net/Makefile "obj-\$(CONFIG_E2100SIM) += e2100sim/" \
	"obj-\$(CONFIG_NETDEVSIM)"

copy drivers/infiniband/sw/falcon tools/rdma/libfalcon \
	tools/testing/selftests/rdma/falcon
hook drivers/infiniband/Kconfig 'source "drivers/infiniband/sw/falcon/Kconfig"' \
	'source "drivers/infiniband/sw/siw/Kconfig"'
hook drivers/infiniband/sw/Makefile \
	"obj-\$(CONFIG_INFINIBAND_FALCON)$tab+= falcon/" "obj-\$(CONFIG_RDMA_SIW)"

copy tools/testing/falcon
for dir in drivers/net/e2100sim net/falcon rdma/falcon; do
	hook tools/testing/selftests/Makefile "TARGETS += $dir" "TARGETS += net"
done
echo "in-tree.sh: done: make menuconfig, Networking support, Networking options, Falcon"
