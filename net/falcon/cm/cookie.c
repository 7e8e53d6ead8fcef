// SPDX-License-Identifier: GPL-2.0
/*
 * Cookies: an initiator gets a connection only after it has shown that it
 * receives at the address it sends from, and until then nothing of it is kept.
 *
 * A cookie is the time it was made and a SipHash-2-4 under a secret of this
 * netns over that time, addresses, ports and all of the INIT. The secret is
 * replaced every FALCON_CM_SECRET_LIFE seconds, when somebody needs it; the one
 * before stays good for the cookies it made. cm.c calls in from softirq.
 */
#include <crypto/algapi.h>
#include <linux/random.h>
#include <linux/timekeeping.h>

#include "cm/cm.h"

struct cm_cookie {
	__be32 time;		/* cm_now() */
	__be32 reserved;
	__be64 mac;
} __packed;

static_assert(sizeof(struct cm_cookie) == FALCON_CM_COOKIE_LEN);

/**
 * falcon_cm_cookie_init() - make the first secrets of a netns
 * @cm:	its connection manager
 */
void falcon_cm_cookie_init(struct falcon_cm *cm)
{
	seqlock_init(&cm->secrets.lock);
	cm->secrets.gen = 0;
	cm->secrets.epoch = get_random_u32() >> 1;
	get_random_bytes(cm->secrets.s, sizeof(cm->secrets.s));
}

/* Seconds, which do not wrap, and tell nobody how long the system has run */
static u32 cm_now(const struct falcon_cm_secrets *secrets)
{
	return secrets->epoch + (u32)ktime_get_boottime_seconds();
}

static void cm_rotate(struct falcon_cm_secrets *secrets, u32 gen)
{
	s32 ahead;

	write_seqlock_bh(&secrets->lock);
	/* Another CPU may have read the clock later and be here already. */
	ahead = gen - secrets->gen;
	if (ahead == 1)
		get_random_bytes(&secrets->s[gen & 1], sizeof(secrets->s[0]));
	else if (ahead > 1)
		get_random_bytes(secrets->s, sizeof(secrets->s));
	if (ahead > 0)
		secrets->gen = gen;
	write_sequnlock_bh(&secrets->lock);
}

/* The secret of generation @gen; false if it is neither now's nor the last. */
static bool cm_secret(struct falcon_cm_secrets *secrets, u32 gen,
		      struct falcon_cm_secret *s)
{
	u32 now = cm_now(secrets) / FALCON_CM_SECRET_LIFE, have;
	unsigned int seq;

	if (READ_ONCE(secrets->gen) != now)
		cm_rotate(secrets, now);
	do {
		seq = read_seqbegin(&secrets->lock);
		have = secrets->gen;
		*s = secrets->s[gen & 1];
	} while (read_seqretry(&secrets->lock, seq));

	return gen == have || gen + 1 == have;
}

/* Magic, version, type and length are checked elsewhere; a cookie appended
 * changes the length, so the MAC begins behind them, at the nonce.
 */
static void cm_mac(const struct falcon_cm_secret *s,
		   const struct falcon_cm_peer *peer, const void *init,
		   unsigned int body_len, u32 time, struct cm_cookie *c)
{
	const unsigned int skip = offsetof(struct falcon_cm_hdr, nonce);
	struct {
		struct in6_addr saddr;
		struct in6_addr daddr;
		u64 body;
		u32 time;
		u16 port;
		u16 family;
	} in __aligned(SIPHASH_ALIGNMENT) = {
		.saddr = peer->path.saddr,
		.daddr = peer->path.daddr,
		.body = siphash(init + skip, body_len - skip, &s->body),
		.time = time,
		.port = (__force u16)peer->port,
		.family = peer->path.family,
	};

	c->time = cpu_to_be32(time);
	c->reserved = 0;
	c->mac = cpu_to_be64(siphash(&in, sizeof(in), &s->cookie));
}

/**
 * falcon_cm_cookie_make() - the cookie for an INIT
 * @cm:		connection manager
 * @peer:	where the INIT came from
 * @init:	the INIT
 * @body_len:	its bytes, without a cookie that it may have
 * @cookie:	FALCON_CM_COOKIE_LEN bytes
 *
 * Context: Any but hard interrupts.
 */
void falcon_cm_cookie_make(struct falcon_cm *cm,
			   const struct falcon_cm_peer *peer, const void *init,
			   unsigned int body_len, u8 *cookie)
{
	struct falcon_cm_secret s;
	u32 now = cm_now(&cm->secrets);
	struct cm_cookie c;

	/* A rotation in between only makes this cookie useless at once. */
	cm_secret(&cm->secrets, now / FALCON_CM_SECRET_LIFE, &s);
	cm_mac(&s, peer, init, body_len, now, &c);
	memcpy(cookie, &c, sizeof(c));
	memzero_explicit(&s, sizeof(s));
}

/**
 * falcon_cm_cookie_valid() - whether a cookie was made here for this INIT
 * @cm:		connection manager
 * @peer:	where the INIT came from
 * @init:	the INIT
 * @body_len:	its bytes before the cookie
 * @cookie:	FALCON_CM_COOKIE_LEN bytes
 *
 * Context: Any but hard interrupts.
 * Return: true if it was, within the last FALCON_CM_COOKIE_LIFE seconds.
 */
bool falcon_cm_cookie_valid(struct falcon_cm *cm,
			    const struct falcon_cm_peer *peer, const void *init,
			    unsigned int body_len, const u8 *cookie)
{
	struct falcon_cm_secret s;
	struct cm_cookie c, want;
	u32 time;
	bool ok;

	memcpy(&c, cookie, sizeof(c));
	time = be32_to_cpu(c.time);
	if (cm_now(&cm->secrets) - time > FALCON_CM_COOKIE_LIFE)
		return false;
	if (!cm_secret(&cm->secrets, time / FALCON_CM_SECRET_LIFE, &s))
		return false;
	cm_mac(&s, peer, init, body_len, time, &want);
	ok = !crypto_memneq(&c, &want, sizeof(c));
	memzero_explicit(&s, sizeof(s));
	return ok;
}
