# SPDX-License-Identifier: GPL-2.0
set xlabel "connections"
set ylabel "8 B writes, Mop/s"
set yrange [0:*]
plot csv every ::1 using 1:2 with linespoints lw 2 title "falcon"
