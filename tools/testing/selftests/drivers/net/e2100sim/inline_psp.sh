#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inline PSP: the NIC seals and opens with the keys that it was given; software
# does wherever it has none, and the peer cannot tell.

. "$(dirname "$0")/lib.sh"
need_e2100
[ -e /proc/sys/net/falcon/security ] || skip_all "no encryption"

# make_secure VERSION-MASK [WIRE]
make_secure()
{
	make_nics "${2:-direct}"
	both sysctl -q net.falcon.security=opportunistic \
		net.falcon.psp_versions="$1"
}

# with_keys N DEVICE...: each has been given as many
with_keys()
{
	local id least=$1 ns

	shift
	for id; do
		ns=$A
		[ "$id" = "$NIC_A" ] || ns=$B
		[ "$(nic_stat "$ns" psp_keys_added)" -ge "$least" ] || return
	done
}

# start_transfer [4|6 [OPTION...]]: one that takes its time until it may finish, in
# $sender and $receiver
start_transfer()
{
	local to=$B4

	[ "${1:-4}" = 4 ] || to=$B6
	touch "$scratch/slow"
	in_b falcon_xfer -l -b 4M "${@:2}" &
	receiver=$!
	in_a falcon_xfer -b 4M -m 2K -e 40000 "${@:2}" -g "$scratch/slow" "$to" \
		>"$scratch/sent" &
	sender=$!
}

finish_transfer()
{
	kill -0 "$sender"
	rm "$scratch/slow"
	wait "$sender"
	wait "$receiver"
}

# worked NAMESPACE: packets sealed by the NIC and in all, opened likewise
worked()
{
	local name

	for name in out_sealed_nic out_sealed in_opened_nic in_opened; do
		counter "$1" "$name"
	done | paste -sd' '
}

# Until the keys are installed, software does the work; then none is left to it,
# but for what passed while the counters were read.
rest_is_inline()
{
	local ns before now

	for ns; do
		worked "$ns" >"$scratch/$ns"
	done
	finish_transfer
	for ns; do
		read -ra before <"$scratch/$ns"
		read -ra now < <(worked "$ns")
		all_but_10 "sealed" $((now[0] - before[0])) \
			$((now[1] - before[1]))
		all_but_10 "opened" $((now[2] - before[2])) \
			$((now[3] - before[3]))
		expect "$(counter "$ns" in_bad_icv)" -eq 0 "not authentic"
	done
}

# all_but_10 WHAT N OF
all_but_10()
{
	echo "# $1: $2 of $3 by the NIC"
	expect "$3" -gt 20 "packets $1"
	expect "$2" -ge $(($3 - 10)) "$1 by the NIC, of $3"
}

# Both ends: data one way, acknowledgements the other.
inline_both_ways()
{
	local sender receiver

	start_transfer "${1:-4}"
	within 60 with_keys 2 "$NIC_A" "$NIC_B"
	rest_is_inline "$A" "$B"
	expect "$(nic_stat "$A" psp_sealed)" -gt 10 "trains sealed"
	expect "$(nic_stat "$B" psp_opened)" -gt 10 "trains opened"
}

every_version_inline()
{
	local n

	for n in 0 1 2 3; do
		make_secure $((1 << n))
		inline_both_ways $((n & 1 ? 6 : 4))
	done
}

inline_over_a_lower_netdev()
{
	make_secure 1 "$(lower_type)"
	inline_both_ways
}

# A lower device with NAPI marks what it receives as its own.
inline_over_a_lower_netdev_with_napi()
{
	make_secure 1 veth
	both ethtool -K w0 gro on
	inline_both_ways
	expect "$(nic_stat "$B" rx_stamped)" -eq "$(nic_stat "$B" rx_falcon)" \
		"stamped"
}

# The other end has no place for keys: what one seals the other opens.
inline_here_and_software_there()
{
	local sender receiver id

	for id in "$NIC_A" "$NIC_B"; do
		make_secure 1
		param $((NIC_A + NIC_B - id)) psp_keys 0
		start_transfer
		within 60 with_keys 2 "$id"
		if [ "$id" = "$NIC_A" ]; then
			rest_is_inline "$A"
			expect "$(counter "$B" in_opened_nic)" -eq 0 "opened"
		else
			rest_is_inline "$B"
			expect "$(counter "$A" out_sealed_nic)" -eq 0 "sealed"
		fi
		expect "$(counter "$A" in_bad_icv)" -eq 0 "not authentic"
		expect "$(counter "$B" in_bad_icv)" -eq 0 "not authentic"
	done
}

refused_keys_work_in_software()
{
	make_secure 1
	param "$NIC_A" psp_keys 0
	param "$NIC_B" psp_keys 0
	transfer 4 -b 2M
	expect "$(nic_stat "$A" psp_keys_added)" -eq 0 "keys in the NIC"
	expect "$(counter "$A" out_sealed_nic)" -eq 0 "sealed by it"
	expect "$(counter "$A" out_sealed)" -gt 10 "sealed"
}

