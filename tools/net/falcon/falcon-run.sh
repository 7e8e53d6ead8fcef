#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# falcon-run - run a program with Falcon sockets in place of its TCP sockets.
# Exit status: the program's; 125 if falcon-run cannot do its part, 126 and 127
# as a shell has them for a program that cannot be run or found.

usage()
{
	cat <<-EOT
	Usage: falcon-run [ -x PORT[,PORT...] ] PROGRAM [ ARGUMENT ... ]
	  -x  sockets bound or connected to these ports stay TCP
	EOT
}

fail()
{
	echo "falcon-run: $1" >&2
	exit 125
}

while getopts +:x:h opt; do
	case $opt in
	x)
		case $OPTARG in
		*[!0-9,]*)
			fail "-x: \"$OPTARG\" is not a list of ports" ;;
		esac
		FALCON_RUN_EXCEPT=$OPTARG
		export FALCON_RUN_EXCEPT ;;
	h)
		usage
		exit 0 ;;
	*)
		usage >&2
		exit 125 ;;
	esac
done
shift $((OPTIND - 1))
if [ $# -eq 0 ]; then
	usage >&2
	exit 125
fi

# Beside this script in a build directory, else where it was installed.
lib=$(dirname "$0")/libfalcon-run.so
[ -f "$lib" ] || lib=@libdir@/libfalcon-run.so
[ -f "$lib" ] || fail "$lib is missing"
lib=$(cd "$(dirname "$lib")" && pwd)/libfalcon-run.so

have_falcon()
{
	grep -q '^FALCON' /proc/net/protocols
}

have_falcon || modprobe -q falcon 2>/dev/null
have_falcon || fail "the kernel has no Falcon sockets: load the falcon module"

LD_PRELOAD=$lib${LD_PRELOAD:+:$LD_PRELOAD}
export LD_PRELOAD
exec "$@"
