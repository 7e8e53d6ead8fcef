// SPDX-License-Identifier: GPL-2.0
/*
 * Sealing and opening of PSP packets.
 *
 * A packet is sealed as it departs: its IV is the time of that, in
 * picoseconds, and no association takes an IV twice, which AES-GCM depends
 * on. IVs are therefore taken from the association whose key seals, at the
 * same moment, for all packets of a train at once. What is sealed is in pages
 * of the packet's own (udp_tx.c copies payloads for that), so it is done in
 * place. What is received may be shared with others that look at the packet;
 * only what this receiver alone has is opened in place.
 *
 * Nonce: SPI and IV. Additional data: PSP header and the bytes up to the crypt
 * offset, version and CID of the Falcon header; with AES-GMAC all. The ICV is
 * at the end. Version 15 has none: its packets get their IV, no more.
 *
 * Drivers call falcon_psp_seal() at departure, or falcon_psp_inline() if their
 * NIC may have the key; conn/rx.c calls falcon_psp_open(), or falcon_psp_opened(),
 * for packets that have passed the other acceptance checks. What they work on
 * is per CPU: bottom halves are off, and ciphers complete at once (psp/key.c).
 */
#include <asm/simd.h>
#include <crypto/aead.h>
#include <crypto/internal/simd.h>
#include <linux/export.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include "psp/psp.h"

/* PSP header and the first 4 bytes of Falcon: authenticated, in the clear */
#define PSP_CLEAR	(sizeof(struct falcon_psp_hdr) + 4)
/*
 * An association ends here, long before its IVs could repeat: half way round,
 * because which IV is later is a question modulo 2^64. 106 days.
 */
#define PSP_IV_SPAN	BIT_ULL(63)
/* All pieces of an skb, and one that a header cuts */
#define PSP_SGS		(MAX_SKB_FRAGS + 2)

/**
 * struct psp_work - what one operation after the other uses on a CPU
 * @src:	packet
 * @dst:	where it is opened to, if not in place
 * @page:	where payloads are opened to
 * @nonce:	SPI and IV
 * @req:	request, with room for any cipher's own
 */
struct psp_work {
	struct scatterlist src[PSP_SGS];
	struct scatterlist dst[PSP_SGS];
	struct page_frag page;
	struct {
		__be32 spi;
		__be64 iv;
	} __packed nonce;
	struct aead_request req CRYPTO_MINALIGN_ATTR;
};

static DEFINE_PER_CPU(struct psp_work *, psp_work);

/**
 * falcon_psp_sa_init - a new receiving association, without encryption
 * @sa:		written whole
 * @version:	FALCON_PSP_VER_*
 *
 * SPI and PCID are random: in every mode they are what a stranger has to guess
 * before a packet of his moves any state. An SPI is never 0 (9.2.2.3).
 *
 * Context: any.
 */
void falcon_psp_sa_init(struct falcon_psp_sa *sa, u8 version)
{
	memset(sa, 0, sizeof(*sa));
	do {
		sa->spi = get_random_u32() & ~FALCON_PSP_SPI_GEN;
	} while (!sa->spi);
	sa->prev_spi = sa->spi;
	sa->version = version;
	sa->pcid = get_random_u64();
}
EXPORT_SYMBOL_NS_GPL(falcon_psp_sa_init, FALCON_TEST);

/* The operation that @w->src and @w->dst are set up for. */
static int psp_crypt(struct psp_work *w, const struct falcon_psp_key *key,
		     bool seal, struct scatterlist *dst, unsigned int len,
		     u64 iv)
{
	struct crypto_aead *aead = key->aead;
	struct aead_request *req = &w->req;
	unsigned int clear = PSP_CLEAR;

	if (key->simd && crypto_simd_usable())
		aead = key->simd;
	if (BIT(key->version) & FALCON_PSP_GMAC_VERSIONS)
		clear = len - FALCON_PSP_ICV_LEN;
	w->nonce.spi = cpu_to_be32(key->spi);
	w->nonce.iv = cpu_to_be64(iv);

	aead_request_set_tfm(req, aead);
	aead_request_set_callback(req, 0, NULL, NULL);
	aead_request_set_ad(req, clear);
	len -= clear;
	if (!seal) {
		aead_request_set_crypt(req, w->src, dst, len,
				       (u8 *)&w->nonce);
		return crypto_aead_decrypt(req);
	}
	aead_request_set_crypt(req, w->src, dst, len - FALCON_PSP_ICV_LEN,
			       (u8 *)&w->nonce);
	return crypto_aead_encrypt(req);
}

