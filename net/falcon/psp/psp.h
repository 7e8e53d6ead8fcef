/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PSP security associations: what the connection manager, the data path and
 * NICs ask of each other.
 *
 * A receiver gives away keys: it derives one from its device key and an SPI
 * that it chooses (psp/kdf.c), keeps the cipher, and hands SPI and key to the
 * peer as a grant, which the connection manager wraps and carries. The peer
 * installs the grant and encrypts with it. Each connection has an association of
 * its own in each direction (6.5).
 *
 *	psp/kdf.c	the key of an SPI
 *	psp/key.c	device keys, associations, their beginning and end
 *	psp/rotate.c	new device keys, by time and on demand
 *	psp/hibernate.c	when nothing may be sealed
 *	psp/psp.c	sealing and opening of packets
 */
#ifndef _FALCON_PSP_H
#define _FALCON_PSP_H

#include <crypto/aes.h>
#include <linux/types.h>
#include "falcon.h"
#include "psp/kdf.h"

struct crypto_aead;

#define FALCON_PSP_KEY_MAX	32
/* What a peer sent before it moved to a new key may still be on its way. */
#define FALCON_PSP_RETIRE_NS	(NSEC_PER_SEC / 4)

/**
 * struct falcon_psp_grant - what a receiver gives a transmitter
 * @spi:	SPI of packets to the receiver
 * @version:	FALCON_PSP_VER_*
 * @key:	the first falcon_psp_key_len() bytes are the key, then zeros
 *
 * Whoever holds one wipes it by memzero_explicit() when it has been used.
 */
struct falcon_psp_grant {
	u32 spi;
	u8  version;
	u8  key[FALCON_PSP_KEY_MAX];
};

/**
 * struct falcon_psp - PSP in a network namespace
 * @fn:		the namespace
 * @mutex:	one association is made at a time; protects @device, @nr_spis and
 *		@spi_secret
 * @device:	device keys, by the top bit of an SPI
 * @spi:	SPIs allocated here -> struct falcon_psp_key
 * @nr_spis:	how many the present generation has given away, since the
 *		secret is what it is
 * @spi_secret:	of falcon_psp_spi(), for the present generation
 * @rotate_mutex: one rotation at a time; protects @rotated_ns and @stopped
 * @rotate_work: the next rotation by time
 * @rotated_ns:	the last rotation, 0: there was none
 * @stopped:	there are no more rotations
 */
struct falcon_psp {
	struct falcon_net *fn;
	struct mutex mutex;	/* of associations being made */
	struct crypto_aes_ctx device[2];
	struct xarray spi;
	u32 nr_spis;
	siphash_key_t spi_secret;
	struct mutex rotate_mutex;	/* of rotations */
	struct delayed_work rotate_work;
	u64 rotated_ns;
	bool stopped;
};

/**
 * struct falcon_psp_key - one security association, ready to use
 * @refs:	the connection that uses it, and who works on it
 * @psp:	namespace it belongs to, until the last reference goes
 * @spi:	SPI, allocated by its receiver
 * @gen:	receive: generation of the device key it was derived from
 * @version:	FALCON_PSP_VER_GCM128 to FALCON_PSP_VER_GMAC256
 * @tx:		transmit direction
 * @simd:	the fastest cipher, where SIMD may be used; or NULL
 * @aead:	the same for anywhere
 * @iv:		transmit: newest IV taken; an IV is taken once and for all
 * @first_iv:	transmit: none was taken before this one
 * @raw:	the key itself, for NICs
 * @nic_sa:	in a NIC; RCU, changed by nic/nic.c alone, as the next two
 * @nic_node:	in falcon_nic::keys
 * @nic_had:	a NIC has or had it
 * @work:	of its end
 */
struct falcon_psp_key {
	refcount_t refs;
	u32 spi;
	u32 gen;
	u8  version;
	bool tx;
	struct falcon_psp *psp;
	struct crypto_aead *simd;
	struct crypto_aead *aead;
	atomic64_t iv ____cacheline_aligned_in_smp;
	u64 first_iv;
	u8  raw[FALCON_PSP_KEY_MAX];
	struct falcon_nic_sa __rcu *nic_sa;
	struct list_head nic_node;
	bool nic_had;
	struct rcu_work work;
};

/* Versions that encrypt, or just authenticate: bits of falcon_psp_versions(). */
#define FALCON_PSP_GCM_VERSIONS	(BIT(FALCON_PSP_VER_GCM128) | \
				 BIT(FALCON_PSP_VER_GCM256))
#define FALCON_PSP_GMAC_VERSIONS (BIT(FALCON_PSP_VER_GMAC128) | \
				  BIT(FALCON_PSP_VER_GMAC256))

/* psp/psp.c */
int falcon_psp_open(const struct falcon_psp_key *key, struct sk_buff *skb,
		    const struct falcon_psp_info *psp);
int falcon_psp_opened(struct falcon_net *fn, struct sk_buff *skb);
int falcon_psp_work_init(unsigned int reqsize);
void falcon_psp_work_exit(void);

/* psp/key.c: associations of a connection. May sleep. */
u32 falcon_psp_versions(void);
int falcon_psp_rx_new(struct falcon_conn *conn, u8 version,
		      struct falcon_psp_grant *grant);
int falcon_psp_tx_install(struct falcon_conn *conn,
			  const struct falcon_psp_grant *grant);
void falcon_psp_release(struct falcon_conn *conn);
void falcon_psp_for_keys(struct falcon_conn *conn,
			 void (*fn)(struct falcon_conn *conn,
				    struct falcon_psp_key *key,
				    struct falcon_nic *nic),
			 struct falcon_nic *nic);

/* psp/key.c: any context, without the connection lock */
void falcon_psp_rx_confirmed(struct falcon_conn *conn);
void falcon_psp_rx_retire(struct falcon_conn *conn);

/* psp/key.c: softirq, with the connection lock */
void falcon_psp_rx_used(struct falcon_conn *conn, u32 spi, u64 now_ns);

/* psp/rotate.c: may sleep */
int falcon_psp_rotate(struct falcon_net *fn);
void falcon_psp_rotate_arm(struct falcon_net *fn);
void falcon_psp_rotate_soon(struct falcon_psp *psp);
void falcon_psp_rotate_init(struct falcon_psp *psp);
void falcon_psp_rotate_stop(struct falcon_net *fn);

/* psp/hibernate.c: may sleep */
void falcon_psp_stop(bool stop);
int falcon_psp_hibernate_init(void);
void falcon_psp_hibernate_exit(void);

/* Nothing is to be sealed; changed by psp/hibernate.c alone. */
extern bool falcon_psp_stopped;

/* psp/key.c: namespaces and the module */
void falcon_psp_new_generation(struct falcon_net *fn);
int falcon_psp_net_init(struct falcon_net *fn);
void falcon_psp_net_exit(struct falcon_net *fn);
int falcon_psp_init(void);
void falcon_psp_exit(void);

#endif /* _FALCON_PSP_H */
