/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The set-up of an encrypted connection, and new keys after it, as
 * Documentation/networking/falcon/connection-manager.rst has them, between two
 * hosts and a network that loses, doubles and reorders messages, and changes
 * what it can read, while timers fire when they like. Spin looks at every run
 * within the bounds below.
 *
 * What is cryptography there is equality here: a transcript is the offer that
 * was sent or seen and the answer to it, and whoever does not have the same one
 * can neither make a KEY_CONF that the other takes nor take his. A stranger
 * changes messages, but has no key.
 *
 * Shown: every run ends with nobody waiting; the ends agree on what was offered
 * and answered, whatever was changed; the responder is established only after
 * the initiator; a sender's association is always one that its receiver accepts;
 * and what is lost, doubled or late is made good.
 */

#ifndef TRIES
#define TRIES	2	/* transmissions of INIT, ACCEPT, REKEY */
#endif
#ifndef FAULTS
#define FAULTS	2	/* messages lost, doubled or put behind others */
#endif
#ifndef LIES
#define LIES	1	/* messages changed on the way */
#endif
/* A timer fires at any time, amid what is under way; or when all else has ended */
#ifdef PATIENT
#define DUE	timeout
#else
#define DUE	true
#endif
#define REKEYS	2
#define BEST	2	/* what an honest initiator offers */

mtype = { INIT, COOKIE, ACCEPT, CONFIRM, REFUSE, RESET, REKEY, REKEY_ACK };
mtype = { WAIT, COOKIE_SENT, JUDGING, ACCEPT_SENT, ESTABLISHED, FAILED };

/*
 * type; offer; cookie was returned, or answer; proof: the transcript that its
 * maker had, offer * 4 + answer, 0 none; SPI granted; counter of AUTH
 */
chan to_r = [3] of { mtype, byte, byte, byte, byte, byte };
chan to_i = [3] of { mtype, byte, byte, byte, byte, byte };

mtype i_state = WAIT;
mtype r_state = WAIT;
byte i_answer, r_offer, r_answer;
bool refused, offered;
byte faults, lies;

/* The responder's receiving associations, and what the initiator sends by */
byte r_spi, r_prev, i_tx;

#define TRANSCRIPT(o, a)	((o) * 4 + (a))

/* A full queue of the network is a loss. */
inline send(queue, type, v1, v2, v3, v4, v5)
{
	if
	:: nfull(queue) -> queue!type(v1, v2, v3, v4, v5)
	:: full(queue) -> skip
	fi
}

active proctype initiator()
{
	byte tries, a, b, c, d, e;
	byte seen;	/* newest counter of AUTH */
	mtype t;

	send(to_r, INIT, BEST, 0, 0, 0, 0);
	tries = 1;
end:	do
	:: to_i?t(a, b, c, d, e) ->
		if
		:: t == COOKIE && i_state == WAIT ->
			i_state = COOKIE_SENT;
			tries = 1;
			send(to_r, INIT, BEST, 1, 0, 0, 0)
		:: t == ACCEPT && i_state == COOKIE_SENT ->
			/* The work: X25519, then KEY_CONF */
			i_state = JUDGING;
			if
			:: c == TRANSCRIPT(BEST, b) ->
				i_answer = b;
				i_tx = d;
				i_state = ESTABLISHED;
				send(to_r, CONFIRM, 0, 0, TRANSCRIPT(BEST, b),
				     0, 0)
			:: else ->
				i_state = FAILED;
				send(to_r, RESET, 0, 0, 0, 0, 0)
			fi
		:: t == ACCEPT && i_state == ESTABLISHED &&
		   c == TRANSCRIPT(BEST, i_answer) ->
			/* CONFIRM was lost. */
			send(to_r, CONFIRM, 0, 0, c, 0, 0)
		:: t == REFUSE && (i_state == WAIT || i_state == COOKIE_SENT) ->
			i_state = FAILED
		:: t == RESET && (i_state == WAIT || i_state == COOKIE_SENT) ->
			i_state = FAILED
		:: t == RESET && i_state == ESTABLISHED && c != 0 ->
			i_state = FAILED	/* signed */
		:: t == REKEY && i_state == ESTABLISHED && e > seen ->
			seen = e;
			i_tx = d;
			send(to_r, REKEY_ACK, 0, 0, 0, d, e)
		:: else -> skip
		fi;
		t = 0; a = 0; b = 0; c = 0; d = 0; e = 0
	:: (i_state == WAIT || i_state == COOKIE_SENT) && tries < TRIES &&
	   DUE ->
		tries++;
		send(to_r, INIT, BEST, (i_state == COOKIE_SENT -> 1 : 0),
		     0, 0, 0)
	:: (i_state == WAIT || i_state == COOKIE_SENT) && tries == TRIES &&
	   DUE ->
		i_state = FAILED
	od
}

