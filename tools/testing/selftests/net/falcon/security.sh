#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who gets a connection, encrypted how, and who does not: policies, pre-shared
# keys, downgrades, new keys for connections that live, and strangers.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_cm falcon_many keyctl

policy() # A B
{
	in_a sysctl -q net.falcon.security="$1"
	in_b sysctl -q net.falcon.security="$2"
}

# key a|b PEER [SEED]: a pre-shared key of that namespace, from a seed
key()
{
	printf "%s" "${3:-1}" | sha512sum | head -c 64 |
		ip netns exec "$([ "$1" = a ] && echo "$A" || echo "$B")" \
		keyctl padd falcon "$2" @s >>"$scratch/keys"
}

no_keys()
{
	keyctl clear @s
}

# What this shell, and all that it starts, have in common
new_keyring()
{
	keyctl new_session >/dev/null
}

listener() # NUMBER [NAMESPACE]
{
	rm -f "$scratch/hold"
	mkfifo "$scratch/hold"
	exec 9<>"$scratch/hold"
	ip netns exec "${2:-$B}" falcon_many -l -P 7000 -n "$1" \
		<"$scratch/hold" >"$scratch/ready" 9<&- &
	within 30 listens
}

listens()
{
	in_a falcon_cm probe $B4 | grep -q cookie
}

connects() # WANT [HOST]: "established", or what connect() says
{
	local got

	got=$(in_a falcon_cm connect -t 20 "${2:-$B4}")
	case $1 in
	established)	set -- "established 1 refused 0 timed_out 0 other 0" ;;
	refused)	set -- "established 0 refused 0 timed_out 0 other 1" ;;
	esac
	[ "$got" = "$1" ] && return
	echo "# $got, expected $1"
	return 1
}

policies_meet()
{
	make_pair
	listener 100
	policy none none
	connects established
	policy none opportunistic
	connects refused
	policy opportunistic none
	connects refused
	expect "$(counter "$B" cm_no_security)" -eq 2 "counted why"
	policy opportunistic opportunistic
	connects established
	policy psk opportunistic
	connects refused
	policy opportunistic psk
	connects refused
	expect "$(counter "$B" cm_key_missing)" -eq 1 "counted why"
	drop_pair
}

a_key_decides()
{
	make_pair
	new_keyring
	key a $B4
	key b $A4
	listener 100
	policy none none
	connects established
	policy opportunistic opportunistic
	connects established
	policy psk psk
	connects established
	expect "$(in_b falcon conn | grep -c ' psk$')" -ge 1 "connections"
	key a $B6
	key b $A6
	connects established $B6
	drop_pair
}

wrong_keys_are_refused()
{
	make_pair
	new_keyring
	listener 100
	policy opportunistic opportunistic
	key a $B4 1
	key b $A4 2
	connects refused
	expect "$(counter "$B" cm_key_unknown)" -eq 1 "counted why"
	expect "$(counter "$A" cm_key_unknown)" -eq 1 "counted why"
	drop_pair
}

a_key_at_one_end_does_not_fall_back()
{
	make_pair
	new_keyring
	listener 100
	policy opportunistic opportunistic
	key a $B4
	connects refused
	expect "$(counter "$B" cm_key_unknown)" -eq 1 "counted why"
	no_keys
	key b $A4
	connects refused
	expect "$(counter "$B" cm_key_missing)" -eq 1 "counted why"
	no_keys
	connects established
	drop_pair
}

is_forgotten()
{
	! grep -q ' falcon  *10\.78\.' /proc/keys
}

# Nor is one that the kernel has forgotten since; until there is a new one.
a_key_that_has_expired_is_not_no_key()
{
	local delay=/proc/sys/kernel/keys/gc_delay before

	make_pair
	new_keyring
	before=$(cat $delay)
	echo 5 >$delay
	listener 100
	: >"$scratch/keys"
	key a $B4
	key b $A4
	# Whoever has this one is not the peer that has one of its own.
	key a '*'
	key b '*'
	policy opportunistic opportunistic
	connects established
	head -n 2 "$scratch/keys" | xargs -I '{}' keyctl timeout '{}' 1
	sleep 2
	connects refused
	within 60 is_forgotten
	echo "$before" >$delay
	connects refused
	key a $B4 2
	connects refused
	expect "$(counter "$B" cm_key_unknown)" -eq 1 "counted why"
	key b $A4 2
	connects established
	no_keys
	connects established
	drop_pair
}

a_key_for_any_peer()
{
	make_pair
	new_keyring
	key a '*'
	key b '*'
	listener 100
	policy opportunistic psk
	connects established
	drop_pair
}