/* @len bytes of @skb from @off on as @w->src */
static int psp_map(struct psp_work *w, struct sk_buff *skb, unsigned int off,
		   unsigned int len)
{
	int n;

	sg_init_table(w->src, skb_shinfo(skb)->nr_frags + 1);
	n = skb_to_sgvec(skb, w->src, off, len);
	return min(n, 0);
}

/*
 * Sealing
 */

/**
 * falcon_psp_reserve - take IVs for packets that depart now
 * @last:	newest IV of the association
 * @now_ps:	the time of its connection, picoseconds
 * @nr:		IVs wanted, at least 1
 *
 * Two callers that read the same time get different IVs: the later one gets
 * numbers a few picoseconds in the future; so does one whose clock is behind.
 * Comparison is modulo 2^64.
 *
 * Context: any.
 * Return: the first of @nr consecutive IVs.
 */
u64 falcon_psp_reserve(atomic64_t *last, u64 now_ps, unsigned int nr)
{
	s64 old = atomic64_read(last);
	u64 iv;

	do {
		iv = (u64)old + 1;
		if ((s64)(now_ps - iv) > 0)
			iv = now_ps;
	} while (!atomic64_try_cmpxchg(last, &old, iv + nr - 1));
	return iv;
}

/*
 * Likewise from an association with a key, which ends some day. What lies
 * beyond its end is taken as well, by nobody: @last never goes back.
 */
static bool psp_reserve(struct falcon_psp_key *key, u64 now_ps,
			unsigned int nr, u64 *iv)
{
	s64 old = atomic64_read(&key->iv);

	do {
		*iv = (u64)old + 1;
		if ((s64)(now_ps - *iv) > 0)
			*iv = now_ps;
		if (*iv + nr - key->first_iv >= PSP_IV_SPAN)
			return false;
	} while (!atomic64_try_cmpxchg(&key->iv, &old, *iv + nr - 1));
	return true;
}

/* @iv: the first of those for a train, unless there is none. */
static int psp_train_ivs(const struct falcon_nic_cb *cb,
			 struct falcon_psp_key *key, u64 now_ps, u64 *iv)
{
	struct falcon_net *fn = cb->conn->fn;

	if (READ_ONCE(falcon_psp_stopped)) {
		FALCON_INC(fn, OUT_STOPPED);
		return -ENETDOWN;
	}
	if (!psp_reserve(key, now_ps, cb->nr_pkts, iv)) {
		FALCON_INC(fn, OUT_KEY_END);
		return -EKEYEXPIRED;
	}
	return 0;
}

static int psp_seal_packet(struct psp_work *w, struct sk_buff *skb,
			   const struct falcon_psp_key *key, unsigned int off,
			   unsigned int len, u64 iv)
{
	struct {
		__be32 spi;
		__be64 iv;
	} __packed hdr = { cpu_to_be32(key->spi), cpu_to_be64(iv) };
	int err;

	if (len < PSP_CLEAR + FALCON_PSP_ICV_LEN)
		return -EFAULT;
	err = skb_store_bits(skb, off + offsetof(struct falcon_psp_hdr, spi),
			     &hdr, sizeof(hdr));
	if (!err)
		err = psp_map(w, skb, off, len);
	if (!err)
		err = psp_crypt(w, key, true, w->src, len, iv);
	return err;
}

