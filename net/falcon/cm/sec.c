// SPDX-License-Identifier: GPL-2.0
/*
 * The secrets of a set-up: X25519, the keys that follow from it, what is sealed
 * and proven with them in ACCEPT and CONFIRM, and the signatures of messages
 * after those. core/cm_keys.c is the arithmetic, cm/policy.c decides whether
 * there is any of it.
 *
 * X25519 and ciphers that take a key run in process context: on the
 * initiator's side when it connects and in the work of its set-up, on the
 * responder's in the worker, after the cookie. What is only to be compared is
 * compared in softirq. Secrets live in struct falcon_cm_sec, which is wiped, and
 * no longer than they are needed.
 */
#include <crypto/curve25519.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <uapi/linux/falcon.h>

#include "cm/cm.h"
#include "psp/psp.h"

static struct falcon_cm_sec *cm_sec_alloc(struct falcon_conn *conn, u8 role,
					  u8 policy)
{
	struct falcon_cm_sec *sec = kzalloc(sizeof(*sec), GFP_KERNEL_ACCOUNT);

	if (!sec)
		return NULL;
	spin_lock_init(&sec->lock);
	sec->conn = conn;
	sec->role = role;
	sec->policy = policy;
	falcon_cm_rekey_setup(sec);
	/* `falcon conn` looks at any time. */
	smp_store_release(&conn->cm_sec, sec);
	return sec;
}

/**
 * falcon_cm_sec_free() - wipe the secrets of a connection
 * @conn:	connection that nobody refers to
 */
void falcon_cm_sec_free(struct falcon_conn *conn)
{
	kfree_sensitive(conn->cm_sec);
}

/**
 * falcon_cm_policy() - what a connection was set up with
 * @conn:	connection
 *
 * Return: FALCON_SECURITY_NONE, _OPPORTUNISTIC or _PSK.
 */
u8 falcon_cm_policy(const struct falcon_conn *conn)
{
	const struct falcon_cm_sec *sec = READ_ONCE(conn->cm_sec);

	return sec ? sec->policy : FALCON_SECURITY_NONE;
}

static void cm_sec_set_ready(struct falcon_cm_sec *sec)
{
	/* Pairs with cm_sec_ready(): who sees it sees the keys. */
	smp_store_release(&sec->ready, true);
}

static bool cm_sec_ready(const struct falcon_cm_sec *sec)
{
	/* Pairs with cm_sec_set_ready(). */
	return smp_load_acquire(&sec->ready);
}

static bool cm_sec_keygen(struct falcon_cm_sec *sec)
{
	curve25519_generate_secret(sec->secret);
	return curve25519_generate_public(sec->public, sec->secret);
}

/* Shared with the peer, and from then on with nobody. False: all zeros. */
static bool cm_sec_dh(struct falcon_cm_sec *sec, u8 *dh, const u8 *peer)
{
	bool ok = curve25519(dh, sec->secret, peer);

	memzero_explicit(sec->secret, sizeof(sec->secret));
	return ok;
}

/* An address as both ends write it, whatever a socket was bound to */
static void cm_end(const struct falcon_path *path, const struct in6_addr *addr,
		   struct in6_addr *end)
{
	if (path->family == AF_INET)
		ipv6_addr_set_v4mapped(addr->s6_addr32[3], end);
	else
		*end = *addr;
}

/* falcon_cm_transcript(), from INIT with @init_len bytes before its cookie */
static void cm_sec_transcript(const struct falcon_cm_sec *sec, const void *init,
			      unsigned int init_len, const void *accept,
			      const struct falcon_cm_msg *m, u8 *hash)
{
	const struct falcon_path *path = &sec->conn->path;
	struct in6_addr ends[FALCON_CM_NR_ROLES];

	BUILD_BUG_ON(sizeof(ends) != FALCON_CM_ENDS_LEN);
	cm_end(path, &path->saddr, &ends[sec->role]);
	cm_end(path, &path->daddr, &ends[!sec->role]);
	falcon_cm_transcript(init, init_len, accept, m,
			     sec->psk.len ? (const u8 *)ends : NULL, hash);
}

