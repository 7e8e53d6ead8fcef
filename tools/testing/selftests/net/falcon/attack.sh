#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Well-formed packets and messages of somebody who is not the peer, for a live
# connection: they move counters and nothing else, the transfer arrives whole,
# and nobody gets more bytes for an answer than he has sent.
#
# FULL=1 forges many more.

. "$(dirname "$0")/lib.sh"

need_falcon
need_command falcon_attack falcon_cm falcon_many

NUMBER=500
[ -z "${FULL-}" ] || NUMBER=5000
STRANGER=10.99.0.7
PACKETS=push,pull,answer,fin,reset,resync,nack,back,eack
MESSAGES=cm_cookie,cm_accept,cm_confirm,cm_refuse,cm_reset,cm_rekey,cm_rekey_ack

# set_up POLICY
set_up()
{
	SECURITY=$1 make_pair 1500
	per_packet
}

# Transfers follow each other until end_transfers.
begin_transfers()
{
	rm -f "$scratch/stop" "$scratch/transfers"
	(
		while [ ! -e "$scratch/stop" ]; do
			transfer 4 -b 2M -m 20000 -e 2000 || exit
			echo "done" >>"$scratch/transfers"
		done
	) &
	transfers=$!
	within 30 established
}

end_transfers()
{
	touch "$scratch/stop"
	wait "$transfers"
	expect "$(wc -l <"$scratch/transfers")" -ge 1 "transfers meanwhile"
	expect "$(counter "$A" conn_aborted)" -eq 0 "connections that died"
	expect "$(counter "$B" conn_aborted)" -eq 0 "connections that died"
}

# attack VICTIM OPTION...: adds to $thrown what was forged.
attack()
{
	local victim=$1 run=in_a

	shift
	[ "$victim" = "$B4" ] || run=in_b
	thrown=$((thrown + $($run falcon_attack -i e0 -n "$NUMBER" "$@" "$victim")))
}

# Sum of those counters of a namespace
sum() # NAMESPACE NAME...
{
	local ns=$1 total=0 name

	shift
	for name; do
		total=$((total + $(counter "$ns" "$name")))
	done
	echo $total
}

# an_end_refuses NAMESPACE ADDRESS KINDS OPTIONS COUNTER...: what is thrown at it
# is counted there. On a slow machine much is lost on the way to a socket that
# is full, some of the transfer's own come late.
an_end_refuses()
{
	local ns=$1 address=$2 kinds=$3 options=$4 counted

	shift 4
	thrown=0
	counted=$(sum "$ns" "$@")
	# shellcheck disable=SC2086 # words
	attack "$address" -k "$kinds" $options
	counted=$(($(sum "$ns" "$@") - counted))
	echo "# $thrown thrown, $counted refused by $*"
	expect $counted -gt $((thrown / 10)) "refused"
	expect $counted -le $((thrown + 50)) "refused"
}

# are_refused POLICY KINDS OPTIONS COUNTER...: by both ends; none is malformed.
are_refused()
{
	local policy=$1

	shift
	set_up "$policy"
	begin_transfers
	an_end_refuses "$B" $B4 "$@"
	an_end_refuses "$A" $A4 "$@"
	expect "$(counter "$A" cm_bad)" -eq 0 "malformed messages"
	expect "$(counter "$B" cm_bad)" -eq 0 "malformed messages"
	end_transfers
	drop_pair
}

a_guessed_cid_is_not_enough()
{
	are_refused none $PACKETS "-r c" in_bad_spi
}

a_guessed_cid_is_not_enough_with_encryption()
{
	are_refused opportunistic $PACKETS "-r c" in_bad_spi in_no_conn
}

nor_are_cid_and_spi()
{
	are_refused none $PACKETS "-r cs" in_bad_pcid
}

nor_are_cid_and_pcid()
{
	are_refused opportunistic $PACKETS "-r cp" in_bad_spi in_no_conn
}

# Who has seen a packet has all of it right but the key.
what_is_not_sealed_with_the_key_is_refused()
{
	are_refused opportunistic $PACKETS "-r cspt" in_bad_icv in_no_conn
}

from_another_address()
{
	are_refused none $PACKETS "-r cspt -a $STRANGER" in_bad_addr in_no_conn
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
	are_refused none $MESSAGES "-r c" cm_bad_nonce
}

messages_with_a_guessed_cid_with_encryption()
{
	are_refused opportunistic $MESSAGES "-r c" cm_bad_nonce
}

# Who has seen CID and PCID can not sign.
messages_that_are_not_signed()
{
	are_refused opportunistic $MESSAGES "-r cp" cm_bad_nonce cm_bad_auth
}

messages_from_another_address()
{
	are_refused opportunistic $MESSAGES "-r cp -a $STRANGER" cm_bad_nonce
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
	begin_transfers
	before=$(counter "$B" cm_out)
	attack $B4 -k $MESSAGES -r cp
	# Transfers that begin meanwhile have their COOKIE and ACCEPT.
	expect $(($(counter "$B" cm_out) - before)) -lt $((thrown / 20)) \
		"answers"
	end_transfers
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
	messages_that_are_not_signed \
	messages_from_another_address \
	no_answer_is_longer_than_the_question \
	what_is_forged_for_a_connection_is_not_answered
run_tests "$@"
