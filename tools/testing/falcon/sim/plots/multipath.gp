# SPDX-License-Identifier: GPL-2.0
series(t, f) = dir . "/multipath-" . t . "-" . f . ".csv"
set multiplot layout 2,1
set ylabel "goodput, Gb/s"
set yrange [0:800]
set title "a spine fails in the middle"
plot for [t in "falcon-4 falcon-1 roce-gbn spray"] series(t, "failed") \
	using ($1/1000):2 with lines lw 2 title t
set title "a spine slows to a tenth in the middle"
set xlabel "time, ms"
plot for [t in "falcon-4 falcon-1 roce-gbn spray"] series(t, "slow") \
	using ($1/1000):2 with lines lw 2 title t
unset multiplot
