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

# Software keeps the first packets, until the keys are installed.
mostly()
{
	expect "$1" -gt "$(($2 * 3 / 4))" "$3, of $2"
}

# Both ends: data one way, acknowledgements the other.
inline_both_ways()
{
	local ns

	for ns in "$A" "$B"; do
		mostly "$(counter "$ns" out_sealed_nic)" \
			"$(counter "$ns" out_sealed)" "sealed by the NIC"
		mostly "$(counter "$ns" in_opened_nic)" \
			"$(counter "$ns" in_opened)" "opened by the NIC"
		expect "$(counter "$ns" in_bad_icv)" -eq 0 "not authentic"
	done
	expect "$(nic_stat "$A" psp_sealed)" -gt 10 "trains sealed"
	expect "$(nic_stat "$B" psp_opened)" -gt 10 "trains opened"
}

every_version_inline()
{
	local n

	for n in 0 1 2 3; do
		make_secure $((1 << n))
		transfer $((n & 1 ? 6 : 4)) -b 4M
		inline_both_ways
	done
}

inline_over_a_lower_netdev()
{
	make_secure 1 "$(lower_type)"
	transfer 4 -b 4M
	inline_both_ways
}

# The other end has no place for keys: what one seals the other opens.
inline_here_and_software_there()
{
	local ns=$A

	for id in "$NIC_B" "$NIC_A"; do
		make_secure 1
		param "$id" psp_keys 0
		transfer 4 -b 4M
		mostly "$(counter "$ns" out_sealed_nic)" \
			"$(counter "$ns" out_sealed)" "sealed by the NIC"
		mostly "$(counter "$ns" in_opened_nic)" \
			"$(counter "$ns" in_opened)" "opened by the NIC"
		expect "$(counter "$B" in_bad_icv)" -eq 0 "not authentic"
		expect "$(counter "$A" in_bad_icv)" -eq 0 "not authentic"
		ns=$B
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
	local sealed opened

	make_secure 1
	param "$NIC_A" psp_keys 1
	transfer 4 -b 2M
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

	make_secure 1 veth
	in_b falcon_xfer -l -b 4M &
	receiver=$!
	in_a falcon_xfer -b 4M -m 16K -e 30000 "$B4" >"$scratch/sent" &
	sender=$!
	within 60 with_keys 2
	within 60 sealed_inline 10
	del_device "$NIC_A"
	before=$(counter "$A" out_sealed_nic)
	ip -n "$A" addr add "$A4/24" dev w0
	kill -0 "$sender"
	wait "$sender"
	wait "$receiver"
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
	make_secure 1
	both sysctl -q net.falcon.linger_ms=100
	transfer 4 -b 200K
	expect "$(nic_stat "$A" psp_keys_added)" -ge 2 "keys added"
	within 60 all_keys_gone "$A"
	within 60 all_keys_gone "$B"
}

rotation_replaces_keys_in_the_nic()
{
	local sender receiver before

	make_secure 1
	in_b falcon_xfer -l -b 8M &
	receiver=$!
	in_a falcon_xfer -b 8M -m 16K -e 30000 "$B4" >"$scratch/sent" &
	sender=$!
	within 60 with_keys 2
	before=$(nic_stat "$A" psp_keys_added)
	falcon -N "$B" key rotate
	within 60 with_keys $((before + 1))
	falcon -N "$A" key rotate
	within 60 with_keys $((before + 2))
	wait "$sender"
	wait "$receiver"
	inline_both_ways
}

with_keys()
{
	[ "$(nic_stat "$A" psp_keys_added)" -ge "$1" ]
}

corrupted_packets_are_not_opened()
{
	make_secure 1
	knob "$NIC_A" port0/seed 42
	knob "$NIC_A" port0/corrupt_ppm 50000
	transfer 4 -b 2M
	expect "$(nic_stat "$A" fault_corrupt)" -gt 3 "packets corrupted"
	expect "$(counter "$B" in_opened_nic)" -gt 10 "packets opened"
}

# Nonces of captures on the wire: the same key seals in the NIC, in software
# while it is reset, and in the NIC again.
no_nonce_twice_across_resets()
{
	local sender receiver sniffer

	make_secure 1 veth
	ip netns exec "$A" e2100_wire.py capture w0 out "$scratch/out" \
		>"$scratch/up" &
	sniffer=$!
	within 60 grep -q capturing "$scratch/up"
	in_b falcon_xfer -l -b 8M &
	receiver=$!
	in_a falcon_xfer -b 8M -m 16K -e 30000 "$B4" >"$scratch/sent" &
	sender=$!
	for n in 2 4 6; do
		within 60 with_keys "$n"
		devlink dev reload "e2100sim/e2100sim$NIC_A" >/dev/null
	done
	kill -0 "$sender"
	wait "$sender"
	wait "$receiver"
	kill "$sniffer"
	wait "$sniffer" || :
	expect "$(counter "$A" out_sealed_nic)" -gt 10 "sealed by the NIC"
	expect "$(counter "$A" out_sealed)" -gt \
		"$(counter "$A" out_sealed_nic)" "sealed"
	expect "$(wc -l <"$scratch/out")" -gt 100 "packets captured"
	expect "$(cut -d' ' -f1 "$scratch/out" | sort | uniq -d | wc -l)" -eq 0 \
		"nonces seen twice"
	expect "$(counter "$B" in_replay)" -eq 0 "packets taken for replays"
}

run_tests every_version_inline inline_over_a_lower_netdev \
	inline_here_and_software_there refused_keys_work_in_software \
	a_full_table_leaves_the_rest_to_software \
	the_nic_goes_and_software_has_the_keys \
	keys_come_and_go rotation_replaces_keys_in_the_nic \
	corrupted_packets_are_not_opened no_nonce_twice_across_resets
status=$?
drop_nics
exit $status
