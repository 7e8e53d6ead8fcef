// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a connection is encrypted, and who the peer must be: the policy of
 * net.falcon.security, a stricter one of a ULP, and pre-shared keys (cm/psk.c),
 * which decide by being there. If one matches, the policy is psk: nothing that
 * goes wrong with it, and nothing that a message says, leads to a connection
 * without. security.rst says what each policy gives.
 *
 * cm/sec.c asks, in process context.
 */
#include <linux/cred.h>
#include <uapi/linux/falcon.h>

#include "cm/cm.h"
#include "psp/psp.h"

/**
 * falcon_cm_wish() - the policy that somebody asks for, if there is no key
 * @fn:		namespace
 * @wish:	falcon_cm_params::security
 *
 * Less than the namespace asks for by now is for its administrator alone.
 *
 * Context: Any.
 * Return: FALCON_SECURITY_NONE, _OPPORTUNISTIC or _PSK.
 */
u8 falcon_cm_wish(struct falcon_net *fn, u8 wish)
{
	u8 least = READ_ONCE(fn->sysctl.security);

	if (wish & FALCON_SECURITY_ADMIN)
		return wish & ~FALCON_SECURITY_ADMIN;
	return max(wish, least);
}

/**
 * falcon_security_check() - may the caller ask for a policy?
 * @net:	namespace of the connections
 * @security:	FALCON_SECURITY_*
 *
 * Less than the namespace asks for, then or when a connection is set up, is for its
 * administrator to ask.
 *
 * Context: Process.
 * Return: what falcon_cm_params::security and falcon_listener::security are to be;
 * -EINVAL: there is no such policy; -EPERM: it takes CAP_NET_ADMIN.
 */
int falcon_security_check(struct net *net, int security)
{
	if (security < FALCON_SECURITY_DEFAULT || security > FALCON_SECURITY_PSK)
		return -EINVAL;
	if (security == FALCON_SECURITY_DEFAULT)
		return security;
	if (security < READ_ONCE(falcon_net(net)->sysctl.security) &&
	    !ns_capable(net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	if (ns_capable_noaudit(net->user_ns, CAP_NET_ADMIN))
		security |= FALCON_SECURITY_ADMIN;
	return security;
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
	wish = falcon_cm_wish(fn, wish);
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
	u8 policy = falcon_cm_wish(fn, l->security);
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
