# SPDX-License-Identifier: GPL-2.0
series(t) = dir . "/pcie-" . t . "-50us.csv"
set multiplot layout 2,1
set ylabel "goodput, Gb/s"
set yrange [0:210]
plot for [t in "falcon roce-gbn roce-sr"] series(t) every 4 using ($1/1000):2 \
	with lines lw 2 title t
set ylabel "ncwnd"
set xlabel "time, ms (RTT 50 us)"
set yrange [0:*]
plot series("falcon") using ($1/1000):3 with lines lw 2 title "falcon"
unset multiplot
