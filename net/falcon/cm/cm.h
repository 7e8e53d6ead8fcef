/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the connection manager share: the state in a netns, the
 * other end of an exchange, a set-up, and what each file offers the others.
 *
 *	cm/cm.c		from messages to set-ups; the netns
 *	cm/initiator.c	INIT, CONFIRM
 *	cm/responder.c	COOKIE, the listener's word, ACCEPT
 *	cm/setup.c	a set-up: its life, its timer
 *	cm/offer.c	what one end of a connection offers
 *	cm/policy.c	whether it is encrypted
 *	cm/psk.c	pre-shared keys
 *	cm/sec.c	X25519 and the secrets of a set-up
 *	cm/rekey.c	new keys for a connection that lives
 *	cm/cookie.c	proof that an initiator receives at its address
 *	cm/host.c	what one of them may cost
 *	cm/listener.c	who listens to what
 *	cm/udp.c	the UDP sockets of the connection manager's port
 *
 * Locks: falcon_cm_setup::lock; falcon_cm_sec::lock, under that of a connection
 * or alone; falcon_cm::lock, under falcon_cm_sec::lock or alone; that of the
 * hosts, under falcon_cm_setup::lock or alone. All are taken with bottom halves
 * disabled and held over no call out of these files.
 */
#ifndef _FALCON_CM_H
#define _FALCON_CM_H

#include <linux/hashtable.h>
#include <linux/seqlock.h>
#include <linux/siphash.h>

#include "core/cm_keys.h"
#include "psp/psp.h"

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
	u32 epoch;			/* seconds, random */
	struct falcon_cm_secret s[2];	/* index: generation modulo 2 */
};

/**
 * struct falcon_cm - connection manager of a netns
 * @fn:		the namespace
 * @sk:		UDP sockets: [0] IPv4, [1] IPv6
 * @rcu:	of its end
 * @lock:	protects changes of @setups, @listeners, @queue, @rekeys, and
 *		@dead
 * @setups:	set-ups by nonce, RCU look-up
 * @listeners:	by service, RCU look-up
 * @hash_key:	of both tables: a peer chooses nonces
 * @secrets:	of cookies
 * @wq:		of @work, and of set-ups
 * @rekey_wq:	makes and installs keys, one at a time
 * @queue:	verified requests that wait for @work
 * @nr_queued:	how many they are
 * @work:	asks listeners
 * @half_open:	set-ups as responder that are not confirmed
 * @nr_users:	set-ups whose memory is not given back, and @rekeys
 * @rekeys:	connections that change their keys, struct falcon_cm_sec
 * @dead:	the netns goes away
 */
struct falcon_cm {
	struct falcon_net *fn;
	struct rcu_head rcu;
	struct socket __rcu *sk[2];
	spinlock_t lock;	/* of changes; look-ups are RCU */
	DECLARE_HASHTABLE(setups, 12);
	DECLARE_HASHTABLE(listeners, 12);
	siphash_key_t hash_key;
	struct falcon_cm_secrets secrets;
	struct workqueue_struct *wq;
	struct workqueue_struct *rekey_wq;
	struct list_head queue;
	int nr_queued;
	struct work_struct work;
	atomic_t half_open;
	atomic_t nr_users;
	struct list_head rekeys;
	bool dead;
};

/**
 * struct falcon_cm_peer - the other end of an exchange
 * @path:	how to reach it: own address in ->saddr
 * @port:	its UDP port
 * @dif:	received: device, the VRF if it belongs to one
 * @sdif:	received: device that belongs to the VRF @dif, or 0
 */
struct falcon_cm_peer {
	struct falcon_path path;
	__be16 port;
	int dif;
	int sdif;
};

/**
 * struct falcon_cm_psk - a pre-shared key
 * @len:	bytes of @key; 0: there is none
 * @key:	wiped when it has been used
 */
struct falcon_cm_psk {
	u8 len;
	u8 key[FALCON_CM_PSK_MAX];
};

/* Header, ECHO, WRAPPED, KEY_CONF */
#define FALCON_CM_CONFIRM_LEN						\
	(sizeof(struct falcon_cm_hdr) + 3 * sizeof(struct falcon_cm_tlv) + \
	 sizeof(struct falcon_cm_w_echo) + FALCON_CM_WRAPPED_LEN +	\
	 FALCON_CM_KEY_CONF_LEN)