/* A train was built for one version; a new key has the same. */
static int psp_seal_train(struct sk_buff *skb, struct falcon_psp_key *key,
			  unsigned int off, u64 now_ps)
{
	const struct falcon_nic_cb *cb = falcon_nic_cb(skb);
	struct psp_work *w = this_cpu_read(psp_work);
	unsigned int i;
	u64 iv;
	int err;

	err = psp_train_ivs(cb, key, now_ps, &iv);
	for (i = 0; i < cb->nr_pkts && !err; i++, off += cb->stride)
		err = psp_seal_packet(w, skb, key, off,
				      min_t(unsigned int, cb->stride,
					    skb->len - off), iv + i);
	if (!err)
		FALCON_ADD(cb->conn->fn, OUT_SEALED, cb->nr_pkts);
	return err;
}

/* The same for a NIC that encrypts. */
static int psp_number_train(struct sk_buff *skb, struct falcon_psp_key *key,
			    unsigned int off, u64 now_ps)
{
	const struct falcon_nic_cb *cb = falcon_nic_cb(skb);
	struct {
		__be32 spi;
		__be64 iv;
	} __packed hdr = { cpu_to_be32(key->spi), 0 };
	unsigned int i;
	u64 iv;
	int err;

	err = psp_train_ivs(cb, key, now_ps, &iv);
	off += offsetof(struct falcon_psp_hdr, spi);
	for (i = 0; i < cb->nr_pkts && !err; i++, off += cb->stride) {
		hdr.iv = cpu_to_be64(iv + i);
		err = skb_store_bits(skb, off, &hdr, sizeof(hdr));
	}
	if (!err) {
		FALCON_ADD(cb->conn->fn, OUT_SEALED, cb->nr_pkts);
		FALCON_ADD(cb->conn->fn, OUT_SEALED_NIC, cb->nr_pkts);
	}
	return err;
}

/* Without encryption */
static int psp_stamp_train(struct sk_buff *skb, unsigned int off, u64 now_ps)
{
	const struct falcon_nic_cb *cb = falcon_nic_cb(skb);
	unsigned int i;
	int err = 0;
	u64 iv;

	iv = falcon_psp_reserve(&cb->conn->iv_last, now_ps, cb->nr_pkts);
	off += offsetof(struct falcon_psp_hdr, iv);
	for (i = 0; i < cb->nr_pkts && !err; i++, off += cb->stride) {
		__be64 v = cpu_to_be64(iv + i);

		err = skb_store_bits(skb, off, &v, sizeof(v));
	}
	return err;
}

/**
 * falcon_psp_seal - finish the PSP packets of a train as they depart
 * @skb:	as given to the xmit op of a NIC
 * @now_ps:	what falcon_nic_iv() returned
 *
 * The packets get the IVs from @now_ps on, or later ones if those are taken,
 * and are encrypted by the key that their association has at this moment,
 * which may be newer than they are.
 *
 * Context: bottom halves off; @skb is not shared. Nothing is allocated.
 * Return: 0. Otherwise @skb is to be dropped: -ENOKEY, there is no key for its
 * version; -EKEYEXPIRED, the association has no IVs left; -ENETDOWN, the system
 * hibernates; -EFAULT, it is not what its control block says; or an errno of
 * the cipher.
 */
int falcon_psp_seal(struct sk_buff *skb, u64 now_ps)
{
	struct falcon_conn *conn = falcon_nic_cb(skb)->conn;
	unsigned int off = skb_transport_offset(skb) + sizeof(struct udphdr);
	struct falcon_psp_key *key;
	struct falcon_psp_info psp;
	int err = -ENOKEY;

	if (off + sizeof(struct falcon_psp_hdr) > skb_headlen(skb) ||
	    falcon_psp_parse(skb->data + off, skb->len - off, &psp))
		return -EFAULT;
	if (psp.version == FALCON_PSP_VER_NONE)
		return psp_stamp_train(skb, off, now_ps);

	rcu_read_lock();
	key = rcu_dereference(conn->tx_sa.key);
	if (key && key->version == psp.version)
		err = psp_seal_train(skb, key, off, now_ps);
	rcu_read_unlock();
	if (err == -ENOKEY)
		FALCON_INC(conn->fn, OUT_NO_KEY);
	return err;
}
EXPORT_SYMBOL_GPL(falcon_psp_seal);