# Whoever has the key for any peer is not the peer that has one of its own.
a_key_for_a_peer_goes_before_the_one_for_any()
{
	make_pair
	new_keyring
	key a '*' 1
	key b '*' 1
	key b $A4 2
	listener 100
	policy psk psk
	connects refused
	expect "$(counter "$B" cm_key_unknown)" -eq 1 "counted why"
	key a $B4 2
	connects established
	drop_pair
}

rekeyed() # NAMESPACE
{
	[ "$(counter "$1" cm_rekeyed)" -ge 1 ]
}

# A set-up knows the port that the peer had then.
keys_rotate_when_the_port_has_moved()
{
	local sender

	SECURITY=opportunistic make_pair
	transfer 4 -b 400K -m 2K -e 200000 &
	sender=$!
	within 30 established
	both sysctl -q net.falcon.cm_port=4796
	both falcon key rotate wait 20
	within 60 rekeyed "$A"
	within 60 rekeyed "$B"
	wait $sender
	expect "$(counter "$B" in_bad_spi)" -eq 0 "wrong SPIs"
	drop_pair
}

keys_have_a_length_and_a_name()
{
	local id

	make_pair
	new_keyring
	in_a sh -c "head -c 32 /dev/urandom | keyctl padd falcon $B4 @s" \
		>/dev/null
	fails in_a sh -c "head -c 31 /dev/urandom | keyctl padd falcon $A4 @s"
	fails in_a sh -c "head -c 65 /dev/urandom | keyctl padd falcon $A4 @s"
	fails in_a sh -c "head -c 32 /dev/urandom | keyctl padd falcon me @s"
	fails in_a sh -c \
		"head -c 32 /dev/urandom | keyctl padd falcon fd78:0::1 @s"
	id=$(in_a keyctl search @s falcon $B4)
	fails in_a keyctl read "$id"
	drop_pair
} 2>/dev/null

# rewrite TYPE OFFSET VALUE: in messages of that type that reach $B, the byte
# of the message at OFFSET. 28: the headers of IPv4 and UDP.
rewrite()
{
	tc -n "$B" qdisc add dev e0 clsact 2>/dev/null || :
	tc -n "$B" filter add dev e0 ingress protocol ip u32 \
		match u16 4795 0xffff at 22 match u8 "$1" 0xff at 33 \
		action pedit munge offset $((28 + $2)) u8 set "$3" pipe \
		action csum udp
}

# socket_connects WANT POLICY [COMMAND...]: from $A, by a socket that asks for that
# policy, under that command
socket_connects()
{
	local got

	got=$(in_a "${@:3}" python3 -c '
import errno, socket, sys

s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 252)
try:
    s.setsockopt(290, 6, int(sys.argv[1]))
    s.connect((sys.argv[2], 7000))
    print("established")
except OSError as e:
    print(errno.errorcode[e.errno])
' "$2" $B4)
	[ "$got" = "$1" ] && return
	echo "# $got, expected $1"
	return 1
}

# FALCON_SECURITY, option 6 at level 290: 1 none, 2 opportunistic, 3 psk
a_socket_asks_for_its_own_policy()
{
	make_pair
	new_keyring
	listener 100
	policy none none
	socket_connects established 0
	socket_connects EKEYREJECTED 2
	socket_connects ENOKEY 3
	socket_connects EINVAL 4
	policy none opportunistic
	socket_connects EKEYREJECTED 0
	socket_connects established 2
	key a $B4
	key b $A4
	socket_connects established 3
	no_keys
	policy opportunistic none
	socket_connects established 1
	socket_connects EPERM 1 setpriv --bounding-set -net_admin \
		--inh-caps -net_admin
	drop_pair
}

# What was not less than the policy once is, when that has been raised.
a_policy_that_is_raised_reaches_sockets()
{
	local capable

	make_pair
	listener 100
	for capable in no yes; do
		policy none none
		set -- setpriv --bounding-set -net_admin --inh-caps -net_admin
		[ $capable = no ] || set --
		rm -f "$scratch/go"
		in_a "$@" python3 -c '
import errno, os, socket, sys, time

s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 252)
s.setsockopt(290, 6, 1)
print("asked", flush=True)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.1)
try:
    s.connect((sys.argv[1], 7000))
    print("established")
except OSError as e:
    print(errno.errorcode[e.errno])
' $B4 "$scratch/go" >"$scratch/$capable" &
		within 30 grep -q asked "$scratch/$capable"
		policy psk none
		touch "$scratch/go"
		wait $!
	done
	grep -q ENOKEY "$scratch/no"
	grep -q established "$scratch/yes"
	drop_pair
}

# shares_port NAME [PEER]: a listener of $B with a keyring of its own, and in that a
# key for PEER or nothing
shares_port()
{
	(
		new_keyring
		[ -z "${2-}" ] || key b "$2"
		exec ip netns exec "$B" python3 -c '
import socket, sys

s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 252)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
s.bind(("", 7000))
s.listen(100)
print("listens", flush=True)
sys.stdin.read()
' <"$scratch/hold" >"$scratch/$1" 9<&-
	) &
	within 30 grep -q listens "$scratch/$1"
}

