// SPDX-License-Identifier: GPL-2.0
/*
 * Keys of PSP: the two device keys of a namespace, the associations that are
 * derived from them or granted by peers, and their place in a connection.
 *
 * Keys are made in process context, once: the generic GCM sleeps when it is
 * given a key. From then on a packet only reads them, under RCU. Completion is
 * never asynchronous. Where the kernel hides its SIMD cipher behind a queue
 * for moments at which SIMD may not be used, the cipher itself is taken, and
 * at such moments the one without SIMD: packets stay in order, and sealing
 * and opening keep what they work on in per-CPU memory.
 *
 * Device keys never leave this file. A key that was derived or granted stays with
 * its cipher, for NICs that take keys (nic/nic.c), until both are wiped.
 */
#include <crypto/aead.h>
#include <linux/export.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "psp/psp.h"

#define PSP_SPI_TRIES	64
/* SPIs of a generation after which there is another, if it has not come before */
#define PSP_SPIS_ROTATE	(FALCON_PSP_SPIS / 2)

/* Which ciphers serve; each key has its own of the same. */
static struct crypto_aead *psp_simd, *psp_aead;

/**
 * falcon_psp_versions - what this host can do
 *
 * Context: any.
 * Return: a bit for each PSP version that has a key.
 */
u32 falcon_psp_versions(void)
{
	return FALCON_PSP_GCM_VERSIONS | FALCON_PSP_GMAC_VERSIONS;
}

/*
 * An association: its beginning and its end
 */

static void psp_key_destroy(struct falcon_psp_key *key)
{
	if (!IS_ERR_OR_NULL(key->simd))
		crypto_free_aead(key->simd);
	if (!IS_ERR_OR_NULL(key->aead))
		crypto_free_aead(key->aead);
	kfree_sensitive(key);
}

static void psp_key_work(struct work_struct *work)
{
	struct falcon_psp_key *key = container_of(to_rcu_work(work),
						  struct falcon_psp_key, work);

	falcon_nic_key_forget(key);
	psp_key_destroy(key);
}

static void psp_key_put(struct falcon_psp_key *key)
{
	if (!key || !refcount_dec_and_test(&key->refs))
		return;
	if (!key->tx)
		xa_erase_bh(&key->psp->spi, key->spi);
	INIT_RCU_WORK(&key->work, psp_key_work);
	queue_rcu_work(falcon_wq, &key->work);
}

static struct crypto_aead *psp_cipher(struct crypto_aead *like, const u8 *k,
				      u8 version)
{
	struct crypto_aead *aead;
	u32 type = like == psp_simd ? CRYPTO_ALG_INTERNAL : 0;
	int err;

	aead = crypto_alloc_aead(crypto_aead_driver_name(like), type,
				 type | CRYPTO_ALG_ASYNC);
	if (IS_ERR(aead))
		return aead;
	err = crypto_aead_setkey(aead, k, falcon_psp_key_len(version));
	if (!err && crypto_aead_reqsize(aead) > crypto_aead_reqsize(like))
		err = -EOPNOTSUPP;
	if (!err)
		err = crypto_aead_setauthsize(aead, FALCON_PSP_ICV_LEN);
	if (!err)
		return aead;
	crypto_free_aead(aead);
	return ERR_PTR(err);
}

static struct falcon_psp_key *psp_key_make(struct falcon_psp *psp,
					   const struct falcon_psp_grant *g)
{
	struct falcon_psp_key *key;
	int err;

	key = kzalloc(sizeof(*key), GFP_KERNEL_ACCOUNT);
	if (!key)
		return ERR_PTR(-ENOMEM);
	refcount_set(&key->refs, 1);
	key->psp = psp;
	key->spi = g->spi;
	key->version = g->version;
	memcpy(key->raw, g->key, sizeof(key->raw));
	INIT_LIST_HEAD(&key->nic_node);
	key->aead = psp_cipher(psp_aead, g->key, g->version);
	err = PTR_ERR_OR_ZERO(key->aead);
	if (!err && psp_simd) {
		key->simd = psp_cipher(psp_simd, g->key, g->version);
		err = PTR_ERR_OR_ZERO(key->simd);
	}
	if (!err)
		return key;
	psp_key_destroy(key);
	return ERR_PTR(err);
}

/*
 * Receiving
 */

/*
 * SPIs look random, are of the generation, and never 0 (9.2.2.3). In a generation
 * none comes twice: its key would be that of another connection before. The one
 * that an older generation left in use is passed over.
 */