/**
 * falcon_psp_inline - give the PSP packets of a train to a NIC's own engine
 * @nic:	that transmits it
 * @skb:	as given to the xmit op
 * @now_ps:	what falcon_nic_iv() returned
 *
 * If the NIC has the key that the association has at this moment, the packets
 * get their SPI and IVs as from falcon_psp_seal(), and are the NIC's to encrypt:
 * the ICV's room is at the end of each.
 *
 * Context: bottom halves off, RCU read side; @skb is not shared.
 * Return: the driver's, of the key. NULL: it has not that key, nothing was done;
 * falcon_psp_seal() does it all. An ERR_PTR: @skb is to be dropped.
 */
struct falcon_nic_sa *falcon_psp_inline(struct falcon_nic *nic,
					struct sk_buff *skb, u64 now_ps)
{
	struct falcon_conn *conn = falcon_nic_cb(skb)->conn;
	unsigned int off = skb_transport_offset(skb) + sizeof(struct udphdr);
	struct falcon_psp_key *key = rcu_dereference(conn->tx_sa.key);
	struct falcon_nic_sa *sa = NULL;
	struct falcon_psp_info psp;
	int err;

	if (key)
		sa = rcu_dereference(key->nic_sa);
	if (!sa || sa->nic != nic)
		return NULL;
	if (off + sizeof(struct falcon_psp_hdr) > skb_headlen(skb) ||
	    falcon_psp_parse(skb->data + off, skb->len - off, &psp))
		return ERR_PTR(-EFAULT);
	if (psp.version != key->version)
		return NULL;
	err = psp_number_train(skb, key, off, now_ps);
	return err ? ERR_PTR(err) : sa;
}
EXPORT_SYMBOL_GPL(falcon_psp_inline);

/*
 * Opening
 */

/**
 * falcon_psp_opened - finish a received packet that a NIC has opened
 * @fn:		namespace
 * @skb:	from the PSP header on; loses the room of its ICV
 *
 * Context: softirq or process.
 * Return: as of falcon_psp_open().
 */
int falcon_psp_opened(struct falcon_net *fn, struct sk_buff *skb)
{
	if (skb->len < PSP_CLEAR + FALCON_PSP_ICV_LEN)
		return -EBADMSG;
	FALCON_INC(fn, IN_OPENED_NIC);
	return pskb_trim(skb, skb->len - FALCON_PSP_ICV_LEN);
}

/* Makes what follows true of @skb: pieces in an array, a head of its own. */
static int psp_open_prepare(struct sk_buff *skb)
{
	int err = 0;

	if (skb_has_frag_list(skb) || skb_headlen(skb) < PSP_CLEAR)
		err = skb_linearize(skb);
	if (!err && skb_cloned(skb))
		err = pskb_expand_head(skb, 0, 0, GFP_ATOMIC | __GFP_NOWARN);
	return err;
}

/* Takes back the pages of @w->dst from its second entry on. */
static void psp_dst_free(struct psp_work *w, unsigned int n)
{
	while (n > 1)
		put_page(sg_page(&w->dst[--n]));
}

/*
 * Sets @w->dst: @head bytes of @skb's own head, @len bytes in new pages.
 * Returns the number of entries, or -ENOMEM.
 */
static int psp_dst_alloc(struct psp_work *w, struct sk_buff *skb,
			 unsigned int head, unsigned int len)
{
	struct page_frag *pf = &w->page;
	unsigned int n = 1, take;

	sg_init_table(w->dst, PSP_SGS);
	sg_set_buf(&w->dst[0], skb->data, head);
	for (; len; len -= take) {
		if (n > MAX_SKB_FRAGS ||
		    !skb_page_frag_refill(min(len, 256u), pf,
					  GFP_ATOMIC | __GFP_NOWARN)) {
			psp_dst_free(w, n);
			return -ENOMEM;
		}
		take = min(len, pf->size - pf->offset);
		get_page(pf->page);
		sg_set_page(&w->dst[n++], pf->page, take, pf->offset);
		pf->offset += take;
	}
	sg_mark_end(&w->dst[n - 1]);
	return n;
}

