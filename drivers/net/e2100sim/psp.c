// SPDX-License-Identifier: GPL-2.0
/*
 * The engine for PSP: keys that Falcon has installed, packets that are sealed
 * as they depart and opened as they arrive. The device has a place for so many
 * keys; without one, or without memory, Falcon does the work in software.
 *
 * What arrives is opened in a copy: others may look at the packet, and one that
 * is not authentic by our keys goes on as it came, for software to judge. So does
 * what is not for this host, which would go on in the clear. A train is opened
 * whole or not at all.
 *
 * falcon.c adds and deletes keys; tx.c seals, rx.c opens. What a packet is
 * worked on with is per CPU: bottom halves are off, and ciphers complete at
 * once.
 */
#include <crypto/aead.h>
#include <linux/ip.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/falcon_wire.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include "e2100sim.h"

/* Authenticated, in the clear: PSP header, version and CID of Falcon's */
#define E2100_PSP_CLEAR		(sizeof(struct falcon_psp_hdr) + 4)
#define E2100_PSP_LEAST		(E2100_PSP_CLEAR + FALCON_PSP_ICV_LEN)
#define E2100_PSP_NONCE		offsetof(struct falcon_psp_hdr, spi)
#define E2100_PSP_NONCE_LEN	12	/* SPI and IV */

/**
 * struct e2100_sa - a key
 * @base:	what Falcon sees; first
 * @hash:	in e2100_port::sas, if it receives
 * @rcu:	for its end
 * @spi:	SPI
 * @version:	FALCON_PSP_VER_*
 * @addr:	of this end
 * @aead:	cipher
 */
struct e2100_sa {
	struct falcon_nic_sa base;
	struct hlist_node hash;
	struct rcu_work rcu;
	u32 spi;
	u8 version;
	struct in6_addr addr;
	struct crypto_aead *aead;
};

/*
 * A request with room for the cipher's own, and the pieces of a packet; ciphers
 * want it where pages are.
 */
struct e2100_psp_work {
	struct scatterlist sg[MAX_SKB_FRAGS + 2];
	u8 nonce[E2100_PSP_NONCE_LEN];
	struct aead_request req CRYPTO_MINALIGN_ATTR;
};

static DEFINE_PER_CPU(struct e2100_psp_work *, e2100_psp_work);
static struct workqueue_struct *e2100_psp_wq;
static unsigned int e2100_psp_reqsize;

static struct e2100_sa *e2100_sa(struct falcon_nic_sa *base)
{
	return container_of(base, struct e2100_sa, base);
}

/*
 * Keys
 */

static void e2100_sa_free(struct e2100_sa *sa)
{
	if (!IS_ERR_OR_NULL(sa->aead))
		crypto_free_aead(sa->aead);
	kfree(sa);
}

static void e2100_sa_work(struct work_struct *work)
{
	e2100_sa_free(container_of(to_rcu_work(work), struct e2100_sa, rcu));
}

static unsigned int e2100_key_len(u8 version)
{
	return version == FALCON_PSP_VER_GCM256 ||
	       version == FALCON_PSP_VER_GMAC256 ? 32 : 16;
}

static int e2100_sa_cipher(struct e2100_sa *sa, const u8 *key)
{
	int err;

	sa->aead = crypto_alloc_aead("gcm(aes)", 0, CRYPTO_ALG_ASYNC);
	if (IS_ERR(sa->aead))
		return PTR_ERR(sa->aead);
	if (crypto_aead_reqsize(sa->aead) > e2100_psp_reqsize)
		return -EOPNOTSUPP;
	err = crypto_aead_setkey(sa->aead, key, e2100_key_len(sa->version));
	if (!err)
		err = crypto_aead_setauthsize(sa->aead, FALCON_PSP_ICV_LEN);
	return err;
}

static struct e2100_sa *e2100_sa_find(struct e2100_port *port, u32 spi)
{
	struct e2100_sa *sa;

	hash_for_each_possible_rcu(port->sas, sa, hash, spi) {
		if (sa->spi == spi)
			return sa;
	}
	return NULL;
}

