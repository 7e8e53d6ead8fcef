# SPDX-License-Identifier: GPL-2.0
set style data histograms
set style fill solid 0.6
set ylabel "queueing delay, us"
set xtics rotate by -20
plot csv using 3:xtic(1) every ::1 title "mean", \
     csv using 4 every ::1 title "p50", csv using 5 every ::1 title "p99"
