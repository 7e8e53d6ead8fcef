# SPDX-License-Identifier: GPL-2.0
set logscale x
set xlabel "connections"
set ylabel "mean latency of an 8 B read, us"
set yrange [0:*]
plot for [t in "falcon roce-gbn"] rows("$1==\"".t."\"") using 2:3 \
	with linespoints lw 2 title t