static bool e2100_sa_known(struct e2100_port *port, u32 spi)
{
	bool known;

	rcu_read_lock();
	known = e2100_sa_find(port, spi);
	rcu_read_unlock();
	return known;
}

/**
 * e2100_key_add - the key_add op
 * @port:	port
 * @key:	key
 *
 * Context: process, may sleep; one at a time.
 * Return: the key in the device, or an ERR_PTR: -ENOSPC: there is no place for
 * it; -EEXIST: it receives, and there is one of that SPI; -ENOMEM or an errno of
 * the cipher.
 */
struct falcon_nic_sa *e2100_key_add(struct e2100_port *port,
				    const struct falcon_nic_key *key)
{
	struct e2100_sa *sa;
	int err;

	if (port->nr_keys >= e2100_param(port, E2100_P_PSP_KEYS))
		return ERR_PTR(-ENOSPC);
	if (!key->tx && e2100_sa_known(port, key->spi))
		return ERR_PTR(-EEXIST);
	sa = kzalloc(sizeof(*sa), GFP_KERNEL);
	if (!sa)
		return ERR_PTR(-ENOMEM);
	sa->base.nic = &port->nic;
	sa->spi = key->spi;
	sa->version = key->version;
	sa->addr = key->addr;
	INIT_HLIST_NODE(&sa->hash);
	err = e2100_sa_cipher(sa, key->key);
	if (err) {
		e2100_sa_free(sa);
		return ERR_PTR(err);
	}
	if (!key->tx)
		hash_add_rcu(port->sas, &sa->hash, sa->spi);
	WRITE_ONCE(port->nr_keys, port->nr_keys + 1);
	WRITE_ONCE(port->opens, true);
	E2100_INC(port, PSP_ADDED);
	return &sa->base;
}

/**
 * e2100_key_del - the key_del op
 * @port:	port
 * @base:	from e2100_key_add()
 *
 * Context: process, may sleep; one at a time.
 */
void e2100_key_del(struct e2100_port *port, struct falcon_nic_sa *base)
{
	struct e2100_sa *sa = e2100_sa(base);

	hash_del_rcu(&sa->hash);
	WRITE_ONCE(port->nr_keys, port->nr_keys - 1);
	E2100_INC(port, PSP_DELETED);
	INIT_RCU_WORK(&sa->rcu, e2100_sa_work);
	queue_rcu_work(e2100_psp_wq, &sa->rcu);
}

/*
 * The engine
 */

/* @w->sg is a packet of @len bytes, @w->nonce its nonce; in place. */
static int e2100_psp_crypt(struct e2100_psp_work *w, const struct e2100_sa *sa,
			   unsigned int len, bool seal)
{
	unsigned int clear = E2100_PSP_CLEAR;

	if (sa->version == FALCON_PSP_VER_GMAC128 ||
	    sa->version == FALCON_PSP_VER_GMAC256)
		clear = len - FALCON_PSP_ICV_LEN;
	len -= clear;
	aead_request_set_tfm(&w->req, sa->aead);
	aead_request_set_callback(&w->req, 0, NULL, NULL);
	aead_request_set_ad(&w->req, clear);
	if (!seal) {
		aead_request_set_crypt(&w->req, w->sg, w->sg, len, w->nonce);
		return crypto_aead_decrypt(&w->req);
	}
	aead_request_set_crypt(&w->req, w->sg, w->sg,
			       len - FALCON_PSP_ICV_LEN, w->nonce);
	return crypto_aead_encrypt(&w->req);
}

static int e2100_psp_packet(struct e2100_psp_work *w, const struct e2100_sa *sa,
			    struct sk_buff *skb, unsigned int off,
			    unsigned int len, bool seal)
{
	int err;

	if (len < E2100_PSP_LEAST)
		return -EINVAL;
	err = skb_copy_bits(skb, off + E2100_PSP_NONCE, w->nonce,
			    sizeof(w->nonce));
	if (err)
		return err;
	sg_init_table(w->sg, ARRAY_SIZE(w->sg));
	err = skb_to_sgvec(skb, w->sg, off, len);
	if (err < 0)
		return err;
	return e2100_psp_crypt(w, sa, len, seal);
}