# The keys of the first are not those of all.
listeners_of_one_port_have_their_own_keys()
{
	local established refused

	make_pair
	new_keyring
	key a $B4
	policy opportunistic opportunistic
	rm -f "$scratch/hold"
	mkfifo "$scratch/hold"
	exec 9<>"$scratch/hold"
	shares_port first
	shares_port second $A4
	read -r _ established _ _ _ _ _ refused < <(
		in_a falcon_cm connect -n 40 -t 60 $B4)
	expect "$established" -ge 1 "connections to who has the key"
	expect "$refused" -ge 1 "refused by who has not"
	expect $((established + refused)) -eq 40 "connections and refusals"
	drop_pair
}

# INIT: the initiator's favourite version, and the flows that it wants. Both
# are in what the cookie signs, so the responder sees nothing wrong.
a_downgrade_is_detected()
{
	modprobe -q act_pedit && modprobe -q act_csum || return $KSFT_SKIP
	make_pair
	listener 100
	policy opportunistic opportunistic
	both sysctl -q net.falcon.flows_ipv4=4
	connects established
	rewrite 1 152 1
	connects refused
	tc -n "$B" qdisc del dev e0 clsact
	rewrite 1 99 1
	connects refused
	tc -n "$B" qdisc del dev e0 clsact
	expect "$(counter "$A" cm_bad_key)" -eq 2 "counted why"
	# Nor is there a way out of encryption.
	rewrite 1 152 15
	connects refused
	tc -n "$B" qdisc del dev e0 clsact
	connects established
	drop_pair
}

# All that $A sends to $B comes back to $A, as if $B had sent it.
reflect()
{
	tc -n "$B" qdisc add dev e0 clsact
	tc -n "$B" filter add dev e0 ingress protocol ip u32 \
		match ip protocol 17 0xff action pedit ex \
		munge eth dst set "$(in_a cat /sys/class/net/e0/address)" \
		munge eth src set "$(in_b cat /sys/class/net/e0/address)" \
		munge ip dst set $A4 munge ip src set $B4 pipe \
		action mirred egress redirect dev e0
}

# A host that speaks with itself has the key of course, but is not its peer.
who_reflects_messages_is_not_the_peer()
{
	modprobe -q act_pedit && modprobe -q act_mirred || return $KSFT_SKIP
	make_pair
	new_keyring
	policy opportunistic opportunistic
	reflect
	listener 100 "$A"
	connects established
	key a $B4
	connects refused
	expect "$(counter "$A" cm_bad_key)" -ge 1 "counted why"
	drop_pair
}

encrypted_by_default()
{
	ip netns add "$A"
	[ "$(in_a sysctl -n net.falcon.security)" = opportunistic ]
	ip netns del "$A"
	SECURITY=opportunistic make_pair
	transfer 4 -b 4M
	transfer 6 -b 4M
	expect "$(counter "$B" in_opened)" -gt 100 "packets opened"
	expect "$(counter "$A" out_sealed)" -gt 100 "packets sealed"
	grep -q '"security": *"opportunistic"' "$scratch/conn.json"
	drop_pair
}

# Messages of a set-up are lost, and data comes before CONFIRM's key.
set_ups_under_faults()
{
	local fault

	for fault in "loss 20%" "duplicate 100%" "delay 20ms 20ms"; do
		SECURITY=opportunistic make_pair
		both sysctl -q net.falcon.cm_rto_ms=50 net.falcon.cm_retries=20
		listener 50
		# shellcheck disable=SC2086 # words
		faults $fault
		[ "$(in_a falcon_cm connect -n 50 -t 90 $B4)" = \
			"established 50 refused 0 timed_out 0 other 0" ]
		within 90 grep -q ready "$scratch/ready"
		expect "$(counter "$A" cm_bad_key)" -eq 0 "wrong keys"
		faults none
		drop_pair
	done
}

[ $# -gt 0 ] || set -- \
	encrypted_by_default \
	policies_meet \
	a_key_decides \
	wrong_keys_are_refused \
	a_key_at_one_end_does_not_fall_back \
	a_key_that_has_expired_is_not_no_key \
	a_key_for_any_peer \
	a_key_for_a_peer_goes_before_the_one_for_any \
	keys_rotate_when_the_port_has_moved \
	keys_have_a_length_and_a_name \
	a_socket_asks_for_its_own_policy \
	a_policy_that_is_raised_reaches_sockets \
	listeners_of_one_port_have_their_own_keys \
	a_downgrade_is_detected \
	who_reflects_messages_is_not_the_peer \
	set_ups_under_faults
run_tests "$@"
