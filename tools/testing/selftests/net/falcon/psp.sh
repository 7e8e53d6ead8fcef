#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Encryption of the data path: the kernel's own tests of PSP, every cipher
# under traffic and loss, captures that another program decrypts, nonces on the
# wire, rotation of keys, tampering. FULL=1: longer.

. "$(dirname "$0")/lib.sh"

need_falcon
[ -e /proc/sys/net/falcon/security ] || skip_all "no encryption"

# cipher VERSION-MASK: both ends offer these PSP versions and nothing else
cipher()
{
	both sysctl -q net.falcon.security=opportunistic \
		net.falcon.psp_versions="$1"
}

# name_of CIPHER-NUMBER
name_of()
{
	set -- "$1" aes-gcm-128 aes-gcm-256 aes-gmac-128 aes-gmac-256
	shift "$(($1 + 1))"
	echo "$1"
}

# TAP of a module's log becomes ours.
module_tests_pass()
{
	modprobe -n -q falcon_psp_test || return $KSFT_SKIP
	dmesg -C
	local status=0
	modprobe falcon_psp_test || status=1
	dmesg | sed -n 's/.*psp_test: /# /p'
	[ $status -eq 0 ]
	dmesg | grep -q 'psp_test: ok'
	fails grep -q 'psp_test: not ok' <(dmesg)
	rmmod falcon_psp_test
}

# one_cipher NUMBER FAMILY: under loss, and all that arrives was opened
one_cipher()
{
	cipher $((1 << $1))
	transfer "$2" -b 1M
	grep -q "\"cipher\": *\"$(name_of "$1")\"" "$scratch/conn.json"
	expect "$(counter "$A" out_sealed)" -gt 100 "packets sealed"
	expect "$(counter "$B" in_opened)" -gt 100 "packets opened"
	expect "$(counter "$B" in_bad_icv)" -eq 0 "packets not authentic"
}

# spec: 6.5-1
every_cipher_carries_data_under_loss()
{
	local n

	make_pair
	per_packet
	faults loss 1%
	for n in 0 1 2 3; do
		one_cipher $n $((n & 1 ? 6 : 4))
	done
	drop_pair
}

# Not our C: ICV, text, Falcon header, and no nonce twice, retransmissions and
# both directions included.
# spec: 7.1.1-1
captures_decrypt_elsewhere()
{
	local n

	can_decode || return $KSFT_SKIP
	make_pair 1500
	per_packet
	faults loss 2%
	for n in 0 1 2 3; do
		cipher $((1 << n))
		capture e0 transfer 4 -b 150K
		decodes
	done
	grep -q 'push_data' "$scratch/decoded"
	grep -q 'eack\|back' "$scratch/decoded"
	drop_pair
}

rotate()
{
	both falcon key rotate wait 20
}

# under_rotation N BYTES: both ends rotate N times while a stream lasts, which takes
# its time until they have.
under_rotation()
{
	local i sender

	touch "$scratch/slow"
	transfer 4 -b "$2" -m 2K -e 20000 -g "$scratch/slow" &
	sender=$!
	within 30 established
	for ((i = 0; i < $1; i++)); do
		rotate
	done
	kill -0 $sender
	rm "$scratch/slow"
	wait $sender
	echo "# $i rotations"
}

# 9.2.2.3: new device keys while data flows; each packet is acceptable.
# spec: 9.2.2.3-7 9.2.2.2-3
rotations_lose_nothing()
{
	local n=3 bytes=8M end

	[ -z "${FULL-}" ] || n=100 bytes=48M
	make_pair
	cipher 1
	under_rotation $n $bytes
	for end in "$A" "$B"; do
		expect "$(counter "$end" key_rotations)" -ge $n "rotations"
		expect "$(counter "$end" in_bad_spi)" -eq 0 "wrong SPIs"
		expect "$(counter "$end" in_replay)" -eq 0 "of another time"
		expect "$(counter "$end" in_bad_icv)" -eq 0 "not authentic"
		expect "$(counter "$end" out_no_key)" -eq 0 "without a key"
	done
	drop_pair
}

# The same from outside: more keys than two, none of them with a nonce twice.
nonces_are_new_across_rotations()
{
	can_decode || return $KSFT_SKIP
	make_pair 1500
	per_packet
	cipher 1
	capture e0 under_rotation 1 3M
	decodes
	expect "$(sed -n 's/.* keys \([0-9]*\) .*/\1/p' "$scratch/decoded")" \
		-ge 4 "keys seen"
	drop_pair
}

module_goes()
{
	modprobe -r falcon_psp_test falcon_ib 2>/dev/null || :
	within 120 modprobe -r falcon
}