/**
 * struct falcon_cm_sec - secrets of a connection with encryption
 * @conn:	it; the secrets live as long
 * @role:	enum falcon_cm_role
 * @policy:	FALCON_SECURITY_OPPORTUNISTIC or _PSK
 * @ready:	@keys are, and what follows from them does not change
 * @psk:	pre-shared key, until the keys are derived
 * @secret:	of X25519, until the keys are derived
 * @public:	of X25519
 * @key_id:	names @psk
 * @keys:	of this set-up
 * @accept_conf: KEY_CONF of the ACCEPT
 * @confirm:	initiator: CONFIRM, in case ACCEPT comes again
 * @confirm_len: its bytes
 * @peer:	where messages after the set-up go; its port is where the last
 *		one came from
 * @nonce:	of the set-up
 * @peer_cid:	the peer's CID
 * @lock:	protects what follows
 * @tx_counter:	of the last message signed
 * @rx_counter:	largest of a message accepted
 * @next_rekey:	jiffies from which on the next REKEY is taken
 * @working:	@work is queued or runs
 * @wanted:	a new association is to be made
 * @granted:	@grant is to be installed
 * @tries:	transmissions of @offered
 * @offered:	association that the peer has not acknowledged; SPI 0: none
 * @grant:	what the peer has granted
 * @node:	in falcon_cm::rekeys while @working, under its lock
 * @work:	makes and installs associations
 */
struct falcon_cm_sec {
	struct falcon_conn *conn;
	u8  role;
	u8  policy;
	bool ready;
	struct falcon_cm_psk psk;
	u8  secret[FALCON_CM_DH_LEN];
	u8  public[FALCON_CM_DH_LEN];
	u8  key_id[FALCON_CM_KEY_ID_LEN];
	struct falcon_cm_keys keys;
	u8  accept_conf[FALCON_CM_KEY_CONF_LEN];
	u8  confirm[FALCON_CM_CONFIRM_LEN] __aligned(8);
	u16 confirm_len;
	struct falcon_cm_peer peer;
	u64 nonce;
	u32 peer_cid;

	spinlock_t lock;	/* of what follows */
	u64 tx_counter;
	u64 rx_counter;
	unsigned long next_rekey;
	bool working;
	bool wanted;
	bool granted;
	u8  tries;
	struct falcon_cm_sa offered;
	struct falcon_psp_grant grant;
	struct list_head node;
	struct delayed_work work;
};

/* An INIT and the ACCEPT to it, on their way to the work of a set-up */
struct falcon_cm_answer {
	u16 init_len;
	u16 init_body_len;
	u16 len;
	u8  init[FALCON_CM_MAX_LEN] __aligned(8);
	u8  msg[FALCON_CM_MAX_LEN] __aligned(8);
};

enum falcon_cm_state {
	FALCON_CM_INIT_SENT,	/* initiator: no cookie yet */
	FALCON_CM_COOKIE_SENT,	/* initiator: INIT with cookie sent */
	FALCON_CM_ACCEPT_SENT,	/* responder: half open */
	FALCON_CM_DONE,		/* responder: confirmed, knows repeated INITs */
	FALCON_CM_GONE,		/* out of the table, nothing to do */
};

/**
 * struct falcon_cm_setup - a connection being set up
 * @node:	in falcon_cm::setups until FALCON_CM_GONE
 * @rcu:	of its end
 * @cm:		connection manager of the netns
 * @refs:	the table, the timer while it is pending, falcon_conn::cm_priv,
 *		and whoever works on it
 * @role:	enum falcon_cm_role; with @nonce and the peer's address the key
 * @nonce:	of the initiator
 * @peer:	the other end
 * @lock:	protects what follows
 * @state:	enum falcon_cm_state
 * @tries:	transmissions of @msg
 * @max_tries:	retransmissions before giving up
 * @len:	bytes of @msg
 * @body_len:	initiator: bytes of @msg before the cookie
 * @msg:	what is retransmitted; NULL when @conn is
 * @conn:	what is being set up, with a reference; NULL once settled
 * @host:	responder: who asked, until settled
 * @answer:	initiator: ACCEPT that @work judges
 * @grant:	responder: what CONFIRM granted, for @work; SPI 0: none
 * @work:	X25519, keys; holds a reference
 * @timer:	retransmission; FALCON_CM_DONE: when to forget
 * @cfg:	own settings, then what was agreed
 * @own_pcid:	responder: own PCID
 * @peer_pcid:	the peer's PCID; 0: not known
 */
struct falcon_cm_setup {
	struct hlist_node node;
	struct rcu_head rcu;
	struct falcon_cm *cm;
	refcount_t refs;
	u8  role;
	u64 nonce;
	struct falcon_cm_peer peer;

