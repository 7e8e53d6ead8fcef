#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of this directory share: two namespaces joined by a veth pair,
# faults on the wire between them, transfers, counters, and TAP.
#
# A test sources this file, defines functions named after what they hold to,
# and ends with `run_tests FUNCTION...`.  A function fails by returning
# anything but 0, or 4 for a skip; it runs with -e in a shell of its own.

KSFT_SKIP=4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$here:$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin
scratch=$(mktemp -d "${TMPDIR:-/tmp}/falcon.XXXXXX")

# The two ends. $A sends and $B receives, where a test does not say otherwise.
A=fa-$$ B=fb-$$
A4=10.78.0.1 B4=10.78.0.2
A6=fd78::1 B6=fd78::2
export A B A4 B4 A6 B6

skip_all()
{
	echo "1..0 # SKIP $*"
	exit $KSFT_SKIP
}

need_command()
{
	local name

	for name; do
		command -v "$name" >/dev/null || skip_all "no command $name"
	done
}

need_falcon()
{
	[ "$(id -u)" -eq 0 ] || skip_all "not root"
	need_command ip tc ethtool falcon falcon_xfer
	[ -e /proc/sys/net/falcon ] || modprobe -q falcon ||
		skip_all "no module falcon"
}

# need_two_hosts NAME: this runs in both VMs of vm.sh --hosts 2, as whatever else
# of that name.
need_two_hosts()
{
	[ -n "${PEER4-}" ] || skip_all "not one of two hosts"
	# What both see of this run and of no other
	meeting=/out/meet.$(stat -c %i-%Y /out/.up1)
	find /out -name 'meet.*' ! -path "$meeting.*" -delete
	meeting+=.$1
}

# meet NAME: waits until the other has come as far.
meet()
{
	: >"$meeting.$1.$HOST"
	within 300 test -e "$meeting.$1.$((3 - HOST))"
}

# end_jobs [-SIGNAL]: every job of this shell. What in_a runs is a child of the
# job, which is the function; ten thousand sockets take it a while to close.
end_jobs()
{
	local job pid pids=

	for job in $(jobs -p); do
		pids+=" $(pgrep -d ' ' -P "$job" || :) $job"
	done
	for pid in $pids; do
		kill "${1--TERM}" "$pid" 2>/dev/null || :
	done
	wait
	for pid in $pids; do
		within 120 fails kill -0 "$pid"
	done
}

cleanup()
{
	local ns

	end_jobs
	for ns in $(ip netns list | awk '{ print $1 }'); do
		case $ns in
		fa-$$*|fb-$$*) ip netns del "$ns" ;;
		esac
	done
	rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# patient [NAMESPACE...]: an emulated machine stops for milliseconds at a time.
