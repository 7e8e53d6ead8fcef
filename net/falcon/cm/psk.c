// SPDX-License-Identifier: GPL-2.0
/*
 * Pre-shared keys: keys of type "falcon" in a keyring of whoever connects or
 * listens. The description is the peer's address, or "*" for any peer.
 *
 * What has expired is not what never was. request_key() passes over keys that have
 * expired, and some minutes later the kernel forgets them. So the keys that there
 * are, and those that had expired when they went, are remembered here by name: until
 * a new one has the name, or the network namespace goes. cm/policy.c asks.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/inet.h>
#include <linux/key.h>
#include <linux/key-type.h>
#include <linux/slab.h>
#include <keys/user-type.h>
#include <net/ipv6.h>

#include "cm/cm.h"

#define CM_MAX_EXPIRED	256	/* of one owner that are remembered */

#define CM_ANY_PEER	"*"

/* An address as the kernel writes it, so that a key has one name */
static void cm_key_name(const struct in6_addr *addr, char *name, size_t size)
{
	if (ipv6_addr_v4mapped(addr))
		snprintf(name, size, "%pI4", &addr->s6_addr32[3]);
	else
		snprintf(name, size, "%pI6c", addr);
}

static bool cm_parse_addr(const char *text, struct in6_addr *addr)
{
	__be32 v4;

	if (in4_pton(text, -1, (u8 *)&v4, -1, NULL)) {
		ipv6_addr_set_v4mapped(v4, addr);
		return true;
	}
	return in6_pton(text, -1, addr->s6_addr, -1, NULL);
}

static int cm_key_vet_description(const char *text)
{
	char name[INET6_ADDRSTRLEN];
	struct in6_addr addr;

	if (!strcmp(text, CM_ANY_PEER))
		return 0;
	if (!cm_parse_addr(text, &addr))
		return -EINVAL;
	cm_key_name(&addr, name, sizeof(name));
	return strcmp(text, name) ? -EINVAL : 0;
}

/**
 * struct cm_psk_name - a key that there is, or that had expired when it went
 * @node:	in cm_psk_names, by @uid; of one owner the newest first
 * @net:	network namespace of the key, to compare
 * @uid:	owner
 * @key:	the key, or NULL
 * @name:	its description
 */
struct cm_psk_name {
	struct hlist_node node;
	const struct key_tag *net;
	kuid_t uid;
	const struct key *key;
	char name[INET6_ADDRSTRLEN];
};

static DEFINE_HASHTABLE(cm_psk_names, 8);
static DEFINE_SPINLOCK(cm_psk_lock);	/* of the names */

static bool cm_key_has_expired(const struct key *key)
{
	time64_t expiry = READ_ONCE(key->expiry);

	return expiry && ktime_get_real_seconds() >= expiry;
}

static bool cm_psk_is(const struct cm_psk_name *n, const struct key_tag *net,
		      kuid_t uid, const char *name)
{
	return n->net == net && uid_eq(n->uid, uid) && !strcmp(n->name, name);
}

static void cm_psk_forget(struct cm_psk_name *n)
{
	hash_del(&n->node);
	kfree(n);
}

/* A new key: what was of its name before counts no more. */
static void cm_psk_remember(struct cm_psk_name *new, const struct key *key)
{
	u32 uid = __kuid_val(key->uid);
	struct cm_psk_name *n;
	struct hlist_node *next;

	new->net = key->domain_tag;
	new->uid = key->uid;
	new->key = key;
	strscpy(new->name, key->description, sizeof(new->name));
	spin_lock(&cm_psk_lock);
	hash_for_each_possible_safe(cm_psk_names, n, next, node, uid)
		if (!n->key && cm_psk_is(n, new->net, new->uid, new->name))
			cm_psk_forget(n);
	hash_add(cm_psk_names, &new->node, uid);
	spin_unlock(&cm_psk_lock);
}

/* The oldest of an owner that only its name is left of, if there are too many */
static struct cm_psk_name *cm_psk_surplus(kuid_t uid)
{
	struct cm_psk_name *n, *oldest = NULL;
	unsigned int nr = 0;

	hash_for_each_possible(cm_psk_names, n, node, __kuid_val(uid)) {
		if (n->key || !uid_eq(n->uid, uid))
			continue;
		oldest = n;
		nr++;
	}
	return nr > CM_MAX_EXPIRED ? oldest : NULL;
}

/* A key goes; its name stays if it had expired, and no other has it. */
static void cm_psk_end(const struct key *key)
{
	struct cm_psk_name *n, *mine = NULL;
	bool stays = cm_key_has_expired(key);

	spin_lock(&cm_psk_lock);
	hash_for_each_possible(cm_psk_names, n, node, __kuid_val(key->uid)) {
		if (n->key == key)
			mine = n;
		else if (n->key && cm_psk_is(n, key->domain_tag, key->uid,
					     key->description))
			stays = false;
	}
	if (mine && stays)
		mine->key = NULL;
	else if (mine)
		cm_psk_forget(mine);
	mine = cm_psk_surplus(key->uid);
	if (mine)
		cm_psk_forget(mine);
	spin_unlock(&cm_psk_lock);
}

static bool cm_psk_owner_had(const struct net *net, kuid_t uid, const char *name)
{
	const struct cm_psk_name *n;
	bool had = false;

	spin_lock(&cm_psk_lock);
	hash_for_each_possible(cm_psk_names, n, node, __kuid_val(uid)) {
		if (cm_psk_is(n, net->key_domain, uid, name) &&
		    (!n->key || cm_key_has_expired(n->key)))
			had = true;
	}
	spin_unlock(&cm_psk_lock);
	return had;
}

