#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# netdevsim.sh - builds netdevsim for a kernel that comes without it.
#
# Debian's kernels have none, but its linux-source-6.12 holds the driver, which
# builds as an external module against the headers of that series. The module
# goes into build/RELEASE/netdevsim, where the VM runner finds it beside ours.
# Used by "make netdevsim"; kernels that have the driver need nothing.

set -euo pipefail

[ $# -eq 1 ] || { echo "usage: scripts/netdevsim.sh KERNEL" >&2; exit 2; }
top=$(cd "$(dirname "$0")/.." && pwd)
kernel=$1
series=6.12

release=$("$top/scripts/kernel.sh" release "$kernel")
case $release in
*debug*)
	exit 0 ;;
"$series".*)
	;;
*)
	echo "netdevsim.sh: $release is not of the series $series" >&2
	exit 1 ;;
esac
build=$top/build/$release/netdevsim

"$top/scripts/deps.sh" netdevsim
source=$("$top/scripts/kernel.sh" source "$series")
mkdir -p "$build"
cp -u "$source/drivers/net/netdevsim"/*.[ch] \
	"$source/drivers/net/netdevsim/Makefile" "$build/"
make -s -C "$("$top/scripts/kernel.sh" kdir "$kernel")" M="$build" \
	CONFIG_NETDEVSIM=m modules
