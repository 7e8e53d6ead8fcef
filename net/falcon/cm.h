/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the connection manager share: the state in a netns, the
 * other end of an exchange, and what each file offers the others.
 *
 *	cm.c		the state machine of a set-up, both roles
 *	cm_cookie.c	proof that an initiator receives at its address
 *	cm_listener.c	who listens to what
 *	cm_udp.c	the UDP sockets of the connection manager's port
 *
 * Locks, outermost first: falcon_cm::lock, cm_setup::lock (cm.c). Both are
 * taken with bottom halves disabled and held over no call out of these files.
 */
#ifndef _FALCON_CM_H
#define _FALCON_CM_H

#include <linux/hashtable.h>
#include <linux/seqlock.h>
#include <linux/siphash.h>

#include "core/cm_wire.h"
#include "falcon.h"

#define FALCON_CM_COOKIE_LIFE	15	/* seconds that a cookie is good for */
#define FALCON_CM_SECRET_LIFE	32	/* seconds between new secrets */

/* Secrets of cookies: of the present generation and of the one before */
struct falcon_cm_secret {
	siphash_key_t body;
	siphash_key_t cookie;
};

struct falcon_cm_secrets {
	seqlock_t lock;
	u32 gen;
	struct falcon_cm_secret s[2];	/* index: generation modulo 2 */
};

/**
 * struct falcon_cm - connection manager of a netns
 * @fn:		the namespace
 * @sk:		UDP sockets: [0] IPv4, [1] IPv6
 * @lock:	protects changes of @setups, @listeners, @queue, and @dead
 * @setups:	set-ups by nonce, RCU look-up
 * @listeners:	by service, RCU look-up
 * @hash_key:	of both tables: a peer chooses nonces
 * @secrets:	of cookies
 * @queue:	verified requests that wait for @work
 * @nr_queued:	how many they are
 * @work:	asks listeners
 * @half_open:	set-ups as responder that are not confirmed
 * @nr_setups:	set-ups whose memory is not given back
 * @idle:	woken when @nr_setups falls to 0
 * @dead:	the netns goes away
 */
struct falcon_cm {
	struct falcon_net *fn;
	struct socket __rcu *sk[2];
	spinlock_t lock;	/* of changes; look-ups are RCU */
	DECLARE_HASHTABLE(setups, 8);
	DECLARE_HASHTABLE(listeners, 6);
	siphash_key_t hash_key;
	struct falcon_cm_secrets secrets;
	struct list_head queue;
	int nr_queued;
	struct work_struct work;
	atomic_t half_open;
	atomic_t nr_setups;
	wait_queue_head_t idle;
	bool dead;
};

/**
 * struct falcon_cm_peer - the other end of an exchange
 * @path:	how to reach it: own address in ->saddr
 * @port:	its UDP port
 * @dif:	received: device
 * @sdif:	received: device in the VRF that @dif is, or 0
 */
struct falcon_cm_peer {
	struct falcon_path path;
	__be16 port;
	int dif;
	int sdif;
};

/* cm.c: called in softirq with a message of @len bytes at @buf, aligned to 4 */
void falcon_cm_rcv(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		   const void *buf, unsigned int len);
void falcon_cm_unreachable(struct falcon_cm *cm, const struct in6_addr *daddr,
			   u64 nonce, int err);

/* cm_cookie.c */
void falcon_cm_cookie_init(struct falcon_cm *cm);
void falcon_cm_cookie_make(struct falcon_cm *cm,
			   const struct falcon_cm_peer *peer, const void *init,
			   unsigned int body_len, u8 *cookie);
bool falcon_cm_cookie_valid(struct falcon_cm *cm,
			    const struct falcon_cm_peer *peer, const void *init,
			    unsigned int body_len, const u8 *cookie);

/* cm_listener.c */
struct falcon_listener *
falcon_cm_find_listener(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
			u8 proto, u32 service, u64 nonce);
void falcon_cm_put_listener(struct falcon_listener *l);
void falcon_cm_drop_listeners(struct falcon_cm *cm);

/* cm_udp.c */
int falcon_cm_set_port(struct falcon_cm *cm, u16 port);
void falcon_cm_close_port(struct falcon_cm *cm);
struct sk_buff *falcon_cm_skb(void);
int falcon_cm_xmit(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		   struct sk_buff *skb);

#endif /* _FALCON_CM_H */
