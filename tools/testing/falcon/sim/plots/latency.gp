# SPDX-License-Identifier: GPL-2.0
set logscale x 2
set xlabel "bytes written"
set ylabel "latency / ideal"
set yrange [0.9:1.1]
plot for [t in "falcon roce-gbn"] rows("$1==\"".t."\"") using 2:5 \
	with linespoints lw 2 title t . " p99"
