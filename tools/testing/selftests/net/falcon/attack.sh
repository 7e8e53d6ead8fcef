#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Well-formed packets and messages of somebody who is not the peer, for a live
# connection: they move the counter that names what is wrong with them and
# nothing else, each kind of them; the transfer arrives whole, and nobody gets more
# bytes for an answer than he has sent. The same of who sends again what the
# peer has sent.
#
# FULL=1 forges many more.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_attack falcon_cm falcon_many

NUMBER=100
[ -z "${FULL-}" ] || NUMBER=5000
PACKETS=push,pull,answer,fin,reset,resync,nack,back,eack
UNSIGNED=cm_cookie,cm_accept,cm_confirm,cm_refuse
SIGNED=cm_reset,cm_rekey,cm_rekey_ack

# set_up POLICY
set_up()
{
	SECURITY=$1 make_pair 1500
	per_packet
}

# begin_transfer 4|6: of one connection that takes its time until end_transfer
begin_transfer()
{
	touch "$scratch/slow"
	transfer "$1" -b 8M -m 4K -e 20000 -g "$scratch/slow" &
	transfer=$!
	within 30 established
}

# It lives, and the rest of it arrives.
finish_transfer()
{
	kill -0 "$transfer"
	rm "$scratch/slow"
	wait "$transfer"
}

end_transfer()
{
	finish_transfer
	expect "$(counter "$A" conn_aborted)" -eq 0 "connections that died"
	expect "$(counter "$B" conn_aborted)" -eq 0 "connections that died"
}

# attack VICTIM OPTION...: adds to $thrown what was forged.
attack()
{
	local victim=$1 run=in_a

	shift
	case $victim in
	"$A4"|"$A6") run=in_b ;;
	esac
	thrown=$((thrown + $($run falcon_attack -i e0 -n "$NUMBER" "$@" \
		"$victim" 2>/dev/null)))
}

# refusals NAMESPACE: what $scratch/refusals does not know yet of the counters
# that say why something was refused, "NAME NUMBER..."
refusals()
{
	falcon -N "$1" stat >"$scratch/stat"
	awk '$1 ~ /^(in_(bad|no_conn|replay)|cm_bad)/ {
		if (FILENAME == ARGV[1])
			old[$1] = $2
		else if ($2 != old[$1])
			printf "%s %d ", $1, $2 - old[$1]
	}
	END { print "" }' "$scratch/refusals" "$scratch/stat" | sed 's/ $//'
	mv "$scratch/stat" "$scratch/refusals"
}

# each_kind_is_refused NAMESPACE ADDRESS KINDS OPTIONS COUNTER: what is thrown
# at it is counted there, by that counter and no other. On a slow machine some
# is lost on the way, but less than there is of one kind.
each_kind_is_refused()
{
	local kinds name counted

	: >"$scratch/refusals"
	refusals "$1" >/dev/null
	for kinds in $3; do
		thrown=0
		# shellcheck disable=SC2086 # words
		attack "$2" -k "$kinds" $4
		refusals "$1" >"$scratch/refused"
		echo "# $kinds: $thrown thrown, $(cat "$scratch/refused")"
		read -r name counted <"$scratch/refused"
		[ "$name" = "$5" ]
		expect "$counted" -gt $((thrown - NUMBER / 2)) "refused"
		expect "$counted" -le "$thrown" "refused"
	done
}

# are_refused POLICY KINDS OPTIONS COUNTER: by who listened, over IPv4, and by
# who connected, over IPv6. KINDS are words, one after the other. STRANGER in
# OPTIONS is an address that is nobody's.
are_refused()
{
	set_up "$1"
	begin_transfer 4
	each_kind_is_refused "$B" "$B4" "$2" "${3/STRANGER/10.99.0.7}" "$4"
	end_transfer
	begin_transfer 6
	each_kind_is_refused "$A" "$A6" "$2" "${3/STRANGER/fd99::7}" "$4"
	end_transfer
	drop_pair
}

a_guessed_cid_is_not_enough()
{
	are_refused none $PACKETS "-r c" in_bad_spi
}

a_guessed_cid_is_not_enough_with_encryption()
{
	are_refused opportunistic $PACKETS "-r c" in_bad_spi
}

nor_are_cid_and_spi()
{
	are_refused none $PACKETS "-r cs" in_bad_pcid
}

nor_are_cid_and_pcid()
{
	are_refused opportunistic $PACKETS "-r cp" in_bad_spi
}

# Who has seen a packet has all of it right but the key.
what_is_not_sealed_with_the_key_is_refused()
{
	are_refused opportunistic $PACKETS "-r cspt" in_bad_icv
}

from_another_address()
{
	are_refused opportunistic $PACKETS "-r cspt -a STRANGER" in_bad_addr
}

# Who has all right but the number of the function that is to receive it
# spec: 7.2-4
another_function_is_refused()
{
	are_refused none push,pull,answer,resync "-r cspt" in_bad_fn
}