/* The pages of @w->dst become those of @skb. */
static void psp_dst_give(struct psp_work *w, struct sk_buff *skb,
			 unsigned int n)
{
	unsigned int i;

	WARN_ON_ONCE(pskb_trim(skb, skb_headlen(skb)));
	for (i = 1; i < n; i++) {
		struct scatterlist *sg = &w->dst[i];

		skb_fill_page_desc(skb, i - 1, sg_page(sg), sg->offset,
				   sg->length);
		skb->len += sg->length;
		skb->data_len += sg->length;
	}
	/* Trimming takes an skb without pages for one that pins its head only. */
	skb->truesize = SKB_TRUESIZE(skb_end_offset(skb)) + skb->data_len;
}

/* AES-GCM: the text behind the head goes into new pages. */
static int psp_open_gcm(struct psp_work *w, struct sk_buff *skb,
			const struct falcon_psp_key *key, u64 iv)
{
	unsigned int text = skb->len - FALCON_PSP_ICV_LEN;
	unsigned int head = min(text, skb_headlen(skb));
	int n, err;

	n = psp_dst_alloc(w, skb, head, text - head);
	if (n < 0)
		return n;
	err = psp_crypt(w, key, false, w->dst, skb->len, iv);
	if (err) {
		psp_dst_free(w, n);
		return err;
	}
	if (text == head)
		return pskb_trim(skb, text);
	psp_dst_give(w, skb, n);
	return 0;
}

/**
 * falcon_psp_open - authenticate and decrypt a received packet
 * @key:	the association that its SPI names
 * @skb:	from the PSP header on, in one piece with the first bytes of
 *		Falcon; afterwards without ICV, in the clear. On error its
 *		contents are nobody's business any more
 * @psp:	that header, parsed; of the version of @key
 *
 * Context: softirq or process, without the connection lock.
 * Return: 0; -EBADMSG: not authentic (9.2.2.1); -ENOMEM; or an errno of the
 * cipher. Then the packet is to be dropped.
 */
int falcon_psp_open(const struct falcon_psp_key *key, struct sk_buff *skb,
		    const struct falcon_psp_info *psp)
{
	struct psp_work *w;
	int err;

	if (skb->len < PSP_CLEAR + FALCON_PSP_ICV_LEN)
		return -EBADMSG;
	err = psp_open_prepare(skb);
	if (err)
		return err;
	local_bh_disable();
	w = this_cpu_read(psp_work);
	err = psp_map(w, skb, 0, skb->len);
	if (err)
		goto out;
	if (BIT(key->version) & FALCON_PSP_GCM_VERSIONS)
		err = psp_open_gcm(w, skb, key, psp->iv);
	else
		err = psp_crypt(w, key, false, w->src, skb->len, psp->iv) ? :
		      pskb_trim(skb, skb->len - FALCON_PSP_ICV_LEN);
out:
	local_bh_enable();
	return err;
}
EXPORT_SYMBOL_NS_GPL(falcon_psp_open, FALCON_TEST);

/**
 * falcon_psp_work_init - make what the CPUs work on
 * @reqsize:	bytes that a cipher wants in a request, of the one that wants
 *		most
 *
 * Context: module init.
 * Return: 0 or -ENOMEM; falcon_psp_work_exit() frees what there is.
 */
int falcon_psp_work_init(unsigned int reqsize)
{
	struct psp_work *w;
	int cpu;

	for_each_possible_cpu(cpu) {
		w = kzalloc_node(sizeof(*w) + reqsize, GFP_KERNEL,
				 cpu_to_node(cpu));
		if (!w)
			return -ENOMEM;
		per_cpu(psp_work, cpu) = w;
	}
	return 0;
}

/**
 * falcon_psp_work_exit - undo falcon_psp_work_init()
 */
void falcon_psp_work_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct psp_work *w = per_cpu(psp_work, cpu);

		if (w && w->page.page)
			put_page(w->page.page);
		kfree_sensitive(w);
		per_cpu(psp_work, cpu) = NULL;
	}
}
