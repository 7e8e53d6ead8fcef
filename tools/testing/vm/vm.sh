#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# vm.sh - run a command, or a shell, in a VM that boots a chosen kernel.
#
# The guest's root is the host's own root file system, read only under an
# overlay in memory: every program of the host is there, and the tree is at its
# usual path.  The command's output goes to stdout, its exit status becomes
# that of vm.sh; the kernel's console is kept apart, in a log that is searched
# for reports afterwards.  README beside this file says how the parts fit.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)

STATUS_TIMEOUT=124
STATUS_KERNEL=125
STUCK=${VM_STUCK:-120}

usage()
{
	cat <<-EOF
	usage: vm.sh [OPTION]... -- COMMAND...   run it in the guest, by bash
	       vm.sh [OPTION]... --shell         a shell in the guest

	One COMMAND argument is shell text; several are a command and its arguments.

	  --kernel K     6.1 (default), 6.12, debug, a release, a directory, an image
	  --hosts N      1 (default), or 2 VMs that share a link (see below)
	  --dir DIR      working directory in the guest (default: the present one)
	  --env N=V      set a variable for the command (repeatable)
	  --out DIR      host directory that the guest sees, writable, as /out
	                 (default: build/vm-out)
	  --timeout S    seconds until the VM is ended, 0 is never (default 900)
	  --mem MB       memory (default 2048; debug kernels 3072)
	  --smp N        CPUs (default 2; 1 with two hosts)
	  --mtu N        of the link between two VMs (default 9000)
	  --icount       the guest's clock counts instructions, one a nanosecond, and
	                 what it sleeps takes no time: slower, but figures repeat
	                 whatever else the host does (default 1 CPU)
	  --append TEXT  more kernel command line
	  --log FILE     keep the console log there (with two hosts: FILE.1, FILE.2)
	  --keep         keep the run's directory under build/vm

	Exit status: the command's; $STATUS_TIMEOUT if time ran out; $STATUS_KERNEL if the kernel
	crashed, or reported a bug on its console.

	In the guest: FALCON_TOP is this tree, FALCON_BUILD the directory of the
	modules built for the running kernel, HOST is 1 or 2, CLOCK is icount or
	nothing.  With two hosts the command runs in both; they are joined by e0, with 10.77.0.HOST and
	fd77::HOST, also known as LOCAL4 LOCAL6 PEER4 PEER6; /out is common to both.
	EOF
}

die()
{
	echo "vm.sh: $*" >&2
	exit 2
}

kernel=6.1
hosts=1
dir=$PWD
out=$top/build/vm-out
timeout=900
mem=
smp=
mtu=9000
append=
icount=
log=
keep=
mode="command"
settings=()

parse()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--kernel|--hosts|--dir|--env|--out|--timeout|--mem|--smp|--mtu|--append|--log)
			[ $# -ge 2 ] || die "$1 wants a value" ;;
		esac
		case $1 in
		--kernel) kernel=$2; shift ;;
		--hosts) hosts=$2; shift ;;
		--dir) dir=$2; shift ;;
		--env) settings+=("$2"); shift ;;
		--out) out=$2; shift ;;
		--timeout) timeout=$2; shift ;;
		--mem) mem=$2; shift ;;
		--smp) smp=$2; shift ;;
		--mtu) mtu=$2; shift ;;
		--append) append=$2; shift ;;
		--icount) icount=yes ;;
		--log) log=$2; shift ;;
		--keep) keep=yes ;;
		--shell) mode=shell ;;
		-h|--help) usage; exit 0 ;;
		--) shift; break ;;
		-*) die "no option $1" ;;
		*) break ;;
		esac
		shift
	done

	if [ $mode = shell ]; then
		[ "$hosts" = 1 ] || die "--shell is for one host"
		timeout=0
	else
		[ $# -gt 0 ] || { usage >&2; exit 2; }
	fi
	case $hosts in
	1|2) ;;
	*) die "--hosts is 1 or 2" ;;
	esac
	if [ $# -eq 1 ]; then
		command=$1
	else
		command=$(printf '%q ' "$@")
	fi
	[ -z "$icount" ] || smp=${smp:-1}
	[ -n "$smp" ] || smp=$((3 - hosts))
}