/**
 * e2100_psp_seal - encrypt a packet or train that departs
 * @base:	key
 * @skb:	as given to xmit, with its SPI and IVs
 *
 * Context: softirq or process, bottom halves off.
 * Return: 0 or a negative errno: it must not depart.
 */
int e2100_psp_seal(struct falcon_nic_sa *base, struct sk_buff *skb)
{
	unsigned int off = skb_transport_offset(skb) + sizeof(struct udphdr);
	struct e2100_psp_work *w = this_cpu_read(e2100_psp_work);
	const struct falcon_nic_cb *cb = falcon_nic_cb(skb);
	unsigned int i;
	int err = 0;

	for (i = 0; i < cb->nr_pkts && !err; i++, off += cb->stride)
		err = e2100_psp_packet(w, e2100_sa(base), skb, off,
				       min_t(unsigned int, cb->stride,
					     skb->len - off), true);
	return err;
}

/*
 * What is opened is no longer what the checksum of UDP is of: so it is verified
 * before, if nobody has done that yet.
 */
static bool e2100_psp_csum_ok(const struct sk_buff *skb, unsigned int udp)
{
	const struct udphdr *uh = (struct udphdr *)(skb->data + udp);
	unsigned int len = skb->len - udp;
	__wsum csum;

	if (skb->ip_summed == CHECKSUM_PARTIAL ||
	    skb->ip_summed == CHECKSUM_UNNECESSARY || !uh->check)
		return true;
	csum = skb_checksum(skb, udp, len, 0);
	if (skb->protocol == htons(ETH_P_IP)) {
		const struct iphdr *iph = (struct iphdr *)skb->data;

		return !csum_tcpudp_magic(iph->saddr, iph->daddr, len,
					  IPPROTO_UDP, csum);
	} else {
		const struct ipv6hdr *ip6h = (struct ipv6hdr *)skb->data;

		return !csum_ipv6_magic(&ip6h->saddr, &ip6h->daddr, len,
					IPPROTO_UDP, csum);
	}
}

/*
 * Do the headers say as many bytes as came? Nothing authenticates them: one that
 * says less would have the stack cut off what was authentic.
 */
static bool e2100_psp_whole(const struct sk_buff *skb, unsigned int udp)
{
	const struct udphdr *uh = (struct udphdr *)(skb->data + udp);
	unsigned int len;

	if (skb->protocol == htons(ETH_P_IP))
		len = ntohs(((struct iphdr *)skb->data)->tot_len);
	else
		len = sizeof(struct ipv6hdr) +
		      ntohs(((struct ipv6hdr *)skb->data)->payload_len);
	return len == skb->len && ntohs(uh->len) == skb->len - udp;
}

/* To which address does the stack deliver it? None, if it may send it further. */
static struct in6_addr e2100_psp_addr(const struct sk_buff *skb)
{
	const struct ipv6hdr *ip6h = (struct ipv6hdr *)skb->data;
	const struct iphdr *iph = (struct iphdr *)skb->data;
	struct in6_addr addr = IN6ADDR_ANY_INIT;

	if (skb->pkt_type != PACKET_HOST)
		return addr;
	if (skb->protocol == htons(ETH_P_IPV6))
		addr = ip6h->daddr;
	else if (iph->ihl == 5)	/* no source route */
		ipv6_addr_set_v4mapped(iph->daddr, &addr);
	return addr;
}

/* The key of the packet at @off; all packets of a train are opened by theirs. */
static bool e2100_psp_open_one(struct e2100_port *port, struct sk_buff *skb,
			       const struct in6_addr *addr, unsigned int off,
			       unsigned int len)
{
	const struct falcon_psp_hdr *psp;
	const struct e2100_sa *sa;

	if (len < E2100_PSP_LEAST)
		return false;
	psp = (struct falcon_psp_hdr *)(skb->data + off);
	sa = e2100_sa_find(port, be32_to_cpu(psp->spi));
	return sa && (psp->flags >> 2 & 15) == sa->version &&
	       ipv6_addr_equal(&sa->addr, addr) &&
	       !e2100_psp_packet(this_cpu_read(e2100_psp_work), sa, skb, off,
				 len, false);
}