static void cm_sec_derive(struct falcon_cm_sec *sec, const u8 *hash,
			  u8 *dh)
{
	falcon_cm_derive(&sec->keys, hash, dh, sec->psk.key, sec->psk.len);
	memzero_explicit(dh, FALCON_CM_DH_LEN);
	memzero_explicit(&sec->psk, sizeof(sec->psk));
}

static void cm_sec_name_key(struct falcon_cm_sec *sec, u64 nonce,
			    struct falcon_cm_msg *m)
{
	if (!sec->psk.len)
		return;
	falcon_cm_key_id(sec->psk.key, sec->psk.len, nonce, sec->key_id);
	m->key_id = sec->key_id;
	m->present |= FALCON_CM_HAS_KEY_ID;
}

static int cm_fill_versions(struct falcon_net *fn, u8 policy,
			    struct falcon_cm_msg *m)
{
	u32 mask = falcon_cm_versions(fn, policy);
	u8 v;

	m->nr_versions = 0;
	for (v = 0; v < 32 && m->nr_versions < FALCON_CM_MAX_OFFERS; v++)
		if (mask & BIT(v))
			m->versions[m->nr_versions++] = v;
	return m->nr_versions ? 0 : -EKEYREJECTED;
}

/**
 * falcon_cm_sec_offer() - what an INIT says of security
 * @conn:	connection in SETUP
 * @p:		what the ULP wants
 * @nonce:	of the set-up
 * @m:		versions, DH and KEY_ID are filled in; the latter point into
 *		@conn's secrets
 *
 * Context: Process, may sleep.
 * Return: 0; -ENOKEY and others of falcon_cm_policy_out(); -EKEYREJECTED: no
 * version to offer; -ENOMEM.
 */
int falcon_cm_sec_offer(struct falcon_conn *conn,
			const struct falcon_cm_params *p, u64 nonce,
			struct falcon_cm_msg *m)
{
	struct falcon_cm_psk psk = {};
	struct falcon_cm_sec *sec;
	int policy, err;

	policy = falcon_cm_policy_out(conn->fn, p->security, p->cred,
				      &conn->path.daddr, &psk);
	if (policy < 0)
		return policy;
	err = cm_fill_versions(conn->fn, policy, m);
	if (err || policy == FALCON_SECURITY_NONE)
		goto out;

	err = -ENOMEM;
	sec = cm_sec_alloc(conn, FALCON_CM_INITIATOR, policy);
	if (!sec)
		goto out;
	err = -EKEYREJECTED;
	if (!cm_sec_keygen(sec))
		goto out;
	sec->psk = psk;
	m->dh = sec->public;
	m->present |= FALCON_CM_HAS_DH;
	cm_sec_name_key(sec, nonce, m);
	err = 0;
out:
	memzero_explicit(&psk, sizeof(psk));
	return err;
}

static int cm_sec_grant(struct falcon_cm_sec *sec, u64 counter, u8 version,
			u8 *wrapped)
{
	struct falcon_psp_grant grant;
	struct falcon_cm_sa sa;
	int err;

	err = falcon_psp_rx_new(sec->conn, version, &grant);
	if (err)
		return err;
	sa.spi = grant.spi;
	sa.version = grant.version;
	memcpy(sa.key, grant.key, sizeof(sa.key));
	falcon_cm_wrap(&sec->keys, sec->role, counter, &sa, wrapped);
	memzero_explicit(&sa, sizeof(sa));
	memzero_explicit(&grant, sizeof(grant));
	return 0;
}

/**
 * falcon_cm_sec_answer() - what an ACCEPT says of security
 * @conn:	connection in SETUP
 * @policy:	FALCON_SECURITY_OPPORTUNISTIC or _PSK
 * @psk:	the pre-shared key, or of length 0
 * @m:		DH and KEY_ID are filled in, WRAPPED and KEY_CONF have their
 *		places; nonce and version are set
 *
 * falcon_cm_sec_seal() follows when the ACCEPT is built.
 *
 * Context: Process, may sleep.
 * Return: 0, -ENOMEM or -EKEYREJECTED.
 */
