/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels that Falcon builds on, 6.1 to 6.12, and
 * nothing else: each has the form of the newer kernel where that is possible.
 */
#ifndef _FALCON_COMPAT_H
#define _FALCON_COMPAT_H

#include <linux/bvec.h>
#include <linux/skbuff.h>
#include <linux/sysctl.h>
#include <linux/uio.h>
#include <linux/version.h>
#include <net/genetlink.h>
#include <net/sock.h>

/* 6.11: proc handlers take a constant table. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define falcon_ctl_table	const struct ctl_table
#else
#define falcon_ctl_table	struct ctl_table
#endif

/* 6.6: the number of entries is told, an empty one no longer ends a table. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define falcon_register_sysctl(net, path, table, n) \
	register_net_sysctl_sz(net, path, table, n)
#else
#define falcon_register_sysctl(net, path, table, n) \
	register_net_sysctl(net, path, table)
#endif

/* 6.7: a dump's request is a genl_info. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define falcon_dump_attrs(cb)	(genl_info_dump(cb)->attrs)
#else
#define falcon_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#endif

/* 6.10: references of fragments have a header of their own. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#include <linux/skbuff_ref.h>
#endif

/* 6.5: a struct proto's ioctl gives an int; 6.10: accept takes a structure. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define FALCON_PROTO_IOCTL(fn)						\
static int fn##_op(struct sock *sk, int cmd, int *karg)			\
{									\
	return fn(sk, cmd, karg);					\
}									\
struct falcon_swallow_semicolon
#else
#define FALCON_PROTO_IOCTL(fn)						\
static int fn##_op(struct sock *sk, int cmd, unsigned long arg)		\
{									\
	int val, err = fn(sk, cmd, &val);				\
									\
	return err ? : put_user(val, (int __user *)arg);		\
}									\
struct falcon_swallow_semicolon
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define FALCON_PROTO_ACCEPT(fn)						\
static struct sock *fn##_op(struct sock *sk, struct proto_accept_arg *arg) \
{									\
	return fn(sk, arg);						\
}									\
struct falcon_swallow_semicolon
#else
struct proto_accept_arg {
	int flags;
	int err;
	int is_empty;
	bool kern;
};

#define FALCON_PROTO_ACCEPT(fn)						\
static struct sock *fn##_op(struct sock *sk, int flags, int *err,	\
			    bool kern)					\
{									\
	struct proto_accept_arg arg = { .flags = flags, .kern = kern };	\
									\
	sk = fn(sk, &arg);						\
	*err = arg.err;							\
	return sk;							\
}									\
struct falcon_swallow_semicolon
#endif

/* 6.6: a struct proto says where its sockets have struct ipv6_pinfo. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define FALCON_IPV6_PINFO_OFFSET(type, member) \
	.ipv6_pinfo_offset = offsetof(type, member)
#else
#define FALCON_IPV6_PINFO_OFFSET(type, member)
#endif

/* 6.7: BPF may change the length of an address. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define falcon_bpf_inet4_connect(sk, addr, len) \
	BPF_CGROUP_RUN_PROG_INET4_CONNECT(sk, addr, len)
#define falcon_bpf_inet6_connect(sk, addr, len) \
	BPF_CGROUP_RUN_PROG_INET6_CONNECT(sk, addr, len)
#else
#define falcon_bpf_inet4_connect(sk, addr, len) \
	BPF_CGROUP_RUN_PROG_INET4_CONNECT(sk, addr)
#define falcon_bpf_inet6_connect(sk, addr, len) \
	BPF_CGROUP_RUN_PROG_INET6_CONNECT(sk, addr)
#endif

/*
 * 6.5: splice and sendfile come as sendmsg() with MSG_SPLICE_PAGES, which user
 * space cannot set; before, as sendpage(), which makes such a message here.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define FALCON_SPLICE_PAGES	MSG_SPLICE_PAGES
#define FALCON_USER_MSG_FLAGS	(~0)
#define FALCON_SENDPAGE(fn)
#define falcon_splice_from_iter(skb, iter, max, gfp) \
	skb_splice_from_iter(skb, iter, max, gfp)
#else
#define FALCON_HAVE_SENDPAGE
#define FALCON_SPLICE_PAGES	0x8000000
#define FALCON_USER_MSG_FLAGS	(~FALCON_SPLICE_PAGES)
#define FALCON_SENDPAGE(fn)	.sendpage = fn

static inline ssize_t falcon_splice_from_iter(struct sk_buff *skb,
					      struct iov_iter *iter,
					      ssize_t max, gfp_t gfp)
{
	const struct bio_vec *bv = iter->bvec;
	int offset = bv->bv_offset + iter->iov_offset;
	int i = skb_shinfo(skb)->nr_frags;

	max = min_t(size_t, max, bv->bv_len - iter->iov_offset);
	if (skb_can_coalesce(skb, i, bv->bv_page, offset)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], max);
	} else if (i < MAX_SKB_FRAGS) {
		get_page(bv->bv_page);
		skb_fill_page_desc(skb, i, bv->bv_page, offset, max);
	} else {
		return -EMSGSIZE;
	}
	skb_len_add(skb, max);
	iov_iter_advance(iter, max);
	return max;
}
#endif

#endif /* _FALCON_COMPAT_H */
