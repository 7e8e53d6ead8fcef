#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# verbs.sh - verbs over Falcon beside rxe, TCP and UDP, on the same link, in one
# run.
#
# For two VMs (vm.sh --hosts 2): host 1 serves, host 2 asks and prints.  Files
# in /out keep the two in step.  In an emulated machine only the ratios mean
# anything; one that does not end in LIMIT seconds is shown as "hangs".

# shellcheck source=tools/testing/falcon/bench/goal.sh
. "$(dirname "$0")/goal.sh"

LIMIT=${LIMIT:-60}
export RDMAV_DRIVERS=$FALCON_TOP/build/tools/libfalcon
step=0
declare -A result

# meet NAME: both hosts have come here.
meet()
{
	local i

	touch "/out/$1.$HOST"
	for ((i = 0; i < 1200; i++)); do
		[ -e "/out/$1.$((3 - HOST))" ] && return
		sleep 0.1
	done
	echo "# the other host did not come to $1" >&2
	exit 1
}

# both SERVER-COMMAND -- CLIENT-COMMAND: the client's output is in /tmp/client.
both()
{
	local server=() pid status=0 i

	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	step=$((step + 1))
	if [ "$HOST" = 1 ]; then
		timeout $((LIMIT + 30)) "${server[@]}" >/tmp/server 2>&1 &
		pid=$!
		for ((i = 0; i < 300; i++)); do
			[ -z "$(ss -Htln)" ] || break
			sleep 0.1
		done
		meet "ready$step"
		meet "done$step"
		kill $pid 2>/dev/null
		wait $pid
		return
	fi
	meet "ready$step"
	timeout "$LIMIT" "$@" >/tmp/client 2>&1 || status=$?
	meet "done$step"
	return $status
}

# note KEY STATUS AWK-PROGRAM: what that prints of the client's output
note()
{
	[ "$HOST" = 2 ] || return 0
	case $2 in
	0) result[$1]=$(awk "$3" /tmp/client) ;;
	124) result[$1]=hangs ;;
	*)
		result[$1]=fails
		tail -n 2 /tmp/client | sed "s/^/# $1: /" ;;
	esac
}

gid()
{
	local file

	for file in /sys/class/infiniband/"$1"/ports/1/gids/*; do
		grep -q "ffff:0a4d:000$HOST" "$file" || continue
		echo "${file##*/}"
		return
	done
}

# perftest KEY COLUMN PROGRAM OPTION...: of the last line of its table: size,
# count, peak, average, rate; or size, count, min, max, typical
perftest()
{
	local key=$1 col=$2 common status

	shift 2
	common=("$@" -d "$dev" -x "$(gid "$dev")" -F)
	both "${common[@]}" -- "${common[@]}" "$PEER4"
	status=$?
	note "$key" $status \
		"\$1 ~ /^[0-9]+\$/ && NF >= 4 { v = \$$col } END { print v }"
}

tcp()
{
	local status

	both iperf3 -s -1 -- iperf3 -c "$PEER4" -t 5 -f M
	status=$?
	# shellcheck disable=SC2016 # the dollar is awk's
	note "$1" $status '/receiver/ { print $(NF - 2) }'
}

# wire NETEM-ARGUMENTS | clean: netem acts on whole skbs, but packets shall be
# lost, one by one.
wire()
{
	tc qdisc del dev e0 root 2>/dev/null
	ethtool -K e0 gso on tso on gro on >/dev/null 2>&1
	ip link set dev e0 gso_max_segs 65535
	sysctl -q net.falcon.train_pkts="$trains"
	[ "$1" = clean ] && return
	ethtool -K e0 gso off tso off gro off >/dev/null 2>&1
	ip link set dev e0 gso_max_segs 1
	sysctl -q net.falcon.train_pkts=1
	tc qdisc add dev e0 root netem limit 10000 "$@"
}

# udp KEY: datagrams of the size that a write of 8 bytes has with its headers,
# as many as get through. Each is a packet on this link, as each write is: there
# is no offload that would make fewer of them.
udp()
{
	local status

	both iperf3 -s -1 -- iperf3 -c "$PEER4" -u -l 88 -b 0 -t 5
	status=$?
	# shellcheck disable=SC2016 # the dollar is awk's
	note "$1" $status '/receiver/ { split($3, t, "-"); split($(NF - 2), n, "/")
		printf "%.6f", (n[2] - n[1]) / t[2] / 1e6 }'
}