static bool e2100_psp_open_all(struct e2100_port *port, struct sk_buff *skb,
			       unsigned int off, unsigned int stride)
{
	struct in6_addr addr = e2100_psp_addr(skb);
	unsigned int len;

	for (; off < skb->len; off += len) {
		len = min(stride, skb->len - off);
		if (!e2100_psp_open_one(port, skb, &addr, off, len))
			return false;
	}
	return true;
}

/* Is there a key for the first packet? */
static bool e2100_psp_mine(struct e2100_port *port, const struct sk_buff *skb,
			   unsigned int off)
{
	struct falcon_psp_hdr *psp, _psp;

	psp = skb_header_pointer(skb, off, sizeof(_psp), &_psp);
	return psp && e2100_sa_find(port, be32_to_cpu(psp->spi));
}

/**
 * e2100_psp_open - open what arrives
 * @port:	port
 * @skb:	from the network header on; replaced if it was opened
 * @udp:	offset of the UDP header; what follows is PSP
 *
 * Context: softirq, RCU read side, bottom halves off.
 * Return: was it opened?
 */
bool e2100_psp_open(struct e2100_port *port, struct sk_buff **skb,
		    unsigned int udp)
{
	unsigned int off = udp + sizeof(struct udphdr);
	unsigned int stride = (*skb)->len - off;
	struct sk_buff *copy;

	if (!READ_ONCE(port->nr_keys) || !e2100_psp_mine(port, *skb, off))
		return false;
	if (skb_is_gso(*skb))
		stride = skb_shinfo(*skb)->gso_size;
	copy = skb_copy(*skb, GFP_ATOMIC | __GFP_NOWARN);
	if (!copy)
		return false;
	if (!stride || !e2100_psp_whole(copy, udp) ||
	    !e2100_psp_csum_ok(copy, udp) ||
	    !e2100_psp_open_all(port, copy, off, stride)) {
		E2100_INC(port, PSP_NOT_OPENED);
		kfree_skb(copy);
		return false;
	}
	if (copy->ip_summed != CHECKSUM_PARTIAL)
		copy->ip_summed = CHECKSUM_UNNECESSARY;
	E2100_INC(port, PSP_OPENED);
	consume_skb(*skb);
	*skb = copy;
	return true;
}

static void e2100_psp_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		kfree_sensitive(per_cpu(e2100_psp_work, cpu));
		per_cpu(e2100_psp_work, cpu) = NULL;
	}
}

static int e2100_psp_alloc(void)
{
	struct e2100_psp_work *w;
	int cpu;

	for_each_possible_cpu(cpu) {
		w = kzalloc_node(sizeof(*w) + e2100_psp_reqsize, GFP_KERNEL,
				 cpu_to_node(cpu));
		if (!w)
			return -ENOMEM;
		per_cpu(e2100_psp_work, cpu) = w;
	}
	return 0;
}

/**
 * e2100_psp_init - see what ciphers there are
 *
 * Context: module init.
 * Return: 0, or -ENOENT: no gcm(aes), or another negative errno.
 */
int e2100_psp_init(void)
{
	struct crypto_aead *aead = crypto_alloc_aead("gcm(aes)", 0,
						     CRYPTO_ALG_ASYNC);
	int err;

	if (IS_ERR(aead))
		return PTR_ERR(aead);
	e2100_psp_reqsize = crypto_aead_reqsize(aead);
	crypto_free_aead(aead);
	e2100_psp_wq = alloc_workqueue("e2100sim_psp", WQ_UNBOUND, 0);
	if (!e2100_psp_wq)
		return -ENOMEM;
	err = e2100_psp_alloc();
	if (err) {
		e2100_psp_free();
		destroy_workqueue(e2100_psp_wq);
	}
	return err;
}

/**
 * e2100_psp_exit - the end; there are no ports any more
 */
void e2100_psp_exit(void)
{
	rcu_barrier();
	destroy_workqueue(e2100_psp_wq);
	e2100_psp_free();
}
