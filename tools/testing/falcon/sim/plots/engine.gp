# SPDX-License-Identifier: GPL-2.0
set style data histograms
set style fill solid 0.6
set xlabel "thousand events a second; 0: no bound"
set ylabel "latency p99 / ideal"
set yrange [0:*]
plot csv every ::1 using 3:xtic(1) title "falcon"
