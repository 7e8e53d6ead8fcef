// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a connection is encrypted, and who the peer must be: the policy of
 * net.falcon.security, a stricter one of a ULP, and pre-shared keys, which
 * decide by being there. security.rst says what each policy gives.
 *
 * A pre-shared key is a key of type "falcon" in a keyring of whoever connects
 * or listens; its description is the peer's address, or "*" for any peer. If
 * one matches, the policy is psk: nothing that goes wrong with it, and nothing
 * that a message says, leads to a connection without.
 *
 * cm/sec.c asks, in process context.
 */
#include <linux/cred.h>
#include <linux/inet.h>
#include <linux/key.h>
#include <linux/key-type.h>
#include <keys/user-type.h>
#include <net/ipv6.h>
#include <uapi/linux/falcon.h>

#include "cm/cm.h"
#include "psp/psp.h"

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
	.instantiate		= generic_key_instantiate,
	.update			= user_update,
	.revoke			= user_revoke,
	.destroy		= user_destroy,
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

static u8 cm_wish(struct falcon_net *fn, u8 wish)
{
	return wish ?: READ_ONCE(fn->sysctl.security);
}

/**
 * falcon_security_check() - may the caller ask for a policy?
 * @net:	namespace of the connections
 * @security:	FALCON_SECURITY_*
 *
 * Less than the namespace asks for is for its administrator to ask.
 *
 * Context: Process.
 * Return: 0; -EINVAL: there is no such policy; -EPERM: it takes CAP_NET_ADMIN.
 */
int falcon_security_check(struct net *net, int security)
{
	if (security < FALCON_SECURITY_DEFAULT || security > FALCON_SECURITY_PSK)
		return -EINVAL;
	if (security != FALCON_SECURITY_DEFAULT &&
	    security < READ_ONCE(falcon_net(net)->sysctl.security) &&
	    !ns_capable(net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	return 0;
}
EXPORT_SYMBOL_GPL(falcon_security_check);

/**
 * falcon_cm_versions() - PSP versions that a policy offers or takes
 * @fn:		namespace
 * @policy:	FALCON_SECURITY_*, not _DEFAULT
 *
 * Return: BIT(version) each; 0 if net.falcon.psp_versions names none that can
 * be had here.
 */
u32 falcon_cm_versions(struct falcon_net *fn, u8 policy)
{
	if (policy == FALCON_SECURITY_NONE)
		return BIT(FALCON_PSP_VER_NONE);
	return READ_ONCE(fn->sysctl.psp_versions) & falcon_psp_versions();
}

/**
 * falcon_cm_policy_out() - the policy of a connection to be asked for
 * @fn:		namespace
 * @wish:	of the ULP, FALCON_SECURITY_*
 * @cred:	whose keyrings; NULL: current's
 * @peer:	whom
 * @psk:	the key if the policy is psk, to be wiped by the caller
 *
 * Context: Process, may sleep.
 * Return: FALCON_SECURITY_NONE, _OPPORTUNISTIC or _PSK; or -ENOKEY: a key is
 * required; -EKEYEXPIRED, -EKEYREVOKED and others: there is one, but it is not
 * good.
 */
int falcon_cm_policy_out(struct falcon_net *fn, u8 wish,
			 const struct cred *cred, const struct in6_addr *peer,
			 struct falcon_cm_psk *psk)
{
	int err = falcon_cm_psk_find(fn, cred, peer, 0, NULL, psk);

	if (!err)
		return FALCON_SECURITY_PSK;
	wish = cm_wish(fn, wish);
	if (err != -ENOKEY || wish == FALCON_SECURITY_PSK)
		return err;
	return wish;
}

/**
 * falcon_cm_policy_in() - the policy of a connection that was asked for
 * @l:		who listens
 * @fn:		namespace
 * @peer:	who asks
 * @m:		INIT
 * @psk:	the key if the policy is psk, to be wiped by the caller
 * @version:	PSP version to use
 *
 * Context: Process, may sleep.
 * Return: FALCON_SECURITY_NONE, _OPPORTUNISTIC or _PSK; or, negated, the reason
 * to refuse (enum falcon_cm_reason).
 */
int falcon_cm_policy_in(const struct falcon_listener *l, struct falcon_net *fn,
			const struct in6_addr *peer,
			const struct falcon_cm_msg *m,
			struct falcon_cm_psk *psk, u8 *version)
{
	const u8 *id = m->present & FALCON_CM_HAS_KEY_ID ? m->key_id : NULL;
	u8 policy = cm_wish(fn, l->security);
	int err;

	err = falcon_cm_psk_find(fn, l->cred, peer, m->nonce, id, psk);
	if (!err)
		policy = FALCON_SECURITY_PSK;
	if (policy == FALCON_SECURITY_PSK && !id)
		return -FALCON_CM_KEY_MISSING;
	if (err && (err != -ENOKEY || id))
		return -FALCON_CM_KEY_UNKNOWN;
	if (!falcon_cm_choose_version(m, falcon_cm_versions(fn, policy),
				      version))
		return -FALCON_CM_BAD_SECURITY;
	return policy;
}

/**
 * falcon_cm_count_reason() - one more set-up that ended for its security
 * @fn:		namespace
 * @reason:	enum falcon_cm_reason, any
 *
 * Both ends count.
 */
void falcon_cm_count_reason(struct falcon_net *fn, u16 reason)
{
	switch (reason) {
	case FALCON_CM_BAD_SECURITY:
		FALCON_INC(fn, CM_NO_SECURITY);
		break;
	case FALCON_CM_KEY_MISSING:
		FALCON_INC(fn, CM_KEY_MISSING);
		break;
	case FALCON_CM_KEY_UNKNOWN:
		FALCON_INC(fn, CM_KEY_UNKNOWN);
		break;
	case FALCON_CM_BAD_KEY:
		FALCON_INC(fn, CM_BAD_KEY);
		break;
	}
}

/**
 * falcon_cm_policy_init() - make the key type known
 *
 * Return: 0, or -EEXIST.
 */
int falcon_cm_policy_init(void)
{
	return register_key_type(&cm_key_type);
}

/**
 * falcon_cm_policy_exit() - keys of the type are no more when it returns
 */
void falcon_cm_policy_exit(void)
{
	unregister_key_type(&cm_key_type);
}