active proctype responder()
{
	byte tries, a, b, c, d, e;
	byte counter, rekeys;
	mtype t;

end:	do
	:: to_r?t(a, b, c, d, e) ->
		if
		:: t == INIT && r_state == WAIT && b == 0 ->
			send(to_i, COOKIE, 0, 0, 0, 0, 0)
		:: t == INIT && r_state == WAIT && b == 1 ->
			if
			:: /* the listener takes it, with fewer flows or not */
				r_offer = a;
				if
				:: r_answer = 1
				:: r_answer = 2
				fi;
				r_spi = 1;
				r_prev = 1;
				r_state = ACCEPT_SENT;
				tries = 1;
				send(to_i, ACCEPT, 0, r_answer,
				     TRANSCRIPT(r_offer, r_answer), r_spi, 0)
			:: /* or does not */
				refused = true;
				send(to_i, REFUSE, 0, 0, 0, 0, 0)
			fi
		:: t == INIT && r_state == ACCEPT_SENT && b == 1 ->
			send(to_i, ACCEPT, 0, r_answer,
			     TRANSCRIPT(r_offer, r_answer), r_spi, 0)
		:: t == CONFIRM && r_state == ACCEPT_SENT &&
		   c == TRANSCRIPT(r_offer, r_answer) ->
			assert(i_state == ESTABLISHED);
			r_state = ESTABLISHED
		:: t == RESET && r_state == ACCEPT_SENT ->
			r_state = FAILED
		:: t == REKEY_ACK && offered && d == r_spi && e <= counter ->
			offered = false
		:: else -> skip
		fi;
		t = 0; a = 0; b = 0; c = 0; d = 0; e = 0
	:: r_state == ACCEPT_SENT && tries < TRIES && DUE ->
		tries++;
		send(to_i, ACCEPT, 0, r_answer, TRANSCRIPT(r_offer, r_answer),
		     r_spi, 0)
	:: r_state == ACCEPT_SENT && tries == TRIES && DUE ->
		r_state = FAILED;
		send(to_i, RESET, 0, 0, 1, 0, 0)
	/* A new association only when the one before was acknowledged */
	:: r_state == ESTABLISHED && !offered && rekeys < REKEYS ->
		rekeys++;
		r_prev = r_spi;
		r_spi++;
		offered = true;
		tries = 1;
		counter++;
		send(to_i, REKEY, 0, 0, 0, r_spi, counter)
	:: offered && tries < TRIES && DUE ->
		tries++;
		counter++;
		send(to_i, REKEY, 0, 0, 0, r_spi, counter)
	:: offered && tries == TRIES && DUE ->
		/* Given up, and with it further rotations: both stay good. */
		offered = false;
		rekeys = REKEYS
	od
}

/* Loses, doubles, reorders; lies about what no key protects. */
inline disturb(way)
{
	way?t(a, b, c, d, e);
	if
	:: faults < FAULTS -> faults++			/* lost */
	:: faults < FAULTS -> faults++;
		send(way, t, a, b, c, d, e);
		send(way, t, a, b, c, d, e)		/* twice, and late */
	:: faults < FAULTS -> faults++;
		send(way, t, a, b, c, d, e)		/* late */
	:: lies < LIES && t == INIT -> lies++;
		send(way, t, BEST - 1, b, c, d, e)	/* a weaker offer */
	:: lies < LIES && t == ACCEPT -> lies++;
		send(way, t, a, 3 - b, c, d, e)		/* another answer */
	:: lies < LIES -> lies++;
		send(way, CONFIRM, 0, 0, 0, 0, 0)	/* out of nothing */
	fi;
	t = 0; a = 0; b = 0; c = 0; d = 0; e = 0
}

active proctype network()
{
	byte a, b, c, d, e;
	mtype t;

end:	do
	:: (faults < FAULTS || lies < LIES) && nempty(to_r) ->
		atomic { if :: nempty(to_r) -> disturb(to_r) :: empty(to_r) fi }
	:: (faults < FAULTS || lies < LIES) && nempty(to_i) ->
		atomic { if :: nempty(to_i) -> disturb(to_i) :: empty(to_i) fi }
	od
}

#define BOTH	(i_state == ESTABLISHED && r_state == ESTABLISHED)
#define SETTLED	((i_state == ESTABLISHED || i_state == FAILED) && \
		 r_state != ACCEPT_SENT && !offered)

/* What was offered was seen, and what was answered was heard. */
ltl agreement { [] (BOTH -> (r_offer == BEST && i_answer == r_answer)) }

/* No packet is sent by an association that its receiver has given up. */
ltl accepted { [] (BOTH -> (i_tx == r_spi || i_tx == r_prev)) }

/* Every run ends, with nobody waiting. */
ltl settled { <> [] SETTLED }

/* For runs with fewer faults than tries, and nobody who lies */
ltl works { <> (BOTH || refused) }
