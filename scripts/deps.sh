#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# deps.sh - the Debian packages that this tree needs, group by group.
#
# Says which are missing and installs them, by name, through the package
# sources the machine is configured with.  Silent and quick where nothing is
# missing.  What the configured sources lack (a 6.12 kernel, on a machine
# without the security archive's copy of it) is looked for in the backports
# suite of the same archive, through a private apt configuration: the machine's
# own is never altered.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
private=$top/build/apt

groups_all=(build unit sim lint vm demo)

usage()
{
	cat <<-EOF
	usage: scripts/deps.sh [--check] [GROUP...]
	       scripts/deps.sh --download PACKAGE     into the current directory

	Groups: ${groups_all[*]} (default: all of these), fuzz,
	        debug-kernel, netdevsim.
	--check says what is missing, and installs nothing.
	EOF
}

# One line a package.  @headers-SERIES is the newest linux-headers of a series.
packages_of()
{
	case $1 in
	build)
		echo gcc make libc6-dev libelf-dev libmnl-dev libibverbs-dev \
			pkg-config bc kmod xz-utils @headers-6.1 @headers-6.12 ;;
	unit)
		echo gcc make libc6-dev libssl-dev python3-minimal \
			python3-cryptography spin ;;
	sim)
		echo gcc make libc6-dev libssl-dev gnuplot-nox ;;
	lint)
		echo sparse shellcheck codespell perl python3-minimal \
			linux-source-6.1 ;;
	vm)
		echo qemu-system-x86 busybox-static cpio kmod xz-utils iproute2 \
			iputils-ping python3-minimal python3-cryptography \
			ethtool procps util-linux keyutils \
			rdma-core ibverbs-utils rdmacm-utils librdmacm-dev \
			perftest python3-pyverbs nvme-cli fio \
			nfs-kernel-server nfs-common iperf3 ;;
	demo)
		echo qemu-system-x86 busybox-static cpio iproute2 python3-minimal ;;
	fuzz)
		echo clang libclang-rt-dev make libssl-dev ;;
	netdevsim)
		echo gcc make xz-utils @headers-6.12 linux-source-6.12 ;;
	debug-kernel)
		echo flex bison bc cpio libelf-dev libssl-dev dwarves xz-utils \
			linux-source-6.12 ;;
	*)
		echo "deps.sh: no group '$1'" >&2
		exit 2 ;;
	esac | tr ' ' '\n'
}

have_headers()
{
	compgen -G "/usr/src/linux-headers-$1.*-amd64" >/dev/null
}

have()
{
	case $1 in
	@headers-*)
		have_headers "${1#@headers-}" ;;
	*)
		dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null |
			grep -qx installed ;;
	esac
}

# apt options that add the backports suite of the archive that the machine's
# first plain Debian source names.
backports_options()
{
	local uri key

	uri=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
		awk '$1 == "URIs:" { print $2; exit }')
	[ -n "$uri" ] || uri=$(awk '$1 == "deb" {
		for (i = 2; i <= NF; i++)
			if ($i ~ /^[a-z+]+:/) { print $i; exit }
	}' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null)
	[ -n "$uri" ] || return 1

	key=/usr/share/keyrings/debian-archive-keyring.gpg
	mkdir -p "$private/lists/partial"
	{
		cat /etc/apt/sources.list.d/*.sources 2>/dev/null || :
		echo
		printf 'Types: deb\nURIs: %s\nSuites: bookworm-backports\n' "$uri"
		printf 'Components: main\nSigned-By: %s\n' "$key"
	} >"$private/backports.sources"
	printf '%s\n' -o "Dir::Etc::sourcelist=$private/backports.sources" \
		-o Dir::Etc::sourceparts=- \
		-o "Dir::State::lists=$private/lists" \
		-o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
}

apt_options=(-o DPkg::Lock::Timeout=300 -o APT::Sandbox::User=root)

known()
{
	apt-cache "${apt_options[@]}" show "$1" >/dev/null 2>&1
}

# The name of the newest linux-headers package of a series.
headers_name()
{
	apt-cache "${apt_options[@]}" search --names-only \
		"^linux-headers-${1/./\\.}\\.[0-9][^ ]*-amd64\$" |
		cut -d' ' -f1 | grep -vE -- '-(rt|cloud)-amd64$' | sort -V | tail -n 1
}

# Package names for what was asked; what the sources do not have stays as is.
resolve()
{
	local pkg name

	for pkg in "$@"; do
		name=$pkg
		case $pkg in
		@headers-*)
			name=$(headers_name "${pkg#@headers-}") || name= ;;
		esac
		[ -n "$name" ] && known "$name" && echo "$name" || echo "$pkg"
	done
}

all_known()
{
	local pkg

	for pkg in "$@"; do
		known "$pkg" || return 1
	done
}

# Sets $resolved: from the configured sources as they are, after an update, and
# last with backports added.
find_packages()
{
	local extra

	mapfile -t resolved < <(resolve "$@")
	all_known "${resolved[@]}" && return

	apt-get "${apt_options[@]}" -qq update || :
	mapfile -t resolved < <(resolve "$@")
	all_known "${resolved[@]}" && return

	mapfile -t extra < <(backports_options)
	[ ${#extra[@]} -gt 0 ] || return 0
	apt_options+=("${extra[@]}")
	apt-get "${apt_options[@]}" -qq update || :
	mapfile -t resolved < <(resolve "$@")
}

download()
{
	find_packages "$1"
	apt-get "${apt_options[@]}" -qq download "${resolved[@]}"
}

check_only=
case ${1-} in
-h|--help)
	usage
	exit 0 ;;
--download)
	[ $# -eq 2 ] || { usage >&2; exit 2; }
	download "$2"
	exit ;;
--check)
	check_only=yes
	shift ;;
esac
[ $# -gt 0 ] || set -- "${groups_all[@]}"

missing=()
for pkg in $(for group; do packages_of "$group"; done | sort -u); do
	have "$pkg" || missing+=("$pkg")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "deps.sh: missing: ${missing[*]/#@headers-/linux-headers of }"
[ -z "$check_only" ] || exit 1
if [ "$(id -u)" -ne 0 ]; then
	echo "deps.sh: not root: install these yourself" >&2
	exit 1
fi

find_packages "${missing[@]}"
export DEBIAN_FRONTEND=noninteractive INITRD=No
log=$top/build/deps.log
mkdir -p "$top/build"
if ! apt-get "${apt_options[@]}" -qq -y --no-install-recommends install \
	"${resolved[@]}" </dev/null >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "deps.sh: could not install: ${resolved[*]}" >&2
	exit 1
fi
