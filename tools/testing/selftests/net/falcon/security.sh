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

listener() # NUMBER
{
	rm -f "$scratch/hold"
	mkfifo "$scratch/hold"
	exec 9<>"$scratch/hold"
	ip netns exec "$B" falcon_many -l -P 7000 -n "$1" \
		<"$scratch/hold" >"$scratch/ready" 9<&- &
	within 30 listens
}

listens()
{
	in_a falcon_cm probe $B4 | grep -q cookie
}

connects() # WANT: "established", or what connect() says
{
	local got

	got=$(in_a falcon_cm connect -t 20 $B4)
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
	drop_pair
}

[ $# -gt 0 ] || set -- \
	policies_meet \
	a_key_decides
run_tests "$@"