# Neither ACK nor NACK, whatever its type. The transfer's own are few.
# spec: 9.2.2.3-1
packets_with_another_spi_are_not_answered()
{
	local refused sent

	set_up none
	in_b falcon_xfer -l -b 100M 2>/dev/null &
	in_a falcon_xfer -b 100M -m 1000 -e 500000 "$B4" >/dev/null 2>&1 &
	within 30 established
	thrown=0
	refused=$(counter "$B" in_bad_spi)
	sent=$(in_b cat /sys/class/net/e0/statistics/tx_packets)
	attack "$B4" -k $PACKETS -r c
	sent=$(($(in_b cat /sys/class/net/e0/statistics/tx_packets) - sent))
	refused=$(($(counter "$B" in_bad_spi) - refused))
	echo "# $thrown thrown, $refused refused, $sent sent meanwhile"
	expect $refused -gt $((thrown / 10)) "refused"
	expect $sent -le $((thrown / 20)) "packets sent meanwhile"
	end_jobs
	drop_pair
}

# Of all connections of a namespace
stat_sum() # NAMESPACE NAME
{
	falcon -N "$1" -j -s conn | grep -oE "\"$2\": *[0-9]+" |
		awk -F: '{ sum += $2 } END { print sum + 0 }'
}

bad_acks()
{
	[ "$(stat_sum "$A" rx_bad_ack)" -gt 50 ]
}

# The bases lie anywhere, half of them beyond NextPSN; even from who has all
# right, without encryption, they free nothing that was not sent.
acknowledgements_of_what_was_not_sent_are_refused()
{
	thrown=0
	set_up none
	in_b falcon_xfer -l -b 40M &
	in_a falcon_xfer -b 40M -m 20000 -e 2000 $B4 >/dev/null &
	within 30 established
	attack $A4 -k back,eack -r cspt
	within 30 bad_acks
	echo "# $thrown thrown, $(stat_sum "$A" rx_bad_ack) refused"
	wait %1
	wait %2
	drop_pair
}

messages_with_a_guessed_cid()
{
	are_refused none $UNSIGNED,$SIGNED "-r c" cm_bad_nonce
}

messages_with_a_guessed_cid_with_encryption()
{
	are_refused opportunistic $UNSIGNED,$SIGNED "-r c" cm_bad_nonce
}

# Who has seen CID and PCID has not seen the nonce of the set-up, nor can he
# sign.
messages_of_a_set_up_that_is_over()
{
	are_refused opportunistic "${UNSIGNED//,/ }" "-r cp" cm_bad_nonce
}

messages_that_are_not_signed()
{
	are_refused opportunistic "${SIGNED//,/ }" "-r cp" cm_bad_auth
}

messages_from_another_address()
{
	are_refused opportunistic $UNSIGNED,$SIGNED "-r cp -a STRANGER" \
		cm_bad_nonce
}

# repeat TYPE MS COMMAND...: what that makes $A send of it, MS later. Adds to
# $thrown.
repeat()
{
	local pid

	in_a falcon_attack -i e0 -A "$1" -w "$2" -n "$NUMBER" $B4 \
		>"$scratch/repeated" 2>"$scratch/looks" &
	pid=$!
	within 30 grep -q looking "$scratch/looks"
	shift 2
	"$@"
	wait $pid
	thrown=$((thrown + $(cat "$scratch/repeated")))
}

rotated()
{
	[ "$(counter "$1" cm_rekeyed)" -ge "$2" ]
}

# rotate NAMESPACE NTH
rotate()
{
	ip netns exec "$1" falcon key rotate
	within 30 rotated "$1" "$2"
}

# What the peer has signed counts once: the key that it grants is not installed
# again, nor is what was sent meanwhile acknowledged anew.
a_rekey_that_comes_again_is_refused()
{
	local out

	thrown=0
	set_up opportunistic
	begin_transfer 4
	out=$(counter "$B" cm_out)
	repeat cm_rekey 1000 rotate "$A" 1
	expect "$(counter "$B" cm_bad_auth)" -eq "$thrown" "refused"
	# The one answer is that to the first.
	expect $(($(counter "$B" cm_out) - out)) -le 3 "answers"
	expect "$(counter "$A" cm_rekeyed)" -eq 1 "new keys"
	end_transfer
	expect "$(counter "$B" in_bad_icv)" -eq 0 "packets not authentic"
	drop_pair
}

a_rekey_ack_that_comes_again_is_refused()
{
	thrown=0
	set_up opportunistic
	begin_transfer 4
	repeat cm_rekey_ack 1000 rotate "$B" 1
	expect "$(counter "$B" cm_bad_auth)" -eq "$thrown" "refused"
	expect "$(counter "$B" cm_rekeyed)" -eq 1 "new keys"
	rotate "$B" 2
	end_transfer
	drop_pair
}