# What would be congestion or loss on a real one is neither here.
patient()
{
	local ns

	[ $# -gt 0 ] || set -- "$A" "$B"
	for ns; do
		ip netns exec "$ns" sysctl -q net.falcon.delay_target_us=20000 \
			net.falcon.min_rto_us=20000 \
			net.falcon.ack_coalesce_us=100
	done
}

# make_pair [MTU [NAME-A NAME-B]]: packets in the clear, unless SECURITY says
# otherwise: most tests are of the protocol inside, and some look at it.
make_pair()
{
	local mtu=${1:-9000} a=${2:-$A} b=${3:-$B} ns

	# What a test that failed has left behind fails no other.
	ip netns del "$a" 2>/dev/null || :
	ip netns del "$b" 2>/dev/null || :
	ip netns add "$a"
	ip netns add "$b"
	ip link add e0 netns "$a" type veth peer name e0 netns "$b"
	for ns in "$a" "$b"; do
		ip netns exec "$ns" sysctl -q net.ipv6.conf.all.accept_dad=0 \
			net.ipv6.conf.e0.accept_dad=0
		ip -n "$ns" link set lo up
		ip -n "$ns" link set e0 up mtu "$mtu"
		patient "$ns"
		ip netns exec "$ns" sysctl -q \
			net.falcon.security="${SECURITY:-none}"
	done
	ip -n "$a" addr add $A4/24 dev e0
	ip -n "$b" addr add $B4/24 dev e0
	ip -n "$a" addr add $A6/64 dev e0
	ip -n "$b" addr add $B6/64 dev e0
}

drop_pair()
{
	ip netns del "${1:-$A}"
	ip netns del "${2:-$B}"
}

in_a()
{
	ip netns exec "$A" "$@"
}

in_b()
{
	ip netns exec "$B" "$@"
}

both()
{
	in_a "$@"
	in_b "$@"
}

# What the wire loses and reorders shall be packets, not trains: netem acts on
# whole skbs. TCP builds them even for a device without GSO, if it may.
per_packet()
{
	both ethtool -K e0 gso off tso off gro off >/dev/null
	both ip link set dev e0 gso_max_segs 1
	both sysctl -q net.falcon.train_pkts=1
}

# faults NETEM-ARGUMENTS...: in both directions, at $WIRE if that is not e0; "none"
# ends them.
faults()
{
	local ns

	for ns in "$A" "$B"; do
		tc -n "$ns" qdisc del dev "${WIRE-e0}" root 2>/dev/null || :
		[ "$1" = none ] || tc -n "$ns" qdisc add dev "${WIRE-e0}" root netem \
			limit 10000 "$@"
	done
}

# Makes netem know the distribution "quarter": three packets in four take the
# delay, the others one jitter more (8192 is netem's unit of a jitter).
know_quarter()
{
	export TC_LIB_DIR=$scratch
	awk 'BEGIN { for (i = 0; i < 4096; i++) print i < 3072 ? 0 : 8192 }' \
		>"$TC_LIB_DIR/quarter.dist"
}

# Packets that netem dropped on the way out of a namespace.
lost_in()
{
	tc -n "$1" -s qdisc show dev "${WIRE-e0}" |
		sed -n 's/.*dropped \([0-9]*\),.*/\1/p' | head -n 1
}

# counter NAMESPACE NAME: of the namespace, by the kernel's name.
counter()
{
	falcon -N "$1" stat "$2" | awk '{ print $2 }'
}

# Is there a connection of $A?
established()
{
	falcon -N "$A" conn state established | grep -q '^established '
}

# Sum of all counters of a namespace that match a glob.
counters()
{
	falcon -N "$1" stat "$2" | awk '{ sum += $2 } END { print sum + 0 }'
}

trace=/sys/kernel/tracing

# capture DEVICE COMMAND...: runs it while a wire of $A and the grants of keys
# are recorded, in $scratch/frames and $scratch/keys.
capture()
{
	local device=$1 pid status=0

	shift
	echo 'p:psp_grant falcon:falcon_psp_tx_install spi=+0(%si):x32 version=+4(%si):u8 key=+5(%si):x8[32]' \
		>$trace/kprobe_events
	echo >$trace/trace
	echo 1 >$trace/events/kprobes/psp_grant/enable
	in_a psp_decode.py capture "$device" "$scratch/frames" \
		>"$scratch/capturing" &
	pid=$!
	within 60 grep -q capturing "$scratch/capturing"
	"$@" || status=1
	pkill -P $pid || :
	wait $pid || :
	cat $trace/trace >"$scratch/keys"
	echo 0 >$trace/events/kprobes/psp_grant/enable
	: >$trace/kprobe_events
	return $status
}

can_probe()
{
	mountpoint -q $trace || mount -t tracefs tracefs $trace 2>/dev/null
	[ -w $trace/kprobe_events ]
}

can_decode()
{
	python3 -c 'import cryptography' 2>/dev/null && can_probe
}

no_more_exits()
{
	echo 0 >$trace/events/falcon/falcon_conn_state/enable
	[ ! -e $trace/events/kprobes ] || echo 0 >$trace/events/kprobes/enable
	: >$trace/kprobe_events
}

# watch_exits: from here on $trace knows which namespaces are left for good, and
# what ended in them until then.
watch_exits()
{
	no_more_exits
	echo 'r:netns_left falcon:falcon_net_exit' >$trace/kprobe_events
	echo >$trace/trace
	echo 1 >$trace/events/falcon/falcon_conn_state/enable
	echo 1 >$trace/events/kprobes/netns_left/enable
}

# have_left N: namespaces, down to the last connection
have_left()
{
	[ "$(grep -c 'netns_left:' $trace/trace)" -ge "$1" ]
}

# ended STATE: how many connections in it a namespace took along (ENETDOWN)
ended()
{
	grep -c "falcon_conn_state: .* $1->dead err=-100$" $trace/trace || :
}

# decodes [FILE...]: all that was captured, by the keys in $scratch/keys
decodes()
{
	[ $# -gt 0 ] || set -- "$scratch/frames"
	psp_decode.py decode "$scratch/keys" "$@" >"$scratch/decoded" ||
		{ cat "$scratch/decoded"; return 1; }
	sed 's/^/# /' "$scratch/decoded"
}

# number FILE NAME: a number of a JSON file, the first of that name.
number()
{
	grep -oE "\"$2\": *[0-9.]+" "$1" | head -n 1 | sed 's/.*: *//'
}

# transfer 4|6 OPTION...: one transfer from $A to $B, options for both ends.
# $scratch/sent.json is the sender's report, $scratch/conn.json its connection
# as the kernel sees it when all has arrived, and $scratch/peer.json the receiver's.
transfer()
{
	local to=$B4 receiver

	[ "$1" = 4 ] || to=$B6
	shift
	in_b falcon_xfer -l "$@" &
	receiver=$!
	in_a falcon_xfer "$@" -x "falcon -j conn >$scratch/conn.json
		falcon -N $B -j conn >$scratch/peer.json" "$to" \
		>"$scratch/sent.json" || { pkill -P $receiver; return 1; }
	wait $receiver
}

# expect NUMBER OPERATOR NUMBER WHAT: OPERATOR is test's.
expect()
{
	test "$1" "$2" "$3" && return
	echo "# $4: $1, expected $2 $3"
	return 1
}

# Waits until a command succeeds, in seconds.
within()
{
	local limit=$((SECONDS + $1))

	shift
	while ! "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $limit ] || { echo "# in vain: $*"; return 1; }
		sleep 0.1
	done
}

fails()
{
	! "$@"
}

run_tests()
{
	local nr=0 failed=0 name start status

	echo "TAP version 13"
	echo "1..$#"
	for name; do
		nr=$((nr + 1))
		start=$SECONDS
		(
			set -eE
			trap end_jobs EXIT
			trap 'echo "# line $LINENO: $BASH_COMMAND"' ERR
			"$name"
		)
		status=$?
		case $status in
		0)
			echo "ok $nr $name # $((SECONDS - start)) s" ;;
		"$KSFT_SKIP")
			echo "ok $nr $name # SKIP" ;;
		*)
			echo "not ok $nr $name # $((SECONDS - start)) s"
			failed=$((failed + 1)) ;;
		esac
	done
	echo "# $((nr - failed)) passed, $failed failed"
	[ $failed -eq 0 ]
}