# Pieces of a kernel: $release, $image, $moddir.
find_kernel()
{
	release=$("$top/scripts/kernel.sh" release "$kernel")
	image=$("$top/scripts/kernel.sh" image "$kernel")
	moddir=$("$top/scripts/kernel.sh" moddir "$kernel")
	case $release in
	*debug*)
		: "${mem:=3072}"
		append="kmemleak=on $append" ;;
	esac
	: "${mem:=2048}"
}

# The modules that reach the host's root and the ports, in loading order,
# uncompressed: modprobe knows the order and what is built in.
stage_modules()
{
	local to=$1 base n=0 path name

	mkdir -p "$to"
	: >"$to/order"
	[ -n "$moddir" ] || return 0
	base=${moddir%/lib/modules/*}
	PATH=$PATH:/usr/sbin:/sbin modprobe -C /dev/null -d "${base:-/}" -S "$release" \
		-a --show-depends virtio_pci virtio_console 9pnet_virtio 9p overlay \
		virtio_rng 2>/dev/null |
	awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
	while read -r path; do
		name=$n-$(basename "${path%.ko*}").ko
		n=$((n + 1))
		case $path in
		*.xz) xz -dc "$path" >"$to/$name" ;;
		*) cp "$path" "$to/$name" ;;
		esac
		echo "$name" >>"$to/order"
	done
}

# This tree's modules built for the kernel, with the indices of modprobe made
# as if they were installed: sets $own, a directory laid over lib/modules/RELEASE
# in the guest.
stage_own()
{
	local build=$top/build/$release modules

	own=
	mapfile -t modules < <(find "$build" -name '*.ko' 2>/dev/null)
	if [ -z "$moddir" ] || [ ${#modules[@]} -eq 0 ]; then
		return
	fi
	own=$run/own/lib/modules/$release
	mkdir -p "$own/updates"
	cp "${modules[@]}" "$own/updates/"
	cp "$moddir"/modules.{order,builtin*} "$own/"
	ln -s "$moddir/kernel" "$own/kernel"
	PATH=$PATH:/usr/sbin:/sbin depmod -b "$run/own" "$release"
	rm "$own/kernel"
}

# What the guest is told: shell assignments, sourced by guest.sh.
write_env()
{
	local host=$1 item

	{
		printf '%s=%q\n' VM_MODE $mode VM_DIR "$dir" VM_TOP "$top" \
			VM_MODDIR "$moddir" VM_OWN "$own" VM_TIMEOUT "$timeout" \
			VM_HOSTS "$hosts" VM_MAC "$(mac_of "$host")" VM_MTU "$mtu" \
			VM_TERM "${TERM:-dumb}" \
			VM_ROWS "$( (tput lines || echo 24) 2>/dev/null)" \
			VM_COLS "$( (tput cols || echo 80) 2>/dev/null)" \
			HOST "$host" CLOCK "${icount:+icount}" FALCON_TOP "$top" \
			FALCON_BUILD "$top/build/$release" KERNEL "$kernel"
		for item in "${settings[@]+"${settings[@]}"}"; do
			printf '%s=%q\n' "${item%%=*}" "${item#*=}"
		done
	}
}

mac_of()
{
	printf '52:54:00:fa:1c:%02x' "$1"
}

make_initrd()
{
	local host=$1 root=$run/root.$1

	mkdir -p "$root/vm" "$root/bin"
	ln -s /vm/busybox "$root/bin/sh"
	cp "$here/init" "$root/init"
	cp "$(command -v busybox)" "$root/vm/busybox"
	cp "$here/guest.sh" "$root/vm/guest.sh"
	printf '%s\n' "$command" >"$root/vm/command"
	write_env "$host" >"$root/vm/env"
	cp -r "$run/modules" "$root/vm/modules"
	(cd "$root" && find . -print0 |
		cpio --quiet -0 -o -H newc -R 0:0) >"$run/initrd.$host"
	rm -rf "$root"
}

# KVM only where it is known to work: inside another VM the device may exist
# and yet hang the guest.  Without five-level page tables: while a kernel with
# KASAN reads the CPU's features, an interrupt would take its own memory for
# wild addresses.
accel_options()
{
	if [ -n "$icount" ]; then
		echo -accel tcg,thread=single -cpu max,la57=off
		echo -icount shift=0,sleep=off
	elif grep -qwE 'vmx|svm' /proc/cpuinfo && [ -w /dev/kvm ]; then
		echo -accel kvm -cpu host,la57=off
	else
		echo -accel tcg,thread=multi -cpu max,la57=off
	fi
}

# The guest counts the host's TSC. Left to find out its rate while the host is
# busy, it may be off by a factor, and so are all its clocks and timers. Twice
# the rate in MHz is what Linux calls bogomips.
tsc_option()
{
	if [ -n "$icount" ]; then
		echo tsc_early_khz=1000000
		return
	fi
	awk -F: '/^bogomips/ { printf "tsc_early_khz=%d", $2 * 500; exit }' \
		/proc/cpuinfo
}

link_options()
{
	local host=$1 side=on

	[ "$hosts" -eq 2 ] || return 0
	[ "$host" -eq 1 ] || side=off
	echo -netdev "stream,id=link,server=$side,addr.type=unix,addr.path=link.sock"
	echo -device "virtio-net-pci,netdev=link,mac=$(mac_of "$host"),host_mtu=$mtu"
}

port_options()
{
	local host=$1

	echo -device virtio-serial-pci
	echo -chardev "file,id=status,path=status.$host"
	echo -device virtserialport,chardev=status,name=status
	if [ $mode = shell ]; then
		echo -chardev stdio,id=output,signal=off
		echo -device virtconsole,chardev=output
	else
		echo -chardev "file,id=output,path=output.$host"
		echo -device virtserialport,chardev=output,name=output
	fi
}

# Runs QEMU in the run's directory, so that no path of it needs quoting.
boot()
{
	local host=$1 limit=()

	[ "$timeout" -eq 0 ] || limit=(timeout -k 5 "$timeout")
	cd "$run"
	# shellcheck disable=SC2046 # option lists, free of blanks
	exec "${limit[@]+"${limit[@]}"}" qemu-system-x86_64 -name "falcon$host" \
		-machine q35 -nodefaults -no-user-config -no-reboot -display none \
		$(accel_options) -m "$mem" -smp "$smp" \
		-kernel "$image" -initrd "initrd.$host" \
		-append "console=ttyS0 panic=-1 oops=panic softlockup_panic=1 \
watchdog_thresh=30 rcupdate.rcu_cpu_stall_timeout=60 net.ifnames=0 \
random.trust_cpu=1 tsc=reliable $(tsc_option) mitigations=off $append" \
		-serial "file:console.$host" \
		-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
		-virtfs "local,path=out,mount_tag=out,security_model=none,multidevs=remap" \
		-device virtio-rng-pci \
		$(port_options "$host") $(link_options "$host") 2>"qemu.$host"
}

# A console log without carriage returns and without what may be ignored.
reports_in()
{
	local strip='/^ *(#|$)/d'

	tr -d '\r' <"$1" |
		grep -a -n -E -f <(sed -E "$strip" "$here/console.report") |
		grep -a -v -E -f <(sed -E "$strip" "$here/console.allow")
}

say()
{
	echo "vm.sh: $*" >&2
}

# Sets $verdict of one VM from what it left behind.
judge()
{
	local host=$1 qemu_status=$2 console=$run/console.$1 first to

	verdict=$(cat "$run/status.$host" 2>/dev/null || :)
	if [ $mode = shell ]; then
		verdict=${verdict:-0}
	elif [ -z "$verdict" ]; then
		verdict=$STATUS_KERNEL
		if [ "$qemu_status" -eq "$STATUS_TIMEOUT" ]; then
			verdict=$STATUS_TIMEOUT
			say "host $host: not done after $timeout s"
		else
			say "host $host: the guest ended before its command did"
		fi
		sed 's/^/vm.sh: qemu: /' "$run/qemu.$host" >&2
		say "last lines of its console:"
		tail -n 40 "$console" | tr -d '\r' >&2
	fi

	if reports_in "$console" >"$run/reports.$host"; then
		[ "$verdict" -eq "$STATUS_TIMEOUT" ] || verdict=$STATUS_KERNEL
		say "host $host: kernel reports (line: text):"
		head -n 20 "$run/reports.$host" >&2
		first=$(head -n 1 "$run/reports.$host" | cut -d: -f1)
		say "from the first on:"
		sed -n "$first,$((first + 70))p" "$console" | tr -d '\r' >&2
	fi
	if [ -n "$log" ]; then
		[ "$hosts" -eq 1 ] && to=$log || to=$log.$host
		cp "$console" "$to"
	fi
}

pids=()
relays=()
clean_up()
{
	local pid

	for pid in "${pids[@]+"${pids[@]}"}" "${relays[@]+"${relays[@]}"}"; do
		kill "$pid" 2>/dev/null || :
	done
	if [ -n "$keep" ]; then
		say "kept $run"
	else
		rm -rf "$run"
	fi
}

# Copies a VM's output as it comes, marked with the host if there are two.
relay()
{
	if [ "$hosts" -eq 1 ]; then
		cat "$run/output.$1"
	else
		sed -u "s/^/$1: /" "$run/output.$1"
	fi
}

start_hosts()
{
	local host

	relays=() pids=()
	rm -f "$out"/.here[12] "$out"/.up[12] "$run/link.sock"
	for ((host = 1; host <= hosts; host++)); do
		rm -f "$run/output.$host"
		mkfifo "$run/output.$host"
		relay "$host" &
		relays+=($!)
		boot "$host" </dev/null >/dev/null &
		pids+=($!)
		[ "$hosts" -eq 1 ] || wait_for_link "${pids[-1]}"
	done
}

# Has this guest not come up, and its console said nothing for STUCK seconds?
# Emulated processors that wait for each other stop a kernel now and then.
stuck()
{
	local last

	[ ! -e "$out/.here$1" ] && kill -0 "${pids[$1 - 1]}" 2>/dev/null || return 1
	last=$(stat -c %Y "$run/console.$1" 2>/dev/null) || return 1
	[ $(($(date +%s) - last)) -ge "$STUCK" ]
}

# True when every guest is up, or has ended; false if one is stuck.
booted()
{
	local host

	for ((host = 1; host <= hosts; host++)); do
		while [ ! -e "$out/.here$host" ] &&
		      kill -0 "${pids[host - 1]}" 2>/dev/null; do
			! stuck "$host" || return 1
			sleep 0.5
		done
	done
}

# A relay may still wait for its VM to open the other end: it is told as well.
stop_hosts()
{
	kill "${pids[@]}" 2>/dev/null || :
	wait "${pids[@]}" || :
	kill "${relays[@]}" 2>/dev/null || :
	wait "${relays[@]}" || :
}

run_hosts()
{
	local host tries

	for ((host = 1; host <= hosts; host++)); do
		make_initrd "$host"
	done
	for ((tries = 3; ; tries--)); do
		start_hosts
		if booted || [ $tries -eq 1 ]; then
			break
		fi
		say "a guest is stuck while it boots: once more"
		stop_hosts
	done

	result=0
	for ((host = 1; host <= hosts; host++)); do
		status=0
		wait "${pids[host - 1]}" || status=$?
		wait "${relays[host - 1]}"
		judge "$host" "$status"
		[ "$result" -ne 0 ] || result=$verdict
	done
}

# The second VM connects to the first one's socket.
wait_for_link()
{
	local tries

	for ((tries = 0; tries < 100; tries++)); do
		[ ! -S "$run/link.sock" ] || return 0
		kill -0 "$1" || return 0
		sleep 0.1
	done
}

run_shell()
{
	make_initrd 1
	(boot 1) || :
	judge 1 0
	result=$verdict
}

parse "$@"
find_kernel
mkdir -p "$top/build/vm" "$out"
run=$(mktemp -d "$top/build/vm/run.XXXXXX")
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
ln -s "$(realpath "$out")" "$run/out"
stage_modules "$run/modules"
stage_own
if [ $mode = shell ]; then
	run_shell
else
	run_hosts
fi
exit "$result"
