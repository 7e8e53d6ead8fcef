# SPDX-License-Identifier: GPL-2.0
set logscale y
set style fill solid 0.6
set boxwidth 0.6
set ylabel "mean latency of fast writes, us"
set xlabel "backpressure"
plot rows("1") using 0:3:xtic(1) with boxes notitle