# What had the keys before has forgotten which IVs it took: all keys are new.
nonces_are_new_after_the_module_came_back()
{
	local round

	can_decode || return $KSFT_SKIP
	for round in 1 2; do
		[ $round -eq 1 ] || module_goes
		modprobe falcon
		make_pair 1500
		per_packet
		cipher 1
		capture e0 transfer 4 -b 200K
		drop_pair
		cat "$scratch/keys" >>"$scratch/all"
		mv "$scratch/frames" "$scratch/frames$round"
	done
	mv "$scratch/all" "$scratch/keys"
	decodes "$scratch/frames1" "$scratch/frames2"
	expect "$(sed -n 's/.* keys \([0-9]*\) .*/\1/p' "$scratch/decoded")" \
		-eq 4 "keys seen"
}

# sleeps STATE: the system goes to sleep as far as that is harmless here, while
# data flows: all that runs is told and frozen for some seconds, and goes on.
sleeps()
{
	local sender

	transfer 4 -b 2M -m 8K -e 40000 &
	sender=$!
	within 30 established
	echo freezer >/sys/power/pm_test
	echo "$1" >/sys/power/state
	echo none >/sys/power/pm_test
	wait $sender
}

# can_sleep STATE
can_sleep()
{
	can_decode || return
	[ ! -w /sys/power/pm_test ] || ! grep -qw "$1" /sys/power/state ||
		return 0
	echo "# this kernel cannot be sent to \"$1\" and back"
	return 1
}

nonces_are_new_across() # STATE
{
	make_pair 1500
	per_packet
	cipher 1
	# Some packets are on their way whenever it is, and ask for an answer.
	faults delay 100ms
	capture e0 sleeps "$1"
	decodes
}

nonces_are_new_across_suspend()
{
	can_sleep freeze || return $KSFT_SKIP
	nonces_are_new_across freeze
	drop_pair
}

# While it hibernates nothing is sealed that the restored system would not know.
nonces_are_new_across_hibernation()
{
	can_sleep disk || return $KSFT_SKIP
	nonces_are_new_across disk
	expect "$(counter "$A" out_stopped)" -gt 0 "packets held back"
	drop_pair
}

keys_rotate_by_time()
{
	make_pair
	cipher 1
	both sysctl -q net.falcon.psp_rotate_s=1
	sleep 4
	expect "$(counter "$A" key_rotations)" -ge 2 "rotations in 4 s"
	both sysctl -q net.falcon.psp_rotate_s=0
	sleep 2
	local now
	now=$(counter "$A" key_rotations)
	sleep 2
	expect "$(counter "$A" key_rotations)" -eq "$now" "none any more"
	drop_pair
}

rotation_needs_cap_net_admin()
{
	make_pair
	in_a setpriv --bounding-set -net_admin --inh-caps -net_admin \
		falcon key rotate 2>"$scratch/err" && return 1
	grep -q CAP_NET_ADMIN "$scratch/err"
	expect "$(counter "$A" key_rotations)" -eq 0 rotations
	drop_pair
}

keys_are_listed()
{
	local sender

	make_pair
	cipher 2
	transfer 4 -b 20M -m 8K -e 2000 &
	sender=$!
	within 30 established
	falcon -N "$A" key | tee "$scratch/key" | sed 's/^/# /'
	grep -qE '^cid 0x[0-9a-f]+ aes-gcm-256 rx spi 0x[0-9a-f]{8} gen 0 tx spi' \
		"$scratch/key"
	falcon -N "$A" conn | grep -q 'aes-gcm-256 opportunistic$'
	wait $sender
	drop_pair
}

# One in sixteen packets to $B, by their IVs, has a byte of its cipher text changed
# and the checksum of UDP made right again. 28: the headers of IPv4 and UDP.
corrupt()
{
	tc -n "$B" qdisc add dev e0 clsact
	tc -n "$B" filter add dev e0 ingress protocol ip u32 \
		match u16 1000 0xffff at 22 match u8 0 0xf at 43 \
		action pedit munge offset 60 u8 invert pipe action csum udp
}

# Such a packet is as good as lost.
# spec: 9.2.2.1-3
corruption_is_loss()
{
	modprobe -q act_pedit && modprobe -q act_csum || return $KSFT_SKIP
	make_pair
	per_packet
	cipher 1
	corrupt
	transfer 4 -b 2M
	expect "$(counter "$B" in_bad_icv)" -gt 1 "packets refused"
	drop_pair
}

[ $# -gt 0 ] || set -- \
	module_tests_pass \
	every_cipher_carries_data_under_loss \
	captures_decrypt_elsewhere \
	rotations_lose_nothing \
	nonces_are_new_across_rotations \
	nonces_are_new_after_the_module_came_back \
	nonces_are_new_across_suspend \
	nonces_are_new_across_hibernation \
	keys_rotate_by_time \
	rotation_needs_cap_net_admin \
	keys_are_listed \
	corruption_is_loss
run_tests "$@"