# A place for one key of two: the NIC works one way, software the other.
a_full_table_leaves_the_rest_to_software()
{
	local sender receiver sealed opened

	make_secure 1
	param "$NIC_A" psp_keys 1
	start_transfer
	within 60 with_keys 1 "$NIC_A"
	finish_transfer
	expect "$(nic_stat "$A" psp_keys_added)" -eq 1 "keys in the NIC"
	sealed=$(counter "$A" out_sealed_nic)
	opened=$(counter "$A" in_opened_nic)
	echo "# by the NIC: $sealed sealed, $opened opened"
	[ "$sealed" -gt 10 ] || [ "$opened" -gt 10 ]
	[ "$sealed" -eq 0 ] || [ "$opened" -eq 0 ]
	expect "$(counter "$A" out_sealed)" -gt 10 "sealed"
	expect "$(counter "$A" in_opened)" -gt 10 "opened"
	expect "$(counter "$A" in_bad_icv)" -eq 0 "not authentic"
	expect "$(counter "$B" in_bad_icv)" -eq 0 "not authentic"
}

# The NIC goes with its keys in the middle of a transfer: what is below takes
# its address, and software the association.
the_nic_goes_and_software_has_the_keys()
{
	local sender receiver before

	make_secure 1 "$(lower_type)"
	start_transfer
	within 60 with_keys 2 "$NIC_A"
	within 60 sealed_inline 10
	del_device "$NIC_A"
	before=$(counter "$A" out_sealed_nic)
	ip -n "$A" addr add "$A4/24" dev w0
	finish_transfer
	expect "$(counter "$A" out_sealed_nic)" -eq "$before" \
		"sealed by the NIC that has gone"
	expect "$(counter "$A" out_sealed)" -gt $((before + 10)) "sealed"
	expect "$(counter "$B" in_bad_icv)" -eq 0 "not authentic"
	expect "$(counter "$B" in_replay)" -eq 0 "packets taken for replays"
}

sealed_inline()
{
	[ "$(counter "$A" out_sealed_nic)" -ge "$1" ]
}

all_keys_gone()
{
	[ "$(nic_stat "$1" psp_keys_added)" = \
	  "$(nic_stat "$1" psp_keys_deleted)" ]
}

keys_come_and_go()
{
	local sender receiver

	make_secure 1
	both sysctl -q net.falcon.linger_ms=100
	start_transfer
	within 60 with_keys 2 "$NIC_A" "$NIC_B"
	finish_transfer
	within 60 all_keys_gone "$A"
	within 60 all_keys_gone "$B"
}

rotation_replaces_keys_in_the_nic()
{
	local sender receiver

	make_secure 1 "$(lower_type)"
	start_transfer
	within 60 with_keys 2 "$NIC_A" "$NIC_B"
	falcon -N "$B" key rotate
	within 60 with_keys 3 "$NIC_A" "$NIC_B"
	falcon -N "$A" key rotate
	within 60 with_keys 4 "$NIC_A" "$NIC_B"
	rest_is_inline "$A" "$B"
}

corrupted_packets_are_not_opened()
{
	local sender receiver

	make_secure 1
	knob "$NIC_A" port0/seed 42
	knob "$NIC_A" port0/corrupt_ppm 50000
	start_transfer
	within 60 with_keys 2 "$NIC_B"
	finish_transfer
	expect "$(nic_stat "$A" fault_corrupt)" -gt 3 "packets corrupted"
	expect "$(counter "$B" in_opened_nic)" -gt 10 "packets opened"
}

# changed_on_the_way ACTION...: what pedit does to the data of a start_transfer(),
# until unchanged(); no checksum of UDP tells
changed_on_the_way()
{
	tc -n "$A" qdisc add dev w0 clsact
	tc -n "$A" filter add dev w0 egress protocol ip u32 \
		match ip protocol 17 0xff match u16 0x0800 0xf800 at 2 \
		action pedit "$@" munge offset 26 u16 set 0 \
		pipe action csum ip4h
}

unchanged()
{
	tc -n "$A" qdisc del dev w0 clsact
}

can_change()
{
	modprobe -a -n -q cls_u32 act_pedit act_csum
}

# A start_transfer() whose packets the NIC of $B opens one by one
start_single_packets()
{
	make_secure 1 "$(lower_type)"
	in_a sysctl -q net.falcon.train_pkts=1
	start_transfer
	within 60 with_keys 2 "$NIC_B"
}

# A bit of the text itself: nothing but the ICV tells.
changed_text_is_not_opened()
{
	local sender receiver

	can_change || return "$KSFT_SKIP"
	start_single_packets
	changed_on_the_way munge offset 100 u8 invert
	within 60 refused "$B" 3
	unchanged
	finish_transfer
	expect "$(nic_stat "$B" psp_not_opened)" -ge 3 "seen by the engine"
}

