#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# debug-kernel.sh - builds the kernel that finds what tests do not.
#
# From Debian's linux-source-6.12 and debug.config makes a directory as the VM
# runner wants it: bzImage, modules.tar.xz, headers.tar.xz (what external
# modules are built against) and config.  Takes about 25 minutes on two cores;
# a second run continues the first.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
series=6.12
object=$top/build/linux-debug

usage()
{
	cat <<-EOF
	usage: debug-kernel.sh [--config-only] DIRECTORY

	--config-only stops when the configuration is made and checked.
	EOF
}

config_only=
if [ "${1-}" = --config-only ]; then
	config_only=yes
	shift
fi
[ $# -eq 1 ] || { usage >&2; exit 2; }
dest=$(realpath -m "$1")

kbuild()
{
	make -s -C "$source" O="$object" "$@"
}

configure()
{
	mkdir -p "$object"
	kbuild x86_64_defconfig
	kbuild kvm_guest.config
	"$source/scripts/kconfig/merge_config.sh" -m -O "$object" \
		"$object/.config" "$here/debug.config" >/dev/null
	kbuild olddefconfig
}

# An option that another one overrules disappears silently: say so.  An unset
# option may as well be absent.
check_config()
{
	local line name lost=0

	while read -r line; do
		case $line in
		CONFIG_*)
			grep -qxF "$line" "$object/.config" && continue ;;
		'# CONFIG_'*' is not set')
			name=${line#\# }
			grep -q "^${name% is not set}=" "$object/.config" || continue ;;
		*)
			continue ;;
		esac
		echo "debug-kernel.sh: not in the final configuration: $line" >&2
		lost=1
	done <"$here/debug.config"
	return $lost
}

pack()
{
	local release stage=$object/stage

	mkdir -p "$dest"
	release=$(cat "$object/include/config/kernel.release")
	rm -rf "$stage"
	kbuild INSTALL_MOD_PATH="$stage" modules_install
	rm -f "$stage/lib/modules/$release"/{build,source}
	tar -cJf "$dest/modules.tar.xz" -C "$stage" lib

	# The script reads a few settings that kbuild would have exported.
	(cd "$object" && srctree="$source" SRCARCH=x86 CC=gcc HOSTCC=gcc MAKE=make \
		"$source/scripts/package/install-extmod-build" "$stage/headers")
	cp "$object/.config" "$stage/headers/.config"
	tar -cJf "$dest/headers.tar.xz" -C "$stage" headers

	cp "$object/.config" "$dest/config"
	cp "$object/arch/x86/boot/bzImage" "$dest/bzImage"
	rm -rf "$stage"
	echo "debug-kernel.sh: $release is in $dest"
}

"$top/scripts/deps.sh" debug-kernel
source=$("$top/scripts/kernel.sh" source "$series")
configure
check_config
[ -z "$config_only" ] || exit 0
kbuild -j"$(nproc)" bzImage modules
pack
