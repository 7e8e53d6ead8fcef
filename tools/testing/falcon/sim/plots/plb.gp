# SPDX-License-Identifier: GPL-2.0
set style data histograms
set style fill solid 0.6
set ylabel "goodput, Gb/s"
set yrange [0:*]
plot csv every ::1 using 2:xtic(1) title "before", \
     csv every ::1 using 3 title "a spine is full"
