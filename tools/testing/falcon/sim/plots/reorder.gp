# SPDX-License-Identifier: GPL-2.0
set xlabel "packets late, %"
set ylabel "goodput, Gb/s"
set yrange [0:200]
plot for [t in "falcon falcon-ooo roce-gbn roce-sr"] rows("$1==\"".t."\"") \
	using 2:3 with linespoints lw 2 title t