static int psp_rx_take_spi(struct falcon_psp *psp, u32 gen, u32 *spi)
{
	int i, err = -EBUSY;

	lockdep_assert_held(&psp->mutex);
	for (i = 0; i < PSP_SPI_TRIES && err == -EBUSY; i++) {
		if (psp->nr_spis == FALCON_PSP_SPIS)
			break;
		*spi = falcon_psp_spi(&psp->spi_secret, psp->nr_spis++);
		if (psp->nr_spis == PSP_SPIS_ROTATE)
			falcon_psp_rotate_soon(psp);
		if (!*spi)
			continue;
		if (gen & 1)
			*spi |= FALCON_PSP_SPI_GEN;
		err = xa_insert_bh(&psp->spi, *spi, XA_ZERO_ENTRY, GFP_KERNEL);
	}
	return err == -EBUSY ? -ENOSPC : err;
}

/* The key of a new SPI of a generation, the present one */
static struct falcon_psp_key *psp_rx_make(struct falcon_psp *psp, u32 gen,
					  u8 version,
					  struct falcon_psp_grant *grant)
{
	struct falcon_psp_key *key;
	u32 spi;
	int err;

	err = psp_rx_take_spi(psp, gen, &spi);
	if (err)
		return ERR_PTR(err);
	memset(grant, 0, sizeof(*grant));
	grant->spi = spi;
	grant->version = version;
	falcon_psp_derive(&psp->device[gen & 1], spi, version, grant->key);
	key = psp_key_make(psp, grant);
	if (IS_ERR(key)) {
		xa_erase_bh(&psp->spi, spi);
		return key;
	}
	key->gen = gen;
	xa_store_bh(&psp->spi, spi, key, GFP_KERNEL);
	return key;
}

/*
 * 9.2.2.3, step 2; a connection that had none begins with both the same. A current
 * one that the peer never moved to gives way, and not the one that it uses.
 */
static void psp_rx_set(struct falcon_conn *conn, struct falcon_psp_key *key)
{
	struct falcon_psp_sa *sa = &conn->rx_sa;
	struct falcon_psp_key *cur, *prev;

	spin_lock_bh(&conn->lock);
	prev = rcu_dereference_protected(sa->prev_key, true);
	cur = rcu_dereference_protected(sa->key, true);
	if (prev && !sa->moved_ns)
		swap(cur, prev);
	sa->prev_spi = cur ? cur->spi : key->spi;
	sa->spi = key->spi;
	sa->gen = key->gen;
	sa->version = key->version;
	sa->moved_ns = 0;
	rcu_assign_pointer(sa->prev_key, cur);
	rcu_assign_pointer(sa->key, key);
	spin_unlock_bh(&conn->lock);
	psp_key_put(prev);
}

/**
 * falcon_psp_rx_new - a receiving association of the present generation
 * @conn:	connection; it takes @version
 * @version:	of falcon_psp_versions()
 * @grant:	written: for the peer; to be wiped by the caller
 *
 * It becomes current; the one that the peer uses is accepted as the previous one
 * until falcon_psp_rx_retire() or the next call (9.2.2.3, steps 2 and 4).
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL: no such version; -ENOSPC: the generation has no SPI left,
 * which a rotation prevents; -ENOMEM or an
 * errno of the cipher. Then nothing has changed.
 */
int falcon_psp_rx_new(struct falcon_conn *conn, u8 version,
		      struct falcon_psp_grant *grant)
{
	struct falcon_net *fn = conn->fn;
	struct falcon_psp *psp = fn->psp;
	struct falcon_psp_key *key;

	if (version > FALCON_PSP_VER_GMAC256)
		return -EINVAL;
	mutex_lock(&psp->mutex);
	key = psp_rx_make(psp, fn->key_gen, version, grant);
	mutex_unlock(&psp->mutex);
	if (IS_ERR(key)) {
		memzero_explicit(grant, sizeof(*grant));
		return PTR_ERR(key);
	}
	psp_rx_set(conn, key);
	falcon_nic_rekey(conn);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(falcon_psp_rx_new, FALCON_TEST);

/* 9.2.2.3, step 4: the key to be put */
static struct falcon_psp_key *psp_rx_retire(struct falcon_conn *conn)
{
	struct falcon_psp_sa *sa = &conn->rx_sa;
	struct falcon_psp_key *prev;

