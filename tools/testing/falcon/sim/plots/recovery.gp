# SPDX-License-Identifier: GPL-2.0
set style data histograms
set style fill solid 0.6
set multiplot layout 1,2
set ylabel "goodput of a stream, Gb/s"
set key top left inside
plot for [n in "loss late both"] rows("$1==\"stream\" && $2==\"".n."\"") \
	using 4:xtic(3) title n
set ylabel "p99 of single 16 KiB writes, us"
plot for [n in "loss late both"] rows("$1==\"single\" && $2==\"".n."\"") \
	using 7:xtic(3) title n
unset multiplot