/* Did current, or root of the namespace, have a key of that name, until it expired? */
static bool cm_psk_had(const struct net *net, const char *name)
{
	kuid_t root = make_kuid(net->user_ns, 0);

	return cm_psk_owner_had(net, current_fsuid(), name) ||
	       (uid_valid(root) && cm_psk_owner_had(net, root, name));
}

static int cm_key_instantiate(struct key *key,
			      struct key_preparsed_payload *prep)
{
	struct cm_psk_name *name = kzalloc(sizeof(*name), GFP_KERNEL_ACCOUNT);
	int err;

	if (!name)
		return -ENOMEM;
	err = generic_key_instantiate(key, prep);
	if (err)
		kfree(name);
	else
		cm_psk_remember(name, key);
	return err;
}

static void cm_key_destroy(struct key *key)
{
	cm_psk_end(key);
	user_destroy(key);
}

static int cm_key_preparse(struct key_preparsed_payload *prep)
{
	if (prep->datalen < FALCON_CM_PSK_MIN ||
	    prep->datalen > FALCON_CM_PSK_MAX)
		return -EINVAL;
	return user_preparse(prep);
}

/* One a netns: the same address is another host there. No reading back. */
static struct key_type cm_key_type = {
	.name			= "falcon",
	.flags			= KEY_TYPE_NET_DOMAIN,
	.vet_description	= cm_key_vet_description,
	.preparse		= cm_key_preparse,
	.free_preparse		= user_free_preparse,
	.instantiate		= cm_key_instantiate,
	.update			= user_update,
	.revoke			= user_revoke,
	.destroy		= cm_key_destroy,
	.describe		= user_describe,
};

/* As current sees its keyrings. 0, or what is wrong with the key. */
static int cm_key_read(struct net *net, const char *name,
		       struct falcon_cm_psk *psk)
{
	const struct user_key_payload *payload;
	struct key *key;
	int err = -EKEYREVOKED;

	key = request_key_net(&cm_key_type, name, net, NULL);
	if (IS_ERR(key) && PTR_ERR(key) == -ENOKEY && cm_psk_had(net, name))
		return -EKEYEXPIRED;
	if (IS_ERR(key))
		return PTR_ERR(key);
	down_read(&key->sem);
	payload = user_key_payload_locked(key);
	if (payload) {
		psk->len = payload->datalen;
		memcpy(psk->key, payload->data, psk->len);
		err = 0;
	}
	up_read(&key->sem);
	key_put(key);
	return err;
}

/* Is it the one that an INIT names? */
static bool cm_key_is(const struct falcon_cm_psk *psk, u64 nonce, const u8 *id)
{
	u8 own[FALCON_CM_KEY_ID_LEN];

	if (!id)
		return true;
	falcon_cm_key_id(psk->key, psk->len, nonce, own);
	return falcon_cm_same(own, id, sizeof(own));
}

/**
 * falcon_cm_psk_find() - the pre-shared key for a peer
 * @fn:		namespace
 * @cred:	whose keyrings; NULL: current's
 * @peer:	address, IPv4 as v4-mapped
 * @nonce:	of the set-up
 * @id:		KEY_ID that the key must have, or NULL
 * @psk:	the key, to be wiped by the caller; written if there is one
 *
 * The key of that address, or if there is none the one for any peer: whoever has
 * that is not taken for a peer with a key of its own.
 *
 * Context: Process, may sleep.
 * Return: 0; -ENOKEY: there is none; -EKEYREJECTED: none has @id; -EKEYEXPIRED,
 * -EKEYREVOKED and others: there is one that is not good.
 */
int falcon_cm_psk_find(struct falcon_net *fn, const struct cred *cred,
		       const struct in6_addr *peer, u64 nonce, const u8 *id,
		       struct falcon_cm_psk *psk)
{
	const struct cred *old = override_creds(cred ?: current_cred());
	char name[INET6_ADDRSTRLEN];
	int err;

	cm_key_name(peer, name, sizeof(name));
	err = cm_key_read(fn->net, name, psk);
	if (err == -ENOKEY)
		err = cm_key_read(fn->net, CM_ANY_PEER, psk);
	if (!err && !cm_key_is(psk, nonce, id))
		err = -EKEYREJECTED;
	revert_creds(old);
	if (err)
		memzero_explicit(psk, sizeof(*psk));
	return err;
}

/**
 * falcon_cm_psk_net_exit() - a netns goes away, and its keys with it
 * @fn:	namespace
 *
 * Context: Process.
 */
void falcon_cm_psk_net_exit(struct falcon_net *fn)
{
	struct cm_psk_name *n;
	struct hlist_node *next;
	int i;

	spin_lock(&cm_psk_lock);
	hash_for_each_safe(cm_psk_names, i, next, n, node)
		if (n->net == fn->net->key_domain)
			cm_psk_forget(n);
	spin_unlock(&cm_psk_lock);
}

/**
 * falcon_cm_psk_init() - make the key type known
 *
 * Return: 0, or -EEXIST.
 */
int falcon_cm_psk_init(void)
{
	return register_key_type(&cm_key_type);
}

/**
 * falcon_cm_psk_exit() - keys of the type are no more when it returns
 *
 * Context: Process, may sleep; after the last netns.
 */
void falcon_cm_psk_exit(void)
{
	unregister_key_type(&cm_key_type);
}