	lockdep_assert_held(&conn->lock);
	prev = rcu_dereference_protected(sa->prev_key, true);
	sa->prev_spi = sa->spi;
	RCU_INIT_POINTER(sa->prev_key, NULL);
	return prev;
}

/**
 * falcon_psp_rx_used - a packet has been verified
 * @conn:	locked; has a previous association
 * @spi:	its SPI
 * @now_ns:	present time
 *
 * By its first packet under the current one the peer says that it has moved;
 * once the network holds nothing older the previous one retires.
 *
 * Context: softirq.
 */
void falcon_psp_rx_used(struct falcon_conn *conn, u32 spi, u64 now_ns)
{
	struct falcon_psp_sa *sa = &conn->rx_sa;

	if (spi != sa->spi)
		return;
	if (!sa->moved_ns)
		sa->moved_ns = now_ns;
	else if (now_ns - sa->moved_ns > FALCON_PSP_RETIRE_NS)
		psp_key_put(psp_rx_retire(conn));
}

/**
 * falcon_psp_rx_confirmed - the peer says that it uses the current association
 * @conn:	connection, not locked
 *
 * Context: any but hard interrupt.
 */
void falcon_psp_rx_confirmed(struct falcon_conn *conn)
{
	spin_lock_bh(&conn->lock);
	if (!conn->rx_sa.moved_ns)
		conn->rx_sa.moved_ns = ktime_get_ns();
	spin_unlock_bh(&conn->lock);
}
EXPORT_SYMBOL_NS_GPL(falcon_psp_rx_confirmed, FALCON_TEST);

/**
 * falcon_psp_rx_retire - accept the previous association no longer
 * @conn:	connection, not locked
 *
 * Context: any but hard interrupt.
 */
void falcon_psp_rx_retire(struct falcon_conn *conn)
{
	struct falcon_psp_key *prev;

	spin_lock_bh(&conn->lock);
	prev = psp_rx_retire(conn);
	spin_unlock_bh(&conn->lock);
	psp_key_put(prev);
}
EXPORT_SYMBOL_NS_GPL(falcon_psp_rx_retire, FALCON_TEST);

/*
 * Transmitting
 */

/*
 * The IVs of a connection rise from key to key as well, whatever its peer grants
 * and the clock says. They are compared modulo 2^64.
 */
static void psp_tx_begin(struct falcon_psp_key *key, u64 iv,
			 const struct falcon_psp_key *old)
{
	if (old && (s64)(atomic64_read(&old->iv) - iv) > 0)
		iv = atomic64_read(&old->iv);
	key->tx = true;
	key->first_iv = iv;
	atomic64_set(&key->iv, iv);
}

static void psp_tx_set(struct falcon_conn *conn, struct falcon_psp_key *key)
{
	struct falcon_psp_sa *sa = &conn->tx_sa;

	spin_lock_bh(&conn->lock);
	sa->spi = key->spi;
	sa->prev_spi = key->spi;
	sa->version = key->version;
	rcu_assign_pointer(sa->key, key);
	spin_unlock_bh(&conn->lock);
}

/**
 * falcon_psp_tx_install - encrypt with what a peer has granted
 * @conn:	connection; it takes the grant's version
 * @grant:	authentic; to be wiped by the caller
 *
 * Packets that are waiting for their departure get the new key as well. The
 * grant in use already is not installed again.
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL: no such version, or SPI 0; -ENOMEM or an errno of the
 * cipher. Then nothing has changed.
 */
int falcon_psp_tx_install(struct falcon_conn *conn,
			  const struct falcon_psp_grant *grant)
{
	struct falcon_psp *psp = conn->fn->psp;
	struct falcon_psp_key *key, *old;

	if (grant->version > FALCON_PSP_VER_GMAC256 || !grant->spi)
		return -EINVAL;
	mutex_lock(&psp->mutex);
	old = rcu_dereference_protected(conn->tx_sa.key,
					lockdep_is_held(&psp->mutex));
	if (old && old->spi == grant->spi) {
		mutex_unlock(&psp->mutex);
		return 0;
	}
	key = psp_key_make(psp, grant);
	if (!IS_ERR(key)) {
		psp_tx_begin(key, falcon_nic_now(conn), old);
		psp_tx_set(conn, key);
	}
	mutex_unlock(&psp->mutex);
	if (IS_ERR(key))
		return PTR_ERR(key);
	psp_key_put(old);
	falcon_nic_rekey(conn);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(falcon_psp_tx_install, FALCON_TEST);

static struct falcon_psp_key *
psp_key_get(struct falcon_psp_key __rcu * const *place)
{
	struct falcon_psp_key *key;

	rcu_read_lock();
	key = rcu_dereference(*place);
	if (key && !refcount_inc_not_zero(&key->refs))
		key = NULL;
	rcu_read_unlock();
	return key;
}

/**
 * falcon_psp_for_keys - visit the keys of a connection
 * @conn:	connection
 * @fn:		called for each
 * @nic:	of @fn
 *
 * Context: process; @fn may sleep.
 */
void falcon_psp_for_keys(struct falcon_conn *conn,
			 void (*fn)(struct falcon_conn *conn,
				    struct falcon_psp_key *key,
				    struct falcon_nic *nic),
			 struct falcon_nic *nic)
{
	struct falcon_psp_key *key[] = {
		psp_key_get(&conn->tx_sa.key),
		psp_key_get(&conn->rx_sa.key),
		psp_key_get(&conn->rx_sa.prev_key),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(key); i++) {
		if (key[i])
			fn(conn, key[i], nic);
		psp_key_put(key[i]);
	}
}

/**
 * falcon_psp_release - a connection has ended
 * @conn:	has no reference left
 *
 * Context: process or softirq.
 */
void falcon_psp_release(struct falcon_conn *conn)
{
	psp_key_put(rcu_dereference_protected(conn->rx_sa.key, true));
	psp_key_put(rcu_dereference_protected(conn->rx_sa.prev_key, true));
	psp_key_put(rcu_dereference_protected(conn->tx_sa.key, true));
}
EXPORT_SYMBOL_NS_GPL(falcon_psp_release, FALCON_TEST);

/*
 * Namespaces and the module
 */

static void psp_new_device_key(struct crypto_aes_ctx *ctx)
{
	u8 key[FALCON_PSP_DEVKEY_LEN];

	get_random_bytes(key, sizeof(key));
	aes_expandkey(ctx, key, sizeof(key));
	memzero_explicit(key, sizeof(key));
}

static void psp_new_spis(struct falcon_psp *psp)
{
	get_random_bytes(&psp->spi_secret, sizeof(psp->spi_secret));
	psp->nr_spis = 0;
}

/**
 * falcon_psp_new_generation - new associations come from a new device key
 * @fn:		namespace
 *
 * It takes the place of the one before the present one (9.2.2.3, step 1):
 * ciphers that were made of that go on, but nobody can derive them again.
 *
 * Context: process, may sleep.
 */
void falcon_psp_new_generation(struct falcon_net *fn)
{
	struct falcon_psp *psp = fn->psp;

	mutex_lock(&psp->mutex);
	psp_new_device_key(&psp->device[(fn->key_gen + 1) & 1]);
	psp_new_spis(psp);
	WRITE_ONCE(fn->prev_gen_ok, true);
	/* A connection is never newer than what others know of. */
	smp_store_release(&fn->key_gen, fn->key_gen + 1);
	mutex_unlock(&psp->mutex);
}

/**
 * falcon_psp_net_init - make the device keys of a namespace
 * @fn:		namespace
 *
 * Context: process, may sleep until the system has had some entropy.
 * Return: 0, -ENOMEM, or -ERESTARTSYS: a signal came first.
 */
int falcon_psp_net_init(struct falcon_net *fn)
{
	struct falcon_psp *psp;
	int err;

	/* What is made here lasts longer than an early boot's entropy is short. */
	err = wait_for_random_bytes();
	if (err)
		return err;
	psp = kzalloc(sizeof(*psp), GFP_KERNEL);
	if (!psp)
		return -ENOMEM;
	mutex_init(&psp->mutex);
	xa_init_flags(&psp->spi, XA_FLAGS_LOCK_BH);
	falcon_psp_rotate_init(psp);
	psp_new_device_key(&psp->device[0]);
	psp_new_device_key(&psp->device[1]);
	psp_new_spis(psp);
	psp->fn = fn;
	fn->psp = psp;
	return 0;
}

/**
 * falcon_psp_net_exit - forget the device keys of a namespace
 * @fn:		its connections have been freed
 *
 * Context: process, may sleep.
 */
void falcon_psp_net_exit(struct falcon_net *fn)
{
	falcon_psp_rotate_stop(fn);
	WARN_ON_ONCE(!xa_empty(&fn->psp->spi));
	xa_destroy(&fn->psp->spi);
	kfree_sensitive(fn->psp);
	fn->psp = NULL;
}

static void psp_free_ciphers(void)
{
	falcon_psp_work_exit();
	if (psp_simd)
		crypto_free_aead(psp_simd);
	crypto_free_aead(psp_aead);
}

/**
 * falcon_psp_init - find out which ciphers there are
 *
 * Context: module init.
 * Return: 0, or -ENOENT: the kernel has no gcm(aes), or another errno.
 */
int falcon_psp_init(void)
{
	unsigned int reqsize;
	int err;

	psp_aead = crypto_alloc_aead("gcm(aes)", 0, CRYPTO_ALG_ASYNC);
	if (IS_ERR(psp_aead))
		return PTR_ERR(psp_aead);
	psp_simd = crypto_alloc_aead("__gcm(aes)", CRYPTO_ALG_INTERNAL,
				     CRYPTO_ALG_INTERNAL | CRYPTO_ALG_ASYNC);
	if (IS_ERR(psp_simd))
		psp_simd = NULL;
	reqsize = crypto_aead_reqsize(psp_aead);
	if (psp_simd)
		reqsize = max(reqsize, crypto_aead_reqsize(psp_simd));
	err = falcon_psp_work_init(reqsize);
	if (!err)
		err = falcon_psp_hibernate_init();
	if (err)
		psp_free_ciphers();
	return err;
}

/**
 * falcon_psp_exit - all keys have ended
 */
void falcon_psp_exit(void)
{
	falcon_psp_hibernate_exit();
	psp_free_ciphers();
}