# loses_packets: $B, and no messages
loses_packets()
{
	tc -n "$B" qdisc add dev e0 clsact
	tc -n "$B" filter add dev e0 ingress protocol ip u32 \
		match ip protocol 17 0xff match u16 1000 0xffff at 22 action drop
}

# Who goes without having read all says so, and out of band if he is not heard.
# That ends no other connection: the next one lives on.
a_reset_that_comes_again_is_refused()
{
	local reader

	modprobe -q cls_u32 && modprobe -q act_gact || return $KSFT_SKIP
	thrown=0
	set_up opportunistic
	in_b falcon_xfer -P 7001 -b 100M >/dev/null 2>&1 &
	in_a falcon_xfer -l -P 7001 -b 100M -w 600000 $B4 2>/dev/null &
	reader=$!
	within 30 established
	sleep 1
	loses_packets
	repeat cm_reset 10000 eval "pkill -KILL -P $reader
		within 30 died
		tc -n $B qdisc del dev e0 clsact
		begin_transfer 4"
	expect $(($(counter "$B" cm_bad_auth) + $(counter "$B" cm_bad_nonce))) \
		-ge "$thrown" "refused"
	finish_transfer
	expect "$(counter "$B" conn_aborted)" -eq 1 "connections that died"
	drop_pair
}

died()
{
	[ "$(counter "$B" conn_aborted)" -ge 1 ]
}

# A packet that is older than the margin, authentic or not
# spec: 9.2.2.2-1
a_packet_that_comes_again_is_refused()
{
	local policy

	for policy in none opportunistic; do
		thrown=0
		set_up $policy
		both sysctl -q net.falcon.replay_margin_ms=200
		begin_transfer 4
		repeat packet 2000 :
		: >"$scratch/refusals"
		refusals "$B" >"$scratch/refused"
		echo "# $thrown thrown, $(cat "$scratch/refused")"
		[ "$(cat "$scratch/refused")" = "in_replay $thrown" ]
		end_transfer
		drop_pair
	done
}

bytes() # rx|tx
{
	in_b cat "/sys/class/net/e0/statistics/$1_bytes"
}

# answers COMMAND...: bytes out of $B for those that came in
answers()
{
	local rx tx

	rx=$(bytes rx)
	tx=$(bytes tx)
	"$@" >/dev/null
	rx=$(($(bytes rx) - rx))
	tx=$(($(bytes tx) - tx))
	echo "# $tx bytes out for $rx in: ${*: -6}"
	expect $rx -gt 50000 "bytes in"
	expect $tx -le $rx "bytes out"
}

listening()
{
	in_a falcon_cm probe $B4 | grep -q cookie
}

# A listener, and a connection that is idle
set_up_idle()
{
	set_up opportunistic
	in_b ip route add 10.99.0.0/16 via $A4
	rm -f "$scratch/hold"
	mkfifo "$scratch/hold"
	exec 9<>"$scratch/hold"
	ip netns exec "$B" falcon_many -l -P 7000 -n 9 <"$scratch/hold" \
		>"$scratch/ready" 9<&- &
	within 30 listening
}

# COOKIE and REFUSE are shorter than INIT, and nothing else is answered.
no_answer_is_longer_than_the_question()
{
	local kind

	set_up_idle
	for kind in init version unknown missing value order forged noise; do
		answers in_a falcon_cm flood -k $kind -n 1000 -f 10.99.0.0 $B4
	done
	answers in_a falcon_cm flood -s 1 -n 1000 -f 10.99.0.0 $B4
	expect "$(counter "$B" cm_in)" -gt 5000 "messages"
	expect "$(counter "$B" cm_out)" -gt 2000 "answers"
	drop_pair
}

what_is_forged_for_a_connection_is_not_answered()
{
	local before

	thrown=0
	set_up opportunistic
	begin_transfer 4
	before=$(counter "$B" cm_out)
	attack $B4 -k $UNSIGNED,$SIGNED -r cp
	expect "$(counter "$B" cm_out)" -eq "$before" "messages sent"
	end_transfer
	drop_pair
}

[ $# -gt 0 ] || set -- \
	a_guessed_cid_is_not_enough \
	a_guessed_cid_is_not_enough_with_encryption \
	nor_are_cid_and_spi \
	nor_are_cid_and_pcid \
	what_is_not_sealed_with_the_key_is_refused \
	from_another_address \
	another_function_is_refused \
	packets_with_another_spi_are_not_answered \
	acknowledgements_of_what_was_not_sent_are_refused \
	messages_with_a_guessed_cid \
	messages_with_a_guessed_cid_with_encryption \
	messages_of_a_set_up_that_is_over \
	messages_that_are_not_signed \
	messages_from_another_address \
	a_packet_that_comes_again_is_refused \
	a_rekey_that_comes_again_is_refused \
	a_rekey_ack_that_comes_again_is_refused \
	a_reset_that_comes_again_is_refused \
	no_answer_is_longer_than_the_question \
	what_is_forged_for_a_connection_is_not_answered
run_tests "$@"