int falcon_cm_sec_answer(struct falcon_conn *conn, u8 policy,
			 const struct falcon_cm_psk *psk,
			 struct falcon_cm_msg *m)
{
	static const u8 blank[FALCON_CM_WRAPPED_LEN];
	struct falcon_cm_sec *sec;

	sec = cm_sec_alloc(conn, FALCON_CM_RESPONDER, policy);
	if (!sec)
		return -ENOMEM;
	if (!cm_sec_keygen(sec))
		return -EKEYREJECTED;
	sec->psk = *psk;
	m->dh = sec->public;
	m->wrapped = blank;
	m->key_conf = blank;
	m->present |= FALCON_CM_HAS_DH | FALCON_CM_HAS_WRAPPED |
		      FALCON_CM_HAS_KEY_CONF;
	cm_sec_name_key(sec, m->nonce, m);
	return 0;
}

/* The value of a TLV of a message that is ours to write */
static u8 *cm_value(void *msg, const u8 *value)
{
	return msg + (value - (const u8 *)msg);
}

/**
 * falcon_cm_sec_seal() - X25519, WRAPPED and KEY_CONF of an ACCEPT
 * @conn:	connection that falcon_cm_sec_answer() was called for
 * @init:	INIT
 * @im:		the same, parsed
 * @accept:	ACCEPT as built, but for those two
 * @len:	its bytes
 *
 * Data of the peer can be opened from here on.
 *
 * Context: Process, may sleep.
 * Return: 0; -EKEYREJECTED: X25519 gave zeros; an errno of falcon_psp_rx_new().
 */
int falcon_cm_sec_seal(struct falcon_conn *conn, const void *init,
		       const struct falcon_cm_msg *im, void *accept,
		       unsigned int len)
{
	struct falcon_cm_sec *sec = conn->cm_sec;
	u8 hash[FALCON_CM_HASH_LEN], dh[FALCON_CM_DH_LEN];
	struct falcon_cm_msg m;
	int err;

	falcon_cm_parse(accept, len, &m);
	if (!cm_sec_dh(sec, dh, im->dh))
		return -EKEYREJECTED;
	cm_sec_transcript(sec, init, im->body_len, accept, &m, hash);
	cm_sec_derive(sec, hash, dh);
	err = cm_sec_grant(sec, 0, m.versions[0], cm_value(accept, m.wrapped));
	if (err)
		return err;
	falcon_cm_conf_accept(&sec->keys, m.wrapped, sec->accept_conf);
	memcpy(cm_value(accept, m.key_conf), sec->accept_conf,
	       sizeof(sec->accept_conf));
	cm_sec_set_ready(sec);
	return 0;
}

/* What a peer has granted, if it was sealed so and is of the version agreed */
static bool cm_sec_unwrap(struct falcon_cm_sec *sec, u64 counter,
			  const u8 *wrapped, u8 version,
			  struct falcon_psp_grant *grant)
{
	struct falcon_cm_sa sa;
	bool ok;

	ok = falcon_cm_unwrap(&sec->keys, !sec->role, counter, wrapped, &sa) &&
	     sa.version == version;
	memset(grant, 0, sizeof(*grant));
	if (ok) {
		grant->spi = sa.spi;
		grant->version = sa.version;
		memcpy(grant->key, sa.key, sizeof(grant->key));
	}
	memzero_explicit(&sa, sizeof(sa));
	return ok;
}

static bool cm_accept_proven(struct falcon_cm_sec *sec,
			     const struct falcon_cm_msg *m)
{
	falcon_cm_conf_accept(&sec->keys, m->wrapped, sec->accept_conf);
	return falcon_cm_same(sec->accept_conf, m->key_conf,
			      sizeof(sec->accept_conf));
}