	spinlock_t lock;	/* of what follows */
	u8  state;
	u8  tries;
	u8  max_tries;
	u16 len;
	u16 body_len;
	void *msg;
	struct falcon_conn *conn;
	struct falcon_host *host;
	struct falcon_cm_answer *answer;
	struct falcon_psp_grant grant;
	struct work_struct work;
	struct timer_list timer;
	struct falcon_core_cfg cfg;
	u64 own_pcid;
	u64 peer_pcid;
};

/* cm/cm.c */
void falcon_cm_rcv(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		   const void *buf, unsigned int len);
void falcon_cm_unreachable(struct falcon_cm *cm, const struct in6_addr *daddr,
			   u64 nonce, int err);
void falcon_cm_send(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		    const struct falcon_cm_msg *m);
void falcon_cm_refuse(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		      u64 nonce, enum falcon_cm_reason reason, u16 detail);
void falcon_cm_reset(struct falcon_cm_setup *s, struct falcon_conn *conn,
		     enum falcon_cm_reason reason, u16 detail);
struct falcon_conn *falcon_cm_find_conn(struct falcon_cm *cm,
					const struct falcon_cm_peer *peer,
					const struct falcon_cm_msg *m);

/* cm/initiator.c */
void falcon_cm_rx_cookie(struct falcon_cm_setup *s,
			 const struct falcon_cm_msg *m);
void falcon_cm_rx_accept(struct falcon_cm_setup *s,
			 const struct falcon_cm_msg *m, const void *buf,
			 unsigned int len);
void falcon_cm_work_accept(struct falcon_cm_setup *s);
void falcon_cm_rx_accept_again(struct falcon_cm *cm,
			       const struct falcon_cm_peer *peer,
			       const struct falcon_cm_msg *m);
void falcon_cm_rx_refuse(struct falcon_cm_setup *s,
			 const struct falcon_cm_msg *m);

/* cm/responder.c */
void falcon_cm_rx_init(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		       const struct falcon_cm_msg *m, const void *init,
		       unsigned int len);
void falcon_cm_rx_confirm(struct falcon_cm_setup *s,
			  const struct falcon_cm_msg *m, const void *buf);
void falcon_cm_work_confirm(struct falcon_cm_setup *s);
void falcon_cm_work(struct work_struct *work);
void falcon_cm_flush_queue(struct falcon_cm *cm);

/* cm/setup.c */
struct falcon_cm_setup *falcon_cm_alloc(struct falcon_cm *cm, u8 role,
					u64 nonce);
int falcon_cm_set_msg(struct falcon_cm_setup *s, const struct falcon_cm_msg *m);
struct falcon_cm_setup *falcon_cm_find(struct falcon_cm *cm, u8 role, u64 nonce,
				       const struct falcon_cm_peer *peer);
void falcon_cm_put(struct falcon_cm_setup *s);
void falcon_cm_put_user(struct falcon_cm *cm);
void falcon_cm_queue(struct falcon_cm_setup *s);
void falcon_cm_begin(struct falcon_cm_setup *s, struct falcon_conn *conn,
		     u8 state);
void falcon_cm_arm(struct falcon_cm_setup *s, unsigned long delay);
void falcon_cm_disarm(struct falcon_cm_setup *s);
struct sk_buff *falcon_cm_next_try(struct falcon_cm_setup *s);
void falcon_cm_xmit_setup(struct falcon_cm_setup *s, struct sk_buff *skb);
struct falcon_conn *falcon_cm_settle(struct falcon_cm_setup *s, u8 state);
void falcon_cm_detach(struct falcon_cm_setup *s, struct falcon_conn *conn);
void falcon_cm_forget(struct falcon_cm_setup *s);
int falcon_cm_start(struct falcon_cm_setup *s, struct falcon_conn *conn);
bool falcon_cm_fail(struct falcon_cm_setup *s, int err);
bool falcon_cm_fail_tell(struct falcon_cm_setup *s, int err,
			 enum falcon_cm_reason reason, u16 detail);
void falcon_cm_drop_setups(struct falcon_cm *cm);

/* cm/offer.c */
void falcon_cm_set_addr(struct falcon_cm_setup *s,
			const struct falcon_conn *conn, __be16 port);
void falcon_cm_set_peer(struct falcon_conn *conn, const struct falcon_cm_msg *m,
			u8 version);
void falcon_cm_fill_cfg(struct falcon_net *fn, const struct falcon_cm_params *p,
			struct falcon_core_cfg *cfg);
int falcon_cm_fill_offer(struct falcon_conn *conn,
			 const struct falcon_cm_params *p,
			 const struct falcon_core_cfg *cfg,
			 struct falcon_cm_msg *m);