# Somebody on the way lowers the lengths that no key protects: what is opened by
# them would be authentic, and short. Software sees that it is not.
shortened_packets_are_not_opened()
{
	local sender receiver

	can_change || return "$KSFT_SKIP"
	start_single_packets
	changed_on_the_way munge offset 2 u16 set 200 \
		munge offset 24 u16 set 180
	within 60 refused "$B" 3
	unchanged
	finish_transfer
}

stolen()
{
	[ "$(stat -c %s "$scratch/stolen")" -ge "$1" ]
}

# Nor does any key protect where a packet goes: somebody on the way writes his own
# address into it. A host that forwards passes it on to him as it came.
what_is_for_others_is_not_opened()
{
	local sender receiver clear

	can_change || return "$KSFT_SKIP"
	make_secure 1 "$(lower_type)"
	ip link add x0 netns "$B" type veth peer name x0 netns "$A"
	both ip link set x0 mtu 9000 up
	ip -n "$B" addr add 192.0.2.1/24 dev x0
	ip -n "$B" neigh add 192.0.2.9 dev x0 nud permanent \
		lladdr "$(in_a cat /sys/class/net/x0/address)"
	in_b sysctl -q net.ipv4.ip_forward=1
	in_a psp_decode.py capture x0 "$scratch/stolen" >"$scratch/up" &
	within 60 grep -q capturing "$scratch/up"
	head -c 4M /dev/zero >"$scratch/zeros"
	start_transfer 4 -f "$scratch/zeros"
	within 60 with_keys 2 "$NIC_B"
	changed_on_the_way munge ip dst set 192.0.2.9
	within 60 stolen 16384
	unchanged
	finish_transfer
	end_jobs
	clear=$(grep -caP '\x00{64}' "$scratch/stolen") || :
	expect "$clear" -eq 0 "lines of them in the clear"
}

# The address that a key is for goes, and comes back: what still comes for it is
# not for this host meanwhile.
keys_go_and_come_with_their_address()
{
	local sender receiver

	make_secure 1 "$(lower_type)"
	start_transfer
	within 60 with_keys 2 "$NIC_B"
	ip -n "$B" addr del "$B4/24" dev e0
	within 20 all_keys_gone "$B"
	ip -n "$B" addr add "$B4/24" dev e0
	within 60 with_keys 4 "$NIC_B"
	finish_transfer
}

# The port moves to another namespace, which is not to read what was for this one.
# The connection goes on by what is below.
nothing_goes_along_to_another_namespace()
{
	local sender receiver other=$A-other

	make_secure 1 "$(lower_type)"
	start_transfer
	within 60 with_keys 2 "$NIC_A"
	ip netns add "$other"
	ip -n "$A" link set e0 netns "$other"
	ip -n "$other" link set e0 up
	within 10 all_keys_gone "$other"
	within 10 no_contexts "$NIC_A"
	[ "$(users "$other")" = 0 ]
	nic_unlink "$other" e0
	ip -n "$A" addr add "$A4/24" dev w0
	finish_transfer
	ip netns del "$other"
}

# refused NAMESPACE N: so many packets were not authentic
refused()
{
	[ "$(counter "$1" in_bad_icv)" -ge "$2" ]
}

# Nonces of captures on the wire: the same key seals in the NIC, in software
# while it is reset, and in the NIC again.
no_nonce_twice_across_resets()
{
	local sender receiver

	make_secure 1 "$(lower_type)"
	sniff "$A" e0 out "$scratch/out"
	start_transfer 4 -m 32K -e 200000
	for n in 2 4 6; do
		within 60 with_keys "$n" "$NIC_A"
		devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
	done
	finish_transfer
	sniffed
	expect "$(counter "$A" out_sealed_nic)" -gt 10 "sealed by the NIC"
	expect "$(counter "$A" out_sealed)" -gt \
		"$(counter "$A" out_sealed_nic)" "sealed"
	nonces_are_new "$scratch/out"
	expect "$(counter "$B" in_replay)" -eq 0 "packets taken for replays"
}

run_tests every_version_inline inline_over_a_lower_netdev \
	inline_over_a_lower_netdev_with_napi \
	inline_here_and_software_there refused_keys_work_in_software \
	a_full_table_leaves_the_rest_to_software \
	the_nic_goes_and_software_has_the_keys \
	keys_come_and_go rotation_replaces_keys_in_the_nic \
	corrupted_packets_are_not_opened changed_text_is_not_opened \
	shortened_packets_are_not_opened \
	what_is_for_others_is_not_opened keys_go_and_come_with_their_address \
	nothing_goes_along_to_another_namespace \
	no_nonce_twice_across_resets
status=$?
drop_nics
exit $status
