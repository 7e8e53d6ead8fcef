#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh - process 1 of the guest, on the host's root file system.
#
# Makes the guest an ordinary small machine (pseudo file systems, modules,
# loopback, host name, the link to a second VM), runs the command that vm.sh
# left in /run/vm, sends its output and its exit status through two virtio
# serial ports, and powers the machine off.  /run/vm/env holds the settings.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8 TERM=dumb
export HOST=1
set -a
# shellcheck source=/dev/null
. /run/vm/env
set +a

mount_all()
{
	mkdir -p /dev/pts /dev/shm /run/lock
	mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
	ln -sf pts/ptmx /dev/ptmx
	ln -sfn /proc/self/fd /dev/fd
	ln -sf fd/0 /dev/stdin
	ln -sf fd/1 /dev/stdout
	ln -sf fd/2 /dev/stderr
	mount -t tmpfs -o mode=1777 shm /dev/shm
	mount -t debugfs debugfs /sys/kernel/debug
	mount -t tracefs tracefs /sys/kernel/tracing
	mount -t cgroup2 cgroup /sys/fs/cgroup
	mount -t configfs configfs /sys/kernel/config 2>/dev/null

	# 9p answers slowly: scratch files belong into memory.
	case $VM_DIR/$VM_TOP/ in
	/tmp/*|*//tmp/*) ;;
	*) mount -t tmpfs -o mode=1777 tmp /tmp ;;
	esac

	if [ -n "$VM_MODDIR" ] && [ "$VM_MODDIR" != "/lib/modules/$(uname -r)" ]; then
		mkdir -p "/lib/modules/$(uname -r)"
		mount --bind "$VM_MODDIR" "/lib/modules/$(uname -r)"
	fi
	[ -z "$VM_OWN" ] || cp -r "$VM_OWN/." "/lib/modules/$(uname -r)/"
	mkdir -p /out
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none out /out
	touch "/out/.here$HOST"
}

set_up()
{
	local clash

	hostname "falcon$HOST"
	grep -q "falcon$HOST" /etc/hosts || echo "127.0.0.1 falcon$HOST" >>/etc/hosts
	ip link set lo up
	sysctl -q kernel.panic_on_oops=1 kernel.printk=7
	sysctl -q kernel.hung_task_timeout_secs=120 2>/dev/null
	# Its periodic scan would blame whatever happens to run: finish() scans.
	clash=/sys/kernel/debug/kmemleak
	[ ! -e $clash ] || echo scan=off >$clash
}

# The link to the other VM: e0, 10.77.0.HOST/24 and fd77::HOST/64.
set_up_link()
{
	local name

	modprobe -q virtio_net
	for name in /sys/class/net/*; do
		[ "$(cat "$name/address")" = "$VM_MAC" ] || continue
		ip link set "${name##*/}" down name e0
	done
	sysctl -q net.ipv6.conf.e0.accept_dad=0
	ip link set e0 up mtu "$VM_MTU"
	ip addr add "10.77.0.$HOST/24" dev e0
	ip addr add "fd77::$HOST/64" dev e0
	export PEER=$((3 - HOST))
	export LOCAL4=10.77.0.$HOST LOCAL6=fd77::$HOST
	export PEER4=10.77.0.$PEER PEER6=fd77::$PEER

	# Go on together: neither command meets a peer that still boots.
	touch "/out/.up$HOST"
	until [ -e "/out/.up$PEER" ] && [ "$(cat /sys/class/net/e0/operstate)" = up ]; do
		sleep 0.2
	done
}

port_of()
{
	local port

	for port in /sys/class/virtio-ports/*; do
		[ "$(cat "$port/name")" = "$1" ] || continue
		echo "/dev/${port##*/}"
		return
	done
}

# Shortly before the host loses patience: who is stuck, and where.
watch_clock()
{
	sleep $((VM_TIMEOUT - $(cut -d. -f1 /proc/uptime) - 10))
	echo "guest.sh: time is nearly up: blocked and running tasks follow" >/dev/kmsg
	echo w >/proc/sysrq-trigger
	echo l >/proc/sysrq-trigger
}

kill_others()
{
	local pid

	for pid in $(ps -e -o pid=); do
		[ "$pid" = $$ ] || [ "$pid" = "$1" ] || kill -KILL "$pid" 2>/dev/null
	done
}

# A pipe between the command and the port: a port can be opened only once,
# which would break every program that opens /dev/stdout or /dev/stderr anew.
run_command()
{
	local copier status

	mkfifo /run/vm/output
	cat /run/vm/output >"$(port_of output)" &
	copier=$!
	if [ "$VM_TIMEOUT" -gt 0 ]; then
		watch_clock </dev/null >/dev/null 2>&1 &
		disown
	fi

	# shellcheck disable=SC2016 # expanded by the inner shell
	setsid -w bash -c 'cd "$VM_DIR" && . /run/vm/command' \
		</dev/null >/run/vm/output 2>&1
	status=$?
	kill_others $copier
	wait $copier
	finish
	echo $status >"$(port_of status)"
}

run_shell()
{
	export TERM=$VM_TERM
	stty -F /dev/hvc0 rows "$VM_ROWS" cols "$VM_COLS" 2>/dev/null
	cd "$VM_DIR" || cd /
	PS1='[\h \W]\$ ' setsid -w -c bash --norc -i </dev/hvc0 >/dev/hvc0 2>&1
	echo 0 >"$(port_of status)"
}

# What must be looked at when nothing runs any more.  kmemleak reports only
# what is older than five seconds and looks the same in two scans.
finish()
{
	local leaks=/sys/kernel/debug/kmemleak

	dmesg --console-on 2>/dev/null
	if [ -e $leaks ] && echo scan >$leaks 2>/dev/null; then
		sleep 6
		echo scan >$leaks
		cat $leaks >/dev/kmsg
	fi
	sync
}

mount_all
set_up
[ "$VM_HOSTS" -eq 1 ] || set_up_link
case $VM_MODE in
shell) run_shell ;;
*) run_command ;;
esac
/run/vm/busybox poweroff -f