# verbs NAME: all figures of the device $dev
verbs()
{
	wire clean
	perftest "$1.bw" 4 ib_write_bw -s 65536 -n 400
	perftest "$1.rate" 5 ib_write_bw -s 8 -n 4000
	perftest "$1.lat" 5 ib_write_lat -s 8 -n 400
	wire loss 0.5%
	perftest "$1.loss" 4 ib_write_bw -s 65536 -n 200
	wire clean
}

falcon()
{
	modprobe falcon_ib
	sysctl -qe net.falcon.security="$2"
	dev=falcon0
	rdma link add $dev type falcon netdev e0
	sleep 2
	verbs "$1"
	rdma link del $dev
}

rxe()
{
	modprobe rdma_rxe || return
	dev=rxe0
	rdma link add $dev type rxe netdev e0
	sleep 2
	verbs rxe
	rdma link del $dev
}

row()
{
	printf '%-26s' "$1"
	shift
	printf ' %14s' "$@"
	echo
}

report()
{
	local key

	row "" falcon/none falcon/default rxe tcp udp
	for key in bw rate lat loss; do
		case $key in
		bw) set -- "64 KiB writes, MB/s" ;;
		rate) set -- "8 B writes, millions/s" ;;
		lat) set -- "8 B write latency, us" ;;
		loss) set -- "64 KiB, 0.5 % loss, MB/s" ;;
		esac
		row "$1" "${result[none.$key]:--}" "${result[default.$key]:--}" \
			"${result[rxe.$key]:--}" "${result[tcp.$key]:--}" \
			"${result[udp.$key]:--}"
	done
}

# ratio MINE THEIRS: nothing, if one of them is no figure
ratio()
{
	awk -v m="$1" -v t="$2" 'BEGIN {
		if (m + 0 > 0 && t + 0 > 0)
			printf "%.2f", m / t }'
}

# compared WHAT KEY OPERATOR LIMIT OTHER: a figure of $policy in relation to
# another's; where one is missing there is no verdict.
compared()
{
	local mine=${result[$policy.$2]:--} theirs=${result[$5.$2]:--} ratio

	ratio=$(ratio "$mine" "$theirs")
	if [ -n "$ratio" ]; then
		goal "$1, $policy / $5:" "$ratio" "$3" "$4"
	else
		printf '%-40s no figure (%s, %s)\n' "$1, $policy / $5:" "$mine" \
			"$theirs"
	fi
}

# beside WHAT KEY OTHER: the same without a goal
beside()
{
	local ratio

	ratio=$(ratio "${result[$policy.$2]:--}" "${result[$3.$2]:--}")
	[ -z "$ratio" ] || printf '%-40s %s\n' "$1, $policy / $3:" "$ratio"
}

# The others do not encrypt.
goals()
{
	local policy=$1

	compared "64 KiB writes" bw ">=" 3 rxe
	compared "64 KiB writes" bw ">=" 0.8 tcp
	compared "8 B writes" rate ">=" 3 rxe
	beside "8 B writes" rate udp
	compared "8 B write latency" lat "<=" 0.8 rxe
	compared "64 KiB, 0.5 % loss" loss ">=" 10 rxe
}

# An emulated machine stops for milliseconds at a time: that is neither loss nor
# congestion, as TCP and rxe have it anyway (200 ms and none).
patient()
{
	sysctl -q net.falcon.delay_target_us=20000 \
		net.falcon.min_rto_us=20000 net.falcon.ack_coalesce_us=100
}

ulimit -l unlimited
modprobe falcon
trains=$(sysctl -n net.falcon.train_pkts)
patient
default=$(sysctl -n net.falcon.security 2>/dev/null)
tcp tcp.bw
wire loss 0.5%
tcp tcp.loss
falcon none none
falcon default "${default:-none}"
rxe
# Last: a flood may leave something behind.
udp udp.rate
[ "$HOST" = 1 ] || { report; goals none; goals default; }
