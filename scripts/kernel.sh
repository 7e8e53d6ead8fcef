#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kernel.sh - where a kernel's headers, image and modules are.
#
# One place that knows how a kernel is named on the command line (6.1, 6.12, a
# full release, "debug", a directory, an image file), and that fetches or
# unpacks what is not there yet into build/kernels/.  Used by the Makefile, the
# VM runner and the scripts beside this one.  See usage() for the questions.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
store=$top/build/kernels
debug_dir=${DEBUG_KERNEL:-$top/build/debug-kernel}

usage()
{
	cat <<-EOF
	usage: scripts/kernel.sh release|kdir|image|moddir|fetch KERNEL
	       scripts/kernel.sh source SERIES

	  release  the kernel's release, e.g. 6.1.0-57-amd64
	  kdir     its headers: the KDIR that external modules are built against
	  image    a bootable image
	  moddir   its modules, a directory lib/modules/RELEASE; empty if it has none
	  fetch    make all of these ready, print nothing
	  source   Debian's linux-source-SERIES, unpacked

	KERNEL:
	  6.1, 6.12   the newest of that series whose headers are installed
	  RELEASE     exactly that one
	  debug       the directory in \$DEBUG_KERNEL, or build/debug-kernel
	  DIRECTORY   one with bzImage, modules.tar.xz and headers.tar.xz
	  FILE        a bare image: boots, but has neither modules nor headers
	EOF
}

die()
{
	echo "kernel.sh: $*" >&2
	exit 1
}

# The newest release of a series with installed headers, real-time and cloud
# flavours aside.
newest_of()
{
	local dirs

	dirs=$(find /usr/src -maxdepth 1 -name "linux-headers-$1.*-amd64" \
		! -name '*-rt-amd64' ! -name '*-cloud-amd64' -printf '%f\n')
	[ -n "$dirs" ] || return 1
	sort -V <<<"$dirs" | tail -n 1 | sed 's/^linux-headers-//'
}

# Debian's kernel: the installed one, else the package unpacked in the store.
debian_root()
{
	local rel=$1 root=$store/$1 tmp

	if [ -e "/boot/vmlinuz-$rel" ] && [ -e "/lib/modules/$rel/modules.dep" ]; then
		return
	fi
	if [ ! -e "$root/.done" ]; then
		tmp=$store/.tmp.$rel
		rm -rf "$tmp" "$root"
		mkdir -p "$tmp"
		echo "kernel.sh: fetching linux-image-$rel" >&2
		(cd "$tmp" && "$top/scripts/deps.sh" --download "linux-image-$rel") >&2 ||
			die "cannot fetch linux-image-$rel"
		dpkg-deb -x "$tmp"/*.deb "$tmp/root"
		depmod -b "$tmp/root" "$rel"
		touch "$tmp/root/.done"
		mv "$tmp/root" "$root"
		rm -rf "$tmp"
	fi
	echo "$root"
}

# A directory made by `make debug-kernel`: unpacked once for each bzImage.
unpack_dir()
{
	local dir=$1 key root

	[ -e "$dir/bzImage" ] || die "no bzImage in $dir"
	key=$(stat -L -c '%n %s %Y' "$dir/bzImage" | cksum | cut -d' ' -f1)
	root=$store/dir-$key
	if [ ! -e "$root/.done" ]; then
		rm -rf "$root"
		mkdir -p "$root"
		tar -xJf "$dir/modules.tar.xz" -C "$root"
		tar -xJf "$dir/headers.tar.xz" -C "$root"
		ln -s "$(realpath "$dir/bzImage")" "$root/bzImage"
		touch "$root/.done"
	fi
	echo "$root"
}

# Debian's source package, unpacked once.
unpack_source()
{
	local tree=$top/build/linux-source-$1 archive=/usr/src/linux-source-$1.tar.xz

	if [ ! -e "$tree/.done" ]; then
		[ -e "$archive" ] || die "no $archive (apt-get install linux-source-$1)"
		echo "kernel.sh: unpacking linux-source-$1" >&2
		rm -rf "$tree"
		tar -xJf "$archive" -C "$top/build"
		touch "$tree/.done"
	fi
	echo "$tree"
}

[ $# -eq 2 ] || { usage >&2; exit 2; }
what=$1
kernel=$2

mkdir -p "$store"
exec 9>"$store/.lock"
flock 9

[ "$what" != source ] || { unpack_source "$kernel"; exit; }
[ "$kernel" != debug ] || kernel=$debug_dir
if [ -d "$kernel" ]; then
	root=$(unpack_dir "$(realpath "$kernel")")
	release=$(basename "$root"/lib/modules/*)
	kdir=$root/headers
	image=$root/bzImage
	moddir=$root/lib/modules/$release
elif [ -f "$kernel" ]; then
	release=$(basename "$kernel")
	kdir=
	image=$(realpath "$kernel")
	moddir=
else
	case $kernel in
	*/*)
		die "nothing at $kernel (make debug-kernel, or set DEBUG_KERNEL)" ;;
	*-*)
		release=$kernel ;;
	*)
		release=$(newest_of "$kernel") ||
			die "no linux-headers of series $kernel (scripts/deps.sh build)" ;;
	esac
	kdir=/usr/src/linux-headers-$release
	[ -d "$kdir" ] || kdir=/lib/modules/$release/build
	case $what in
	image|moddir|fetch)
		root=$(debian_root "$release")
		image=$root/boot/vmlinuz-$release
		moddir=$root/lib/modules/$release ;;
	esac
fi

case $what in
release)
	echo "$release" ;;
kdir)
	[ -d "$kdir" ] || die "no headers for $kernel"
	echo "$kdir" ;;
image)
	echo "$image" ;;
moddir)
	echo "$moddir" ;;
fetch)
	;;
*)
	usage >&2
	exit 2 ;;
esac
