#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mirror.sh - a build directory that looks like the source tree.
#
# Kbuild puts the products of an external module beside its sources.  A tree
# of symbolic links per kernel keeps the source tree clean and lets builds for
# several kernels, and with several sets of flags, exist side by side.  Files
# that left the source tree leave the mirror too.

set -euo pipefail

[ $# -eq 1 ] || { echo "usage: scripts/mirror.sh BUILDDIR" >&2; exit 2; }
top=$(cd "$(dirname "$0")/.." && pwd)
build=$1

mkdir -p "$build"
[ ! -e "$build/net" ] || find -L "$build" -type l -delete
for part in Kbuild include net drivers samples; do
	[ ! -e "$top/$part" ] || cp -rsn "$top/$part" "$build/"
done