/* CONFIRM, kept because it may have to be sent again */
static int cm_sec_confirm(struct falcon_cm_sec *sec,
			  const struct falcon_cm_msg *accept)
{
	struct falcon_cm_msg m = {
		.type = FALCON_CM_CONFIRM,
		.present = FALCON_CM_HAS_ECHO | FALCON_CM_HAS_WRAPPED |
			   FALCON_CM_HAS_KEY_CONF,
		.nonce = accept->nonce,
		.echo_cid = accept->cid,
		.echo_pcid = accept->pcid,
		.key_conf = sec->accept_conf,
	};
	u8 wrapped[FALCON_CM_WRAPPED_LEN];
	int err;

	BUILD_BUG_ON(sizeof(sec->confirm) < FALCON_CM_CONFIRM_LEN);
	err = cm_sec_grant(sec, 0, accept->versions[0], wrapped);
	if (err)
		return err;
	m.wrapped = wrapped;
	sec->confirm_len = falcon_cm_build(&m, sec->confirm);
	falcon_cm_parse(sec->confirm, sec->confirm_len, &m);
	falcon_cm_conf_confirm(&sec->keys, sec->accept_conf, sec->confirm, &m,
			       cm_value(sec->confirm, m.key_conf));
	return 0;
}

/**
 * falcon_cm_sec_accepted() - X25519 and what follows, at the initiator
 * @conn:	connection that falcon_cm_sec_offer() was called for
 * @init:	INIT as sent, perhaps with a cookie
 * @init_len:	bytes before the cookie
 * @accept:	ACCEPT
 * @m:		the same, parsed; it answers the INIT
 *
 * Afterwards CONFIRM is ready, and packets go out and come in encrypted.
 *
 * Context: Process, may sleep.
 * Return: 0; -EKEYREJECTED: the peer does not have the same keys; an errno of
 * falcon_psp_rx_new() or falcon_psp_tx_install().
 */
int falcon_cm_sec_accepted(struct falcon_conn *conn, const void *init,
			   unsigned int init_len, const void *accept,
			   const struct falcon_cm_msg *m)
{
	struct falcon_cm_sec *sec = conn->cm_sec;
	u8 hash[FALCON_CM_HASH_LEN], dh[FALCON_CM_DH_LEN];
	struct falcon_psp_grant grant;
	int err;

	if (!cm_sec_dh(sec, dh, m->dh))
		return -EKEYREJECTED;
	cm_sec_transcript(sec, init, init_len, accept, m, hash);
	cm_sec_derive(sec, hash, dh);
	if (!cm_accept_proven(sec, m) ||
	    !cm_sec_unwrap(sec, 0, m->wrapped, m->versions[0], &grant))
		return -EKEYREJECTED;
	err = cm_sec_confirm(sec, m);
	if (!err)
		err = falcon_psp_tx_install(conn, &grant);
	memzero_explicit(&grant, sizeof(grant));
	if (!err)
		cm_sec_set_ready(sec);
	return err;
}

/**
 * falcon_cm_sec_is_accept() - whether this ACCEPT is the one that was confirmed
 * @conn:	connection, initiator
 * @m:		ACCEPT
 *
 * Context: Any.
 */
bool falcon_cm_sec_is_accept(const struct falcon_conn *conn,
			     const struct falcon_cm_msg *m)
{
	const struct falcon_cm_sec *sec = conn->cm_sec;

	return sec->role == FALCON_CM_INITIATOR &&
	       cm_sec_ready(sec) &&
	       m->present & FALCON_CM_HAS_KEY_CONF &&
	       falcon_cm_same(sec->accept_conf, m->key_conf,
			      sizeof(sec->accept_conf));
}

/**
 * falcon_cm_sec_confirmed() - judge a CONFIRM
 * @conn:	connection, responder
 * @confirm:	CONFIRM
 * @m:		the same, parsed
 * @grant:	what the initiator grants; to be wiped by the caller
 *
 * Context: Any.
 * Return: true if the initiator has the keys.
 */
bool falcon_cm_sec_confirmed(struct falcon_conn *conn, const void *confirm,
			     const struct falcon_cm_msg *m,
			     struct falcon_psp_grant *grant)
{
	struct falcon_cm_sec *sec = conn->cm_sec;
	u8 conf[FALCON_CM_KEY_CONF_LEN];

