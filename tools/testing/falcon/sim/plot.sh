#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# plot.sh - draws what the simulator wrote: plots/NAME.gp for each NAME.csv in
# the directory given, into NAME.png there.

set -euo pipefail

dir=$1
here=$(cd "$(dirname "$0")" && pwd)

if ! command -v gnuplot >/dev/null; then
	echo "plot.sh: no gnuplot, no pictures (scripts/deps.sh sim)" >&2
	exit 0
fi
for script in "$here"/plots/*.gp; do
	name=$(basename "$script" .gp)
	[ -s "$dir/$name.csv" ] || continue
	nice gnuplot -e "dir='$dir'; name='$name'" "$here/plots/style.inc" "$script"
done
