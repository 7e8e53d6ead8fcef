# SPDX-License-Identifier: GPL-2.0
set multiplot layout 1,2
set xlabel "packets lost, %"
set ylabel "goodput, Gb/s"
set yrange [0:200]
set key bottom left inside
do for [op in "write read"] {
	set title op . ", 8 KiB, RTT 5 us (solid) and 50 us (dashed)"
	plot for [t in "falcon roce-gbn roce-sr"] \
		rows("$1==\"".t."\" && $2==\"".op."\" && $3==5") using 5:6 \
		with linespoints lw 2 title t, \
	     for [t in "falcon roce-gbn roce-sr"] \
		rows("$1==\"".t."\" && $2==\"".op."\" && $3==50 && $4==".(t eq "falcon" ? 512 : 128)) \
		using 5:6 with linespoints dt 2 title t . " 50 us"
}
unset multiplot