	if (!(m->present & FALCON_CM_HAS_KEY_CONF))
		return false;
	falcon_cm_conf_confirm(&sec->keys, sec->accept_conf, confirm, m, conf);
	if (!falcon_cm_same(conf, m->key_conf, sizeof(conf)))
		return false;
	return cm_sec_unwrap(sec, 0, m->wrapped, conn->rx_sa.version, grant);
}

/**
 * falcon_cm_sec_rekeyed() - what a REKEY grants
 * @conn:	connection
 * @m:		REKEY, its AUTH right and its counter new
 * @counter:	of AUTH
 * @grant:	what the peer grants; to be wiped by the caller
 *
 * Context: Any.
 * Return: true if it is of the version of the connection.
 */
bool falcon_cm_sec_rekeyed(struct falcon_conn *conn,
			   const struct falcon_cm_msg *m, u64 counter,
			   struct falcon_psp_grant *grant)
{
	return cm_sec_unwrap(conn->cm_sec, counter, m->wrapped,
			     conn->rx_sa.version, grant);
}

/**
 * falcon_cm_proven() - whether a message after a set-up is from the peer
 * @conn:	its connection; CID, PCID and address are right
 * @buf:	message
 * @m:		the same, parsed
 * @counter:	of AUTH; NULL: nobody wants to know
 *
 * A signed message counts once, and none before it any more. Without encryption
 * the PCID, which only the two ends and those between them know, is proof as
 * good as that of packets.
 *
 * Context: Any but hard interrupts.
 */
bool falcon_cm_proven(struct falcon_conn *conn, const void *buf,
		      const struct falcon_cm_msg *m, u64 *counter)
{
	struct falcon_cm_sec *sec = READ_ONCE(conn->cm_sec);
	bool ok = false;
	u64 now;

	if (!sec)
		return true;
	if (cm_sec_ready(sec) &&
	    falcon_cm_signed(&sec->keys, !sec->role, buf, m, &now)) {
		spin_lock_bh(&sec->lock);
		ok = now > sec->rx_counter;
		if (ok)
			sec->rx_counter = now;
		spin_unlock_bh(&sec->lock);
	}
	if (!ok)
		FALCON_INC(conn->fn, CM_BAD_AUTH);
	else if (counter)
		*counter = now;
	return ok;
}

/**
 * falcon_cm_send_signed() - send a message after a set-up
 * @cm:		connection manager
 * @peer:	where to
 * @conn:	connection
 * @m:		message; if it carries a grant, that is sealed with the counter
 * @sa:		the grant, or NULL
 *
 * With encryption it is signed, without it is sent as it is.
 *
 * Context: Any but hard interrupts.
 */
void falcon_cm_send_signed(struct falcon_cm *cm,
			   const struct falcon_cm_peer *peer,
			   struct falcon_conn *conn, struct falcon_cm_msg *m,
			   const struct falcon_cm_sa *sa)
{
	struct falcon_cm_sec *sec = READ_ONCE(conn->cm_sec);
	static const u8 blank[FALCON_CM_AUTH_LEN];
	u8 wrapped[FALCON_CM_WRAPPED_LEN];
	struct falcon_cm_msg parsed;
	struct sk_buff *skb;
	u64 counter;

	if (!sec || !cm_sec_ready(sec)) {
		falcon_cm_send(cm, peer, m);
		return;
	}
	skb = falcon_cm_skb();
	if (!skb)
		return;
	spin_lock_bh(&sec->lock);
	counter = ++sec->tx_counter;
	spin_unlock_bh(&sec->lock);
	m->auth = blank;
	m->present |= FALCON_CM_HAS_AUTH;
	if (sa) {
		falcon_cm_wrap(&sec->keys, sec->role, counter, sa, wrapped);
		m->wrapped = wrapped;
	}
	skb_put(skb, falcon_cm_build(m, skb->data));
	falcon_cm_parse(skb->data, skb->len, &parsed);
	falcon_cm_sign(&sec->keys, sec->role, counter, skb->data, &parsed);
	falcon_cm_xmit(cm, peer, skb);
}