/* cm/policy.c */
u32 falcon_cm_versions(struct falcon_net *fn, u8 policy);
int falcon_cm_policy_out(struct falcon_net *fn, u8 wish,
			 const struct cred *cred, const struct in6_addr *peer,
			 struct falcon_cm_psk *psk);
int falcon_cm_policy_in(const struct falcon_listener *l, struct falcon_net *fn,
			const struct in6_addr *peer,
			const struct falcon_cm_msg *m,
			struct falcon_cm_psk *psk, u8 *version);
void falcon_cm_count_reason(struct falcon_net *fn, u16 reason);

/* cm/psk.c */
int falcon_cm_psk_find(struct falcon_net *fn, const struct cred *cred,
		       const struct in6_addr *peer, u64 nonce, const u8 *id,
		       struct falcon_cm_psk *psk);
void falcon_cm_psk_net_exit(struct falcon_net *fn);
int falcon_cm_psk_init(void);
void falcon_cm_psk_exit(void);

/* cm/sec.c */
int falcon_cm_sec_offer(struct falcon_conn *conn,
			const struct falcon_cm_params *p, u64 nonce,
			struct falcon_cm_msg *m);
int falcon_cm_sec_answer(struct falcon_conn *conn, u8 policy,
			 const struct falcon_cm_psk *psk,
			 struct falcon_cm_msg *m);
int falcon_cm_sec_seal(struct falcon_conn *conn, const void *init,
		       const struct falcon_cm_msg *im, void *accept,
		       unsigned int len);
int falcon_cm_sec_accepted(struct falcon_conn *conn, const void *init,
			   unsigned int init_len, const void *accept,
			   const struct falcon_cm_msg *m);
bool falcon_cm_sec_is_accept(const struct falcon_conn *conn,
			     const struct falcon_cm_msg *m);
bool falcon_cm_sec_confirmed(struct falcon_conn *conn, const void *confirm,
			     const struct falcon_cm_msg *m,
			     struct falcon_psp_grant *grant);
bool falcon_cm_sec_rekeyed(struct falcon_conn *conn,
			   const struct falcon_cm_msg *m, u64 counter,
			   struct falcon_psp_grant *grant);
bool falcon_cm_proven(struct falcon_conn *conn, const void *buf,
		      const struct falcon_cm_msg *m, u64 *counter);
void falcon_cm_send_signed(struct falcon_cm *cm,
			   const struct falcon_cm_peer *peer,
			   struct falcon_conn *conn, struct falcon_cm_msg *m,
			   const struct falcon_cm_sa *sa);

/* cm/rekey.c */
void falcon_cm_rekey_setup(struct falcon_cm_sec *sec);
void falcon_cm_rx_rekey(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
			const struct falcon_cm_msg *m, const void *buf);
void falcon_cm_rx_rekey_ack(struct falcon_cm *cm,
			    const struct falcon_cm_peer *peer,
			    const struct falcon_cm_msg *m, const void *buf);
void falcon_cm_drop_rekeys(struct falcon_cm *cm);

/* cm/host.c: addresses that have been proven */
bool falcon_host_charge(struct falcon_net *fn, const struct in6_addr *addr);
struct falcon_host *falcon_host_open(struct falcon_net *fn,
				     const struct in6_addr *addr);
void falcon_host_settle(struct falcon_host *host);
int falcon_host_join(struct falcon_host *host, struct falcon_conn *conn);
int falcon_host_meet(struct falcon_conn *conn);

/* cm/cookie.c */
void falcon_cm_cookie_init(struct falcon_cm *cm);
void falcon_cm_cookie_make(struct falcon_cm *cm,
			   const struct falcon_cm_peer *peer, const void *init,
			   unsigned int body_len, u8 *cookie);
bool falcon_cm_cookie_valid(struct falcon_cm *cm,
			    const struct falcon_cm_peer *peer, const void *init,
			    unsigned int body_len, const u8 *cookie);

/* cm/listener.c */
struct falcon_listener *
falcon_cm_find_listener(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
			u8 proto, u32 service, u64 nonce);
void falcon_cm_put_listener(struct falcon_listener *l);
void falcon_cm_drop_listeners(struct falcon_cm *cm);

/* cm/udp.c */
int falcon_cm_set_port(struct falcon_cm *cm, u16 port);
void falcon_cm_close_port(struct falcon_cm *cm);
struct sk_buff *falcon_cm_skb(void);
int falcon_cm_xmit(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		   struct sk_buff *skb);

#endif /* _FALCON_CM_H */
