# SPDX-License-Identifier: GPL-2.0
set logscale xy
set xlabel "connections to one server"
set ylabel "latency of 1 MiB / ideal"
plot for [t in "falcon falcon-absolute falcon-alone roce-gbn roce-sr"] \
	rows("$1==\"".t."\"") using 2:6 with linespoints lw 2 title t . " p99", \
     rows("$1==\"falcon\"") using 2:4 with linespoints lw 2 title "falcon mean"
