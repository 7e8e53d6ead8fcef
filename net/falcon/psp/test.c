// SPDX-License-Identifier: GPL-2.0
/*
 * falcon_psp_test.ko: PSP as the kernel computes it, tested in the kernel.
 *
 * Loading it runs the tests and fails if one does; each prints a line of TAP
 * to the log. Vectors come from an independent implementation
 * (tools/testing/falcon/psp/psp_vectors.py). Two ends of a connection that exist
 * for the test alone seal and open packets in every shape that an skb has.
 */
#include <crypto/aes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include "psp/psp.h"
#include "psp/test_vectors.h"

#define HDR		sizeof(struct falcon_psp_hdr)
#define ICV		FALCON_PSP_ICV_LEN
#define OUTER		(sizeof(struct ipv6hdr) + sizeof(struct udphdr))
#define PCID		0x0123456789abcdefULL
#define ROOM		(HDR + FALCON_MAX_HDR_LEN + ICV)

#define CHECK(cond)							\
({									\
	bool ok_ = (cond);						\
									\
	if (!ok_)							\
		pr_err("psp_test: # %s:%d: %s\n", __func__, __LINE__,	\
		       #cond);						\
	ok_;								\
})

/* The two ends of a connection, as far as PSP looks at them */
struct ends {
	struct falcon_conn *a;
	struct falcon_conn *b;
};

static struct falcon_conn *end_make(void)
{
	struct falcon_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	conn->fn = falcon_net(&init_net);
	spin_lock_init(&conn->lock);
	falcon_nic_init_conn(conn);
	falcon_psp_sa_init(&conn->rx_sa, FALCON_PSP_VER_NONE);
	return conn;
}

static void end_free(struct falcon_conn *conn)
{
	if (!conn)
		return;
	falcon_psp_release(conn);
	kfree(conn);
}

static void ends_free(struct ends *e)
{
	end_free(e->a);
	end_free(e->b);
}

/* @b grants, @a installs. */
static bool ends_key(struct ends *e, u8 version)
{
	struct falcon_psp_grant grant;

	if (!CHECK(!falcon_psp_rx_new(e->b, version, &grant)))
		return false;
	if (!CHECK(!falcon_psp_tx_install(e->a, &grant)))
		return false;
	memzero_explicit(&grant, sizeof(grant));
	return true;
}

static bool ends_make(struct ends *e, u8 version)
{
	e->a = end_make();
	e->b = end_make();
	if (!CHECK(e->a && e->b))
		return false;
	return ends_key(e, version);
}

static struct falcon_psp_key *tx_key(const struct falcon_conn *conn)
{
	return rcu_dereference_protected(conn->tx_sa.key, true);
}

static const struct falcon_psp_key *rx_key(const struct falcon_conn *conn)
{
	return rcu_dereference_protected(conn->rx_sa.key, true);
}

/*
 * Packets
 */

/* @len bytes from @p behind @skb's linear part, in pages, @piece bytes each */
static bool put_pages_behind(struct sk_buff *skb, const void *p,
			     unsigned int len, unsigned int piece)
{
	unsigned int n, take;
	struct page *page;

	for (n = 0; len; n++, p += take, len -= take) {
		take = min(len, piece);
		page = n < MAX_SKB_FRAGS ? alloc_page(GFP_KERNEL) : NULL;
		if (!page)
			return false;
		memcpy(page_address(page) + 13, p, take);
		skb_add_rx_frag(skb, n, page, 13, take, PAGE_SIZE);
	}
	return true;
}

/* An skb of the @len bytes at @p, @linear of them (0: all) in its head */
static struct sk_buff *make_skb(const void *p, unsigned int len,
				unsigned int linear, unsigned int piece)
{
	struct sk_buff *skb;

	if (!linear || linear > len)
		linear = len;
	skb = alloc_skb(OUTER + linear, GFP_KERNEL);
	if (!skb)
		return NULL;
	skb_reserve(skb, OUTER);
	skb_put_data(skb, p, linear);
	if (!put_pages_behind(skb, p + linear, len - linear, piece)) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

/* What the xmit op of a NIC gets */
static struct sk_buff *make_train(struct falcon_conn *conn, const void *p,
				  unsigned int len, unsigned int nr,
				  unsigned int linear, unsigned int piece)
{
	struct sk_buff *skb = make_skb(p, len, linear, piece);

	if (!skb)
		return NULL;
	skb_push(skb, sizeof(struct udphdr));
	skb_reset_transport_header(skb);
	skb_push(skb, sizeof(struct ipv6hdr));
	skb_reset_network_header(skb);
	falcon_nic_cb(skb)->conn = conn;
	falcon_nic_cb(skb)->nr_pkts = nr;
	falcon_nic_cb(skb)->stride = DIV_ROUND_UP(len, nr);
	return skb;
}

static int seal(struct sk_buff *skb, u64 now_ps)
{
	int err;

	local_bh_disable();
	err = falcon_psp_seal(skb, now_ps);
	local_bh_enable();
	return err;
}

/* Seals what is at @p in place, in an skb of the given shape. */
static bool seal_buf(struct falcon_conn *conn, void *p, unsigned int len,
		     unsigned int nr, unsigned int linear, unsigned int piece,
		     u64 now_ps)
{
	struct sk_buff *skb = make_train(conn, p, len, nr, linear, piece);
	bool ok;

	if (!CHECK(skb))
		return false;
	ok = CHECK(!seal(skb, now_ps)) &&
	     CHECK(!skb_copy_bits(skb, OUTER, p, len));
	kfree_skb(skb);
	return ok;
}

static void put_psp_hdr(void *p, u8 version, u32 spi)
{
	const struct falcon_psp_info psp = {
		.version = version, .spi = spi, .cookie = PCID,
	};

	falcon_psp_build(&psp, p);
}

/* Opens @skb as the receive path does after its other checks. */
static int open_skb(const struct falcon_psp_key *key, struct sk_buff *skb)
{
	struct falcon_psp_info psp = {};
	struct falcon_psp_hdr h;

	if (skb_copy_bits(skb, 0, &h, sizeof(h)))
		return -EFAULT;
	psp.iv = be64_to_cpu(h.iv);
	return falcon_psp_open(key, skb, &psp);
}

/* Does @skb open to the @len bytes of @text behind its PSP header? */
static bool opens_to(const struct falcon_psp_key *key, struct sk_buff *skb,
		     const void *text, unsigned int len)
{
	void *got;
	bool ok;

	if (!CHECK(!open_skb(key, skb)))
		return false;
	if (!CHECK(skb->len == HDR + len))
		return false;
	/* Whoever is charged for it is charged for all of it. */
	if (!CHECK(skb->truesize >= skb->len))
		return false;
	got = kmalloc(len, GFP_KERNEL);
	if (!CHECK(got))
		return false;
	ok = CHECK(!skb_copy_bits(skb, HDR, got, len)) &&
	     CHECK(!memcmp(got, text, len));
	kfree(got);
	return ok;
}

static bool buf_opens_to(const struct falcon_psp_key *key, const void *p,
			 unsigned int len, unsigned int linear,
			 unsigned int piece, const void *text)
{
	struct sk_buff *skb = make_skb(p, len, linear, piece);
	bool ok;

	if (!CHECK(skb))
		return false;
	ok = opens_to(key, skb, text, len - HDR - ICV);
	kfree_skb(skb);
	return ok;
}

/*
 * Known answers
 */

static bool devkey_0_1(struct crypto_aes_ctx ctx[2])
{
	return !aes_expandkey(&ctx[0], psp_devkey[0], FALCON_PSP_DEVKEY_LEN) &&
	       !aes_expandkey(&ctx[1], psp_devkey[1], FALCON_PSP_DEVKEY_LEN);
}

/* 6.5: the key of an SPI, by the device key that its top bit names */
static bool derive_known_answers(void)
{
	struct crypto_aes_ctx *ctx = kmalloc_array(2, sizeof(*ctx), GFP_KERNEL);
	u8 key[FALCON_PSP_KEY_MAX];
	bool ok = ctx && CHECK(devkey_0_1(ctx));
	int i;

	for (i = 0; ok && i < ARRAY_SIZE(psp_kdf_vectors); i++) {
		const struct psp_kdf_vector *v = &psp_kdf_vectors[i];

		falcon_psp_derive(&ctx[v->spi >> 31], v->spi, v->version, key);
		ok = CHECK(!memcmp(key, v->key,
				   falcon_psp_key_len(v->version)));
	}
	kfree(ctx);
	return ok;
}

static bool packet_vector(struct falcon_conn *conn,
			  const struct psp_packet_vector *v)
{
	struct falcon_psp_grant grant = {
		.spi = v->spi, .version = v->version,
	};
	unsigned int len = v->len;
	u8 buf[sizeof(v->packet)];
	struct falcon_psp_key *key;

	memcpy(grant.key, v->key, sizeof(grant.key));
	if (!CHECK(!falcon_psp_tx_install(conn, &grant)))
		return false;
	key = tx_key(conn);
	key->first_iv = v->iv - 1;
	atomic64_set(&key->iv, v->iv - 1);

	memset(buf, 0, sizeof(buf));
	put_psp_hdr(buf, v->version, v->spi);
	memcpy(buf + HDR, v->text, len - HDR - ICV);
	if (!CHECK(seal_buf(conn, buf, len, 1, 0, 0, v->iv)))
		return false;
	if (!CHECK(!memcmp(buf, v->packet, len)))
		return false;
	return buf_opens_to(key, v->packet, len, 0, 0, v->text);
}

/* 7.1: whole packets, byte for byte as another implementation makes them */
static bool packet_known_answers(void)
{
	bool ok = true;
	int i;

	for (i = 0; ok && i < ARRAY_SIZE(psp_packet_vectors); i++) {
		struct falcon_conn *conn = end_make();

		ok = conn && packet_vector(conn, &psp_packet_vectors[i]);
		if (!ok)
			pr_err("psp_test: # vector %d\n", i);
		end_free(conn);
	}
	return ok;
}

/*
 * Shapes
 */

static const struct {
	unsigned int linear, piece;
} shapes[] = {
	{ 0, 0 }, { 96, 4000 }, { 216, 700 }, { 28, 1000 }, { 40, 997 },
	{ HDR, 3000 }, { 5, 2000 },
};

static bool round_trip(struct ends *e, u8 version, unsigned int len, int tx,
		       int rx)
{
	u8 *text = kmalloc(len, GFP_KERNEL), *buf = kmalloc(len, GFP_KERNEL);
	bool ok = text && buf;

	if (ok) {
		/* The head of a train is linear as far as udp_tx.c makes it. */
		unsigned int linear = shapes[tx].linear;

		get_random_bytes(text, len);
		put_psp_hdr(buf, version, e->a->tx_sa.spi);
		memcpy(buf + HDR, text, len - HDR - ICV);
		if (linear)
			linear = max_t(unsigned int, linear, HDR + 4);
		ok = seal_buf(e->a, buf, len, 1, linear, shapes[tx].piece,
			      falcon_nic_now(e->a)) &&
		     buf_opens_to(rx_key(e->b), buf, len, shapes[rx].linear,
				  shapes[rx].piece, text);
	}
	kfree(text);
	kfree(buf);
	return ok;
}

/* Every version, in skbs of every shape, of many lengths */
static bool shapes_round_trip(void)
{
	static const unsigned int lens[] = {
		HDR + 4 + ICV, HDR + 5 + ICV, 72, 96 + 1, 96 + ICV - 1, 216,
		217, 240, 1400, 4096 + 60, 8900,
	};
	struct ends e = {};
	unsigned int i;
	bool ok = true;
	int tx, rx;
	u8 v;

	for (v = 0; ok && v <= FALCON_PSP_VER_GMAC256; v++) {
		ok = ends_make(&e, v);
		for (i = 0; ok && i < ARRAY_SIZE(lens); i++)
			for (tx = 0; ok && tx < ARRAY_SIZE(shapes); tx++)
				for (rx = 0; ok && rx < ARRAY_SIZE(shapes); rx++)
					ok = round_trip(&e, v, lens[i], tx, rx);
		ends_free(&e);
	}
	return ok;
}

#define TRAIN_NR	5
#define TRAIN_LEN	1000
#define TRAIN_ALL	(TRAIN_NR * TRAIN_LEN - 300)	/* the last is shorter */

static bool train_opens(struct ends *e, const u8 *buf, const u8 *text)
{
	u64 iv, last = 0;
	unsigned int i;
	bool ok = true;

	for (i = 0; ok && i < TRAIN_NR; i++) {
		const u8 *p = buf + i * TRAIN_LEN;
		unsigned int len = i < TRAIN_NR - 1 ? TRAIN_LEN :
				   TRAIN_ALL - i * TRAIN_LEN;

		iv = be64_to_cpu(((const struct falcon_psp_hdr *)p)->iv);
		ok = CHECK(!i || iv == last + 1) &&
		     buf_opens_to(rx_key(e->b), p, len, 96, 4000,
				  text + i * TRAIN_LEN + HDR);
		last = iv;
	}
	return ok;
}

/* Each packet of a train is sealed for itself, under consecutive IVs. */
static bool train_is_sealed_packet_by_packet(void)
{
	u8 *text = kmalloc(TRAIN_ALL, GFP_KERNEL);
	u8 *buf = kmalloc(TRAIN_ALL, GFP_KERNEL);
	struct sk_buff *skb = NULL;
	struct ends e = {};
	bool ok = text && buf && ends_make(&e, FALCON_PSP_VER_GCM256);
	unsigned int i;

	if (ok) {
		get_random_bytes(text, TRAIN_ALL);
		memcpy(buf, text, TRAIN_ALL);
		for (i = 0; i < TRAIN_NR; i++)
			put_psp_hdr(buf + i * TRAIN_LEN, FALCON_PSP_VER_GCM256,
				    e.a->tx_sa.spi);
		skb = make_train(e.a, buf, TRAIN_ALL, TRAIN_NR, 200, 1500);
		ok = CHECK(skb);
	}
	if (ok) {
		falcon_nic_cb(skb)->stride = TRAIN_LEN;
		ok = CHECK(!seal(skb, falcon_nic_now(e.a))) &&
		     CHECK(!skb_copy_bits(skb, OUTER, buf, TRAIN_ALL)) &&
		     train_opens(&e, buf, text);
	}
	kfree_skb(skb);
	ends_free(&e);
	kfree(text);
	kfree(buf);
	return ok;
}

/* Another holds a clone of what was received: it sees no plain text. */
static bool clones_keep_cipher_text(void)
{
	struct sk_buff *skb = NULL, *clone = NULL;
	u8 text[500], buf[500], seen[500];
	struct ends e = {};
	bool ok;

	ok = ends_make(&e, FALCON_PSP_VER_GCM128);
	if (ok) {
		get_random_bytes(text, sizeof(text));
		memcpy(buf, text, sizeof(buf));
		put_psp_hdr(buf, FALCON_PSP_VER_GCM128, e.a->tx_sa.spi);
		ok = seal_buf(e.a, buf, sizeof(buf), 1, 0, 0, 0);
	}
	if (ok) {
		skb = make_skb(buf, sizeof(buf), 100, 150);
		clone = skb ? skb_clone(skb, GFP_KERNEL) : NULL;
		ok = CHECK(clone) &&
		     opens_to(rx_key(e.b), skb, text + HDR,
			      sizeof(text) - HDR - ICV) &&
		     CHECK(!skb_copy_bits(clone, 0, seen, sizeof(seen))) &&
		     CHECK(!memcmp(seen, buf, sizeof(buf)));
	}
	kfree_skb(clone);
	kfree_skb(skb);
	ends_free(&e);
	return ok;
}

/*
 * Integrity
 */

static const u8 types[] = {
	FALCON_PKT_PULL_REQ, FALCON_PKT_PULL_DATA, FALCON_PKT_PUSH_DATA,
	FALCON_PKT_RESYNC, FALCON_PKT_NACK, FALCON_PKT_BACK, FALCON_PKT_EACK,
};

/* A packet of @type with what its header may carry; returns its length. */
static unsigned int put_packet(u8 *buf, u8 type, u8 version, u32 spi)
{
	const struct falcon_pkt_info pi = {
		.type = type, .cid = 0x123456, .fn = 0xabcdef,
		.proto = FALCON_PROTO_SOCK, .psn = 77, .rsn = 99, .req_len = 8,
		.resync_code = FALCON_RESYNC_CIE,
		.resync_type = FALCON_PKT_PUSH_DATA,
		.nack_code = FALCON_NACK_RNR,
	};
	unsigned int len = HDR;

	put_psp_hdr(buf, version, spi);
	len += falcon_wire_build(&pi, buf + len);
	if (type == FALCON_PKT_PUSH_DATA || type == FALCON_PKT_PULL_DATA) {
		memset(buf + len, 0x5a, 8);
		len += 8;
	}
	return len + ICV;
}

static bool flips_are_seen(struct ends *e, u8 type, u8 version)
{
	u8 buf[ROOM + 8] = {}, *plain;
	unsigned int bit, len;
	struct sk_buff *skb;
	bool ok = true;

	len = put_packet(buf, type, version, e->a->tx_sa.spi);
	plain = kmemdup(buf, len, GFP_KERNEL);
	if (!CHECK(plain))
		return false;
	ok = seal_buf(e->a, buf, len, 1, 0, 0, falcon_nic_now(e->a)) &&
	     buf_opens_to(rx_key(e->b), buf, len, 0, 0, plain + HDR);
	for (bit = 0; ok && bit < 8 * len; bit++) {
		buf[bit / 8] ^= BIT(bit % 8);
		skb = make_skb(buf, len, 0, 0);
		ok = CHECK(skb) &&
		     CHECK(open_skb(rx_key(e->b), skb) == -EBADMSG);
		if (!ok)
			pr_err("psp_test: # type %#x version %u bit %u of %u\n",
			       type, version, bit, 8 * len);
		kfree_skb(skb);
		buf[bit / 8] ^= BIT(bit % 8);
		cond_resched();
	}
	kfree(plain);
	return ok;
}

/* 9.2.2.1: any bit from the PSP header on, of a packet of each type */
static bool any_flipped_bit_is_seen(void)
{
	struct ends e = {};
	bool ok = true;
	int i;
	u8 v;

	for (v = 0; ok && v <= FALCON_PSP_VER_GMAC256; v++) {
		ok = ends_make(&e, v);
		for (i = 0; ok && i < ARRAY_SIZE(types); i++)
			ok = flips_are_seen(&e, types[i], v);
		ends_free(&e);
	}
	return ok;
}

/* 9.2.2.1: cut short, or lengthened */
static bool other_length_is_seen(void)
{
	u8 buf[ROOM + 64] = {};
	struct ends e = {};
	unsigned int len, n;
	struct sk_buff *skb;
	bool ok;

	ok = ends_make(&e, FALCON_PSP_VER_GCM128);
	if (!ok)
		goto out;
	len = put_packet(buf, FALCON_PKT_PUSH_DATA, FALCON_PSP_VER_GCM128,
			 e.a->tx_sa.spi);
	ok = seal_buf(e.a, buf, len, 1, 0, 0, 0);
	for (n = HDR; ok && n < sizeof(buf); n++) {
		if (n == len)
			continue;
		skb = make_skb(buf, n, 0, 0);
		ok = CHECK(skb) &&
		     CHECK(open_skb(rx_key(e.b), skb) == -EBADMSG);
		kfree_skb(skb);
	}
out:
	ends_free(&e);
	return ok;
}

/*
 * Nonces
 */

/* Seals one small packet; *@iv is what it got. */
static int seal_one(struct falcon_conn *conn, u8 version, unsigned int nr,
		    u64 now_ps, u64 *iv)
{
	const unsigned int len = HDR + 8 + ICV;
	struct sk_buff *skb;
	u8 buf[4 * (HDR + 8 + ICV)] = {};
	unsigned int i;
	__be64 v;
	int err;

	for (i = 0; i < nr; i++)
		put_psp_hdr(buf + i * len, version, conn->tx_sa.spi);
	skb = make_train(conn, buf, nr * len, nr, 0, 0);
	if (!skb)
		return -ENOMEM;
	err = seal(skb, now_ps);
	if (!err)
		err = skb_copy_bits(skb, OUTER +
				    offsetof(struct falcon_psp_hdr, iv),
				    &v, sizeof(v));
	*iv = be64_to_cpu(v);
	kfree_skb(skb);
	return err;
}

/* A clock that is set back, or a NIC whose counter is behind */
static bool iv_rises_when_time_falls(void)
{
	struct ends e = {};
	u64 now, last = 0, iv = 0;
	bool ok;
	int i;

	ok = ends_make(&e, FALCON_PSP_VER_GCM128);
	now = ok ? falcon_nic_now(e.a) : 0;
	for (i = 0; ok && i < 1000; i++) {
		ok = CHECK(!seal_one(e.a, FALCON_PSP_VER_GCM128, 1, now, &iv)) &&
		     CHECK(!i || iv > last);
		last = iv;
		now -= 1000000000ULL;
	}
	ends_free(&e);
	return ok;
}

#define RACERS		4
#define RACES		2000

struct racer {
	struct falcon_conn *conn;
	struct completion done;
	u64 *iv;		/* of RACES trains */
	bool ok;
};

/* 4 packets a train; time goes forth and back. */
static int race(void *arg)
{
	struct racer *r = arg;
	u64 now = falcon_nic_now(r->conn);
	int i;

	for (i = 0; i < RACES; i++) {
		if (seal_one(r->conn, FALCON_PSP_VER_GCM128, 4,
			     now + get_random_u32() % 1000, &r->iv[i]))
			break;
		cond_resched();
	}
	r->ok = i == RACES;
	complete(&r->done);
	return 0;
}

static int cmp_iv(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static bool race_for_ivs(struct falcon_conn *conn, u64 *iv)
{
	struct racer r[RACERS];
	struct task_struct *t;
	bool ok = true;
	int i;

	for (i = 0; i < RACERS; i++) {
		r[i] = (struct racer) {
			.conn = conn, .iv = iv + i * RACES,
		};
		init_completion(&r[i].done);
		t = kthread_run(race, &r[i], "psp_test/%d", i);
		if (IS_ERR(t))
			complete(&r[i].done);
	}
	for (i = 0; i < RACERS; i++) {
		wait_for_completion(&r[i].done);
		ok = CHECK(r[i].ok) && ok;
	}
	sort(iv, RACERS * RACES, sizeof(*iv), cmp_iv, NULL);
	for (i = 1; ok && i < RACERS * RACES; i++)
		ok = CHECK(iv[i] - iv[i - 1] >= 4);
	return ok;
}

/* One association on all CPUs: no IV is taken twice. */
static bool iv_is_taken_once_under_smp(void)
{
	u64 *iv = kcalloc(RACERS * RACES, sizeof(*iv), GFP_KERNEL);
	struct ends e = {};
	bool ok;

	ok = iv && ends_make(&e, FALCON_PSP_VER_GCM128) &&
	     race_for_ivs(e.a, iv);
	ends_free(&e);
	kfree(iv);
	return ok;
}

/* An association ends before its IVs could repeat; then nothing is sealed. */
static bool association_ends_before_ivs_repeat(void)
{
	const u64 span = 1ULL << 63;
	struct ends e = {};
	u64 iv, from;
	bool ok;

	ok = ends_make(&e, FALCON_PSP_VER_GCM128);
	if (!ok)
		goto out;
	from = tx_key(e.a)->first_iv;
	ok = CHECK(!seal_one(e.a, 0, 1, from + span / 2, &iv)) &&
	     CHECK(!seal_one(e.a, 0, 1, from + span - 6, &iv)) &&
	     CHECK(seal_one(e.a, 0, 4, from, &iv) == 0) &&
	     CHECK(iv == from + span - 5) &&
	     CHECK(seal_one(e.a, 0, 1, from, &iv) == -EKEYEXPIRED) &&
	     CHECK(seal_one(e.a, 0, 1, from + span, &iv) == -EKEYEXPIRED) &&
	     CHECK(seal_one(e.a, 0, 1, from + 1, &iv) == -EKEYEXPIRED);
out:
	ends_free(&e);
	return ok;
}

/* The same grant again, in use or after another: IVs go on where they were. */
static bool grant_again_begins_beyond(void)
{
	const struct falcon_psp_grant one = { .spi = 6, .version = 0 };
	const struct falcon_psp_grant two = { .spi = 7, .version = 0 };
	struct falcon_conn *conn = end_make();
	struct falcon_psp_key *key;
	u64 iv, last, now;
	bool ok;

	ok = conn && CHECK(!falcon_psp_tx_install(conn, &one));
	if (!ok)
		goto out;
	key = tx_key(conn);
	now = falcon_nic_now(conn);
	ok = CHECK(!falcon_psp_tx_install(conn, &one)) &&
	     CHECK(tx_key(conn) == key) &&
	     CHECK(!seal_one(conn, 0, 4, now + 1000000000000ULL, &last)) &&
	     CHECK(!falcon_psp_tx_install(conn, &two)) &&
	     CHECK(!falcon_psp_tx_install(conn, &one)) &&
	     CHECK(tx_key(conn) != key) &&
	     CHECK(!seal_one(conn, 0, 1, now, &iv)) && CHECK(iv > last + 3);
out:
	end_free(conn);
	return ok;
}

/*
 * A kernel that hibernates and the one that its snapshot becomes: nothing is
 * sealed that only one of them would know of, and IVs go on from there.
 */
static bool nothing_is_sealed_around_a_snapshot(void)
{
	u64 now, before, iv, snapshot;
	struct ends e = {};
	bool ok;

	ok = ends_make(&e, FALCON_PSP_VER_GCM128);
	if (!ok)
		goto out;
	now = falcon_nic_now(e.a);
	ok = CHECK(!seal_one(e.a, 0, 4, now, &before));
	falcon_psp_stop(true);
	snapshot = atomic64_read(&tx_key(e.a)->iv);
	ok = ok && CHECK(seal_one(e.a, 0, 1, now + 1000, &iv) == -ENETDOWN) &&
	     CHECK(atomic64_read(&tx_key(e.a)->iv) == snapshot);
	falcon_psp_stop(false);
	/* The clock of the one that was restored may be behind. */
	ok = ok && CHECK(!seal_one(e.a, 0, 1, now - 1000, &iv)) &&
	     CHECK(iv == before + 4);
out:
	ends_free(&e);
	return ok;
}

/*
 * Associations
 */

/* 9.2.2.3: an SPI says by its top bit which generation it is of; never 0 */
static bool spi_names_its_generation(void)
{
	struct falcon_conn *conn = end_make();
	struct falcon_psp_grant grant;
	bool ok = conn;
	int i;

	for (i = 0; ok && i < 100; i++)
		ok = CHECK(!falcon_psp_rx_new(conn, 0, &grant)) &&
		     CHECK(grant.spi >> 31 == (conn->fn->key_gen & 1)) &&
		     CHECK(grant.spi << 1) &&
		     CHECK(conn->rx_sa.spi == grant.spi);
	end_free(conn);
	return ok;
}

#define SPIS	BIT(18)

static int cmp_u32(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Of so many numbers drawn at random some 16 would come twice. */
static bool spis_of_a_secret_differ(void)
{
	u32 *spi = kvmalloc_array(SPIS, sizeof(*spi), GFP_KERNEL), i;
	siphash_key_t secret;
	bool ok = spi;

	get_random_bytes(&secret, sizeof(secret));
	for (i = 0; ok && i < SPIS; i++)
		spi[i] = falcon_psp_spi(&secret, i < SPIS / 2 ? i :
					FALCON_PSP_SPIS - 1 - i);
	if (ok)
		sort(spi, SPIS, sizeof(*spi), cmp_u32, NULL);
	for (i = 1; ok && i < SPIS; i++)
		ok = CHECK(spi[i] != spi[i - 1]);
	ok = ok && CHECK(spi[SPIS - 1] < FALCON_PSP_SPIS);
	kvfree(spi);
	return ok;
}

/* Not even when the connection that had it is gone: the key would be the same. */
static bool spis_are_given_once_in_a_generation(void)
{
	struct falcon_psp *psp = falcon_net(&init_net)->psp;
	struct falcon_psp_grant grant;
	struct falcon_conn *conn;
	bool ok = true;
	u32 nr;
	int i;

	for (i = 0; ok && i < 20; i++) {
		conn = end_make();
		nr = psp->nr_spis;
		ok = conn && CHECK(!falcon_psp_rx_new(conn, 0, &grant)) &&
		     CHECK(psp->nr_spis > nr) &&
		     CHECK((grant.spi & ~FALCON_PSP_SPI_GEN) ==
			   falcon_psp_spi(&psp->spi_secret, psp->nr_spis - 1));
		end_free(conn);
	}
	return ok;
}

/* A generation without SPIs gives none; at half of them the next one comes. */
static bool a_generation_ends_with_its_spis(void)
{
	struct falcon_net *fn = falcon_net(&init_net);
	struct falcon_conn *conn = end_make();
	struct falcon_psp_grant grant;
	u32 gen = fn->key_gen;
	bool ok = conn;

	fn->psp->nr_spis = FALCON_PSP_SPIS - 2;
	ok = ok && CHECK(!falcon_psp_rx_new(conn, 0, &grant)) &&
	     CHECK(!falcon_psp_rx_new(conn, 0, &grant)) &&
	     CHECK(falcon_psp_rx_new(conn, 0, &grant) == -ENOSPC);
	fn->psp->nr_spis = FALCON_PSP_SPIS / 2 - 1;
	ok = ok && CHECK(!falcon_psp_rx_new(conn, 0, &grant));
	/* Not the delayed one, which may be the next rotation by then */
	flush_work(&fn->psp->rotate_work.work);
	ok = ok && CHECK(fn->key_gen == gen + 1) && CHECK(!fn->psp->nr_spis);
	end_free(conn);
	return ok;
}

/* 6.5: each connection has an SPI, and so a key, of its own. */
static bool connections_have_their_own_keys(void)
{
	struct falcon_conn *conn[4] = {};
	struct falcon_psp_grant g[ARRAY_SIZE(conn)];
	bool ok = true;
	int i, j;

	for (i = 0; ok && i < ARRAY_SIZE(conn); i++) {
		conn[i] = end_make();
		ok = conn[i] && CHECK(!falcon_psp_rx_new(conn[i], 1, &g[i]));
		for (j = 0; ok && j < i; j++)
			ok = CHECK(g[i].spi != g[j].spi) &&
			     CHECK(memcmp(g[i].key, g[j].key, 32));
	}
	for (i = 0; i < ARRAY_SIZE(conn); i++)
		end_free(conn[i]);
	return ok;
}

/* 9.2.2.3: after a rotation the previous association opens until it retires. */
static bool previous_association_opens_until_retired(void)
{
	const struct falcon_psp_key *prev;
	u8 text[200], buf[200];
	struct ends e = {};
	u32 first;
	bool ok;

	ok = ends_make(&e, 0);
	if (!ok)
		goto out;
	first = e.b->rx_sa.spi;
	get_random_bytes(text, sizeof(text));
	memcpy(buf, text, sizeof(buf));
	put_psp_hdr(buf, 0, first);
	ok = CHECK(e.b->rx_sa.prev_spi == first) &&
	     seal_buf(e.a, buf, sizeof(buf), 1, 0, 0, 0) && ends_key(&e, 0) &&
	     CHECK(e.b->rx_sa.spi != first) &&
	     CHECK(e.b->rx_sa.prev_spi == first);
	prev = rcu_dereference_protected(e.b->rx_sa.prev_key, true);
	ok = ok && CHECK(prev) && CHECK(prev->spi == first) &&
	     buf_opens_to(prev, buf, sizeof(buf), 0, 0, text + HDR);
	falcon_psp_rx_retire(e.b);
	ok = ok && CHECK(e.b->rx_sa.prev_spi == e.b->rx_sa.spi) &&
	     CHECK(!rcu_access_pointer(e.b->rx_sa.prev_key));
out:
	ends_free(&e);
	return ok;
}

/* A rotation whose REKEY did not get there takes nothing that the peer uses. */
static bool an_association_that_the_peer_never_used_gives_way(void)
{
	struct ends e = {};
	u32 used, lost;
	bool ok;

	ok = ends_make(&e, 0);
	if (!ok)
		goto out;
	used = e.b->rx_sa.spi;
	ok = ends_key(&e, 0);
	lost = e.b->rx_sa.spi;
	ok = ok && ends_key(&e, 0) && CHECK(e.b->rx_sa.spi != lost) &&
	     CHECK(e.b->rx_sa.prev_spi == used) &&
	     CHECK(rcu_access_pointer(e.b->rx_sa.prev_key)) &&
	     CHECK(!xa_load(&e.b->fn->psp->spi, lost));
	lost = e.b->rx_sa.spi;
	falcon_psp_rx_confirmed(e.b);
	ok = ok && ends_key(&e, 0) && CHECK(e.b->rx_sa.prev_spi == lost);
out:
	ends_free(&e);
	return ok;
}

/* Built before the key was exchanged: sealed by the key of its departure. */
static bool waiting_packets_get_the_new_key(void)
{
	u8 text[200], buf[200];
	struct sk_buff *skb = NULL;
	struct ends e = {};
	bool ok;

	ok = ends_make(&e, 1);
	if (ok) {
		get_random_bytes(text, sizeof(text));
		memcpy(buf, text, sizeof(buf));
		put_psp_hdr(buf, 1, e.a->tx_sa.spi);
		skb = make_train(e.a, buf, sizeof(buf), 1, 0, 0);
		ok = CHECK(skb) && ends_key(&e, 1) &&
		     CHECK(!seal(skb, falcon_nic_now(e.a))) &&
		     CHECK(!skb_copy_bits(skb, OUTER, buf, sizeof(buf))) &&
		     buf_opens_to(rx_key(e.b), buf, sizeof(buf), 0, 0,
				  text + HDR);
	}
	kfree_skb(skb);
	ends_free(&e);
	return ok;
}

/* Nothing leaves in the clear that was built to be sealed. */
static bool no_key_no_packet(void)
{
	struct falcon_conn *conn = end_make();
	u64 iv;
	bool ok;

	ok = conn && CHECK(seal_one(conn, 0, 1, 0, &iv) == -ENOKEY) &&
	     CHECK(!seal_one(conn, FALCON_PSP_VER_NONE, 1, 0, &iv));
	end_free(conn);
	return ok;
}

/* Has the software NIC taken a packet that departs in a minute? */
static bool waits_in_nic(struct falcon_conn *conn)
{
	const u8 text[HDR] = {};
	struct sk_buff *skb = make_train(conn, text, sizeof(text), 1, 0, 0);
	int err;

	if (!CHECK(skb))
		return false;
	refcount_set(&conn->refs, 1);
	falcon_nic_cb(skb)->depart_ns = ktime_get_ns() + 60 * NSEC_PER_SEC;
	local_bh_disable();
	rcu_read_lock();
	err = falcon_nic_xmit(conn, skb, 0);
	rcu_read_unlock();
	local_bh_enable();
	return CHECK(!err) && CHECK(refcount_read(&conn->refs) == 2);
}

/* The flush op: what a namespace has waiting in a NIC goes with it, and no more. */
static bool a_namespace_leaves_no_packet_in_a_nic(void)
{
	struct falcon_net *other = kzalloc(sizeof(*other), GFP_KERNEL);
	struct ends e = { end_make(), end_make() };
	bool ok = CHECK(other && e.a && e.b);

	if (ok) {
		/* Its address is all that is looked at. */
		other->net = (struct net *)other;
		e.b->fn = other;
		ok = waits_in_nic(e.a) && waits_in_nic(e.b);
		falcon_nic_flush(other->net);
		ok &= CHECK(refcount_read(&e.a->refs) == 2) &&
		      CHECK(refcount_read(&e.b->refs) == 1);
		falcon_nic_flush(&init_net);
		ok &= CHECK(refcount_read(&e.a->refs) == 1);
	}
	ends_free(&e);
	kfree(other);
	return ok;
}

static bool bad_grants_are_refused(void)
{
	struct falcon_conn *conn = end_make();
	struct falcon_psp_grant g = { .spi = 7, .version = 4 };
	bool ok;

	ok = conn &&
	     CHECK(falcon_psp_tx_install(conn, &g) == -EINVAL) &&
	     CHECK(falcon_psp_rx_new(conn, 15, &g) == -EINVAL);
	g = (struct falcon_psp_grant) { .spi = 0, .version = 0 };
	ok = ok && CHECK(falcon_psp_tx_install(conn, &g) == -EINVAL);
	end_free(conn);
	return ok;
}

static const struct {
	const char *name;
	bool (*fn)(void);
} tests[] = {
#define T(fn)	{ #fn, fn }
	T(derive_known_answers),
	T(packet_known_answers),
	T(shapes_round_trip),
	T(train_is_sealed_packet_by_packet),
	T(clones_keep_cipher_text),
	T(any_flipped_bit_is_seen),
	T(other_length_is_seen),
	T(iv_rises_when_time_falls),
	T(iv_is_taken_once_under_smp),
	T(association_ends_before_ivs_repeat),
	T(grant_again_begins_beyond),
	T(nothing_is_sealed_around_a_snapshot),
	T(spi_names_its_generation),
	T(spis_of_a_secret_differ),
	T(spis_are_given_once_in_a_generation),
	T(a_generation_ends_with_its_spis),
	T(connections_have_their_own_keys),
	T(previous_association_opens_until_retired),
	T(an_association_that_the_peer_never_used_gives_way),
	T(waiting_packets_get_the_new_key),
	T(no_key_no_packet),
	T(a_namespace_leaves_no_packet_in_a_nic),
	T(bad_grants_are_refused),
#undef T
};

static int __init psp_test_init(void)
{
	unsigned int i, failed = 0;

	pr_info("psp_test: 1..%zu\n", ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		bool ok = tests[i].fn();

		pr_info("psp_test: %sok %u - %s\n", ok ? "" : "not ", i + 1,
			tests[i].name);
		failed += !ok;
	}
	return failed ? -EINVAL : 0;
}

static void __exit psp_test_exit(void)
{
}

module_init(psp_test_init);
module_exit(psp_test_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Falcon for Linux authors");
MODULE_DESCRIPTION("Tests of Falcon's PSP");
MODULE_IMPORT_NS(FALCON_TEST);
