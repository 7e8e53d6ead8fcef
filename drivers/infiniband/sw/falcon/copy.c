// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes between packets and memory. What leaves is referenced: a packet's
 * frags are the pinned pages of the region, but for short pieces and for pages
 * that must not be frags, which are copied; so are the answers to reads, which
 * may outlive the reader's key. What arrives is copied once, into the region.
 *
 * Each piece is looked up and checked anew, so that a region may go between any
 * two; pages stay as long as a packet refers to them. req.c, resp.c and ud.c call.
 */
#include <linux/highmem.h>
#include <linux/skbuff.h>
#include "falcon_ib.h"

/*
 * What is done with bytes of one page, @arg_off bytes into the whole. -EAGAIN:
 * they cannot be frags.
 */
typedef int (*fal_page_fn)(struct page *page, unsigned int off,
			   unsigned int len, void *arg, u32 arg_off);

static int fal_page_to_skb(struct page *page, unsigned int off,
			   unsigned int len, void *arg, u32 arg_off)
{
	void *p = kmap_local_page(page);
	int err = skb_store_bits(arg, arg_off, p + off, len);

	kunmap_local(p);
	return err;
}

static int fal_page_from_skb(struct page *page, unsigned int off,
			     unsigned int len, void *arg, u32 arg_off)
{
	void *p = kmap_local_page(page);
	int err = skb_copy_bits(arg, arg_off, p + off, len);

	kunmap_local(p);
	return err;
}

static int fal_page_from_buf(struct page *page, unsigned int off,
			     unsigned int len, void *arg, u32 arg_off)
{
	memcpy_to_page(page, off, arg + arg_off, len);
	return 0;
}

static int fal_page_to_frag(struct page *page, unsigned int off,
			    unsigned int len, void *arg, u32 arg_off)
{
	struct sk_buff *skb = arg;
	int n = skb_shinfo(skb)->nr_frags;

	if (!sendpage_ok(page))
		return -EAGAIN;
	if (n && skb_can_coalesce(skb, n, page, off)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[n - 1], len);
	} else {
		/* One is left for the pad. */
		if (n >= FAL_MAX_FRAGS - 1)
			return -EAGAIN;
		get_page(page);
		skb_fill_page_desc(skb, n, page, off, len);
	}
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
	return 0;
}

static int fal_seg_walk(const struct fal_seg *seg, u32 len, fal_page_fn fn,
			void *arg, u32 arg_off)
{
	unsigned int off, n;
	struct page *page;
	u32 skip;
	int err;

	for (skip = 0; skip < len; skip += n) {
		page = fal_seg_page(seg, skip, &off, &n);
		n = min(n, len - skip);
		err = fn(page, off, n, arg, arg_off + skip);
		if (err)
			return err;
	}
	return 0;
}

/* Applies @fn to [@off, @off + @len) of what the entries make up. */
static enum ib_wc_status fal_sges_apply(struct fal_qp *qp, struct ib_pd *pd,
					const struct falcon_sge *sge,
					u32 num_sge, u32 off, u32 len,
					int access, void *arg, u32 arg_off,
					fal_page_fn fn, int *err)
{
	enum ib_wc_status status;
	struct fal_seg seg;
	u32 n;

	*err = 0;
	for (; num_sge && len; num_sge--, sge++) {
		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}
		n = min(len, sge->length - off);
		status = fal_mr_find(qp, pd, sge->lkey, sge->addr + off, n,
				     access, &seg);
		if (status)
			return status;
		*err = fal_seg_walk(&seg, n, fn, arg, arg_off);
		fal_seg_put(&seg);
		if (*err)
			return IB_WC_LOC_QP_OP_ERR;
		arg_off += n;
		len -= n;
		off = 0;
	}
	return len ? IB_WC_LOC_LEN_ERR : IB_WC_SUCCESS;
}

/**
 * fal_sges_to_skb() - copy part of a send request's data into a packet
 * @qp:		queue pair
 * @sge:	entries
 * @num_sge:	how many
 * @off:	of the first byte, in all entries
 * @len:	bytes
 * @skb:	packet that has room for them
 * @skb_off:	where in it
 *
 * Return: IB_WC_SUCCESS, or why not.
 */
enum ib_wc_status fal_sges_to_skb(struct fal_qp *qp,
				  const struct falcon_sge *sge, u32 num_sge,
				  u32 off, u32 len, struct sk_buff *skb,
				  u32 skb_off)
{
	int err;

	return fal_sges_apply(qp, qp->ibqp.pd, sge, num_sge, off, len, 0, skb,
			      skb_off, fal_page_to_skb, &err);
}

/**
 * fal_sges_from_skb() - place a packet's payload as entries say
 * @qp:		queue pair
 * @pd:		of the entries
 * @sge:	entries of a receive request
 * @num_sge:	how many
 * @off:	of the first byte, in all entries
 * @len:	bytes
 * @skb:	packet
 * @skb_off:	where in it they are
 *
 * Return: IB_WC_SUCCESS, or why not; IB_WC_LOC_LEN_ERR: there is less room.
 */
enum ib_wc_status fal_sges_from_skb(struct fal_qp *qp, struct ib_pd *pd,
				    const struct falcon_sge *sge, u32 num_sge,
				    u32 off, u32 len, const struct sk_buff *skb,
				    u32 skb_off)
{
	int err;

	return fal_sges_apply(qp, pd, sge, num_sge, off, len,
			      IB_ACCESS_LOCAL_WRITE, (struct sk_buff *)skb,
			      skb_off, fal_page_from_skb, &err);
}

/**
 * fal_sges_from_buf() - place bytes as entries say
 * @qp:		queue pair
 * @pd:		of the entries
 * @sge:	entries of a receive request
 * @num_sge:	how many
 * @buf:	bytes for the beginning of what they make up
 * @len:	how many
 *
 * Return: IB_WC_SUCCESS, or why not.
 */
enum ib_wc_status fal_sges_from_buf(struct fal_qp *qp, struct ib_pd *pd,
				    const struct falcon_sge *sge, u32 num_sge,
				    void *buf, u32 len)
{
	int err;

	return fal_sges_apply(qp, pd, sge, num_sge, 0, len,
			      IB_ACCESS_LOCAL_WRITE, buf, 0, fal_page_from_buf,
			      &err);
}

/**
 * fal_mem_from_skb() - place a packet's payload at an address
 * @qp:		queue pair
 * @pd:		protection domain
 * @key:	of the region
 * @addr:	address
 * @len:	bytes
 * @access:	what the region must allow
 * @skb:	packet
 * @skb_off:	where in it they are
 *
 * Return: IB_WC_SUCCESS, or why not.
 */
enum ib_wc_status fal_mem_from_skb(struct fal_qp *qp, struct ib_pd *pd,
				   u32 key, u64 addr, u32 len, int access,
				   const struct sk_buff *skb, u32 skb_off)
{
	const struct falcon_sge sge = {
		.addr = addr, .length = len, .lkey = key,
	};
	int err;

	return fal_sges_apply(qp, pd, &sge, 1, 0, len, access,
			      (struct sk_buff *)skb, skb_off, fal_page_from_skb,
			      &err);
}

/**
 * fal_skb_alloc() - a packet with room for bytes to be copied in
 * @priv:	bytes at its head for the engine
 * @hdr:	bytes of headers
 * @bytes:	bytes behind them, pad included
 *
 * Context: any but hard interrupts.
 * Return: the packet, @hdr + @bytes long; NULL: no memory.
 */
struct sk_buff *fal_skb_alloc(unsigned int priv, unsigned int hdr,
			      unsigned int bytes)
{
	unsigned int linear = hdr, paged = bytes;
	struct sk_buff *skb;
	int err;

	if (bytes <= SKB_MAX_HEAD(priv + hdr)) {
		linear += bytes;
		paged = 0;
	}
	skb = alloc_skb_with_frags(priv + linear, paged, 0, &err,
				   GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, priv);
	__skb_put(skb, linear);
	skb->data_len = paged;
	skb->len += paged;
	return skb;
}

static void fal_skb_pad(struct sk_buff *skb, u8 pad)
{
	int n = skb_shinfo(skb)->nr_frags;

	if (!pad)
		return;
	get_page(ZERO_PAGE(0));
	skb_fill_page_desc(skb, n, ZERO_PAGE(0), 0, pad);
	skb->len += pad;
	skb->data_len += pad;
	skb->truesize += pad;
}

static struct sk_buff *fal_seg_skb_frags(struct fal_qp *qp, struct ib_pd *pd,
					 const struct falcon_sge *sge,
					 u32 num_sge, u32 off, u32 len,
					 int access, unsigned int priv,
					 const struct fal_hdr *h,
					 enum ib_wc_status *status, int *err)
{
	struct sk_buff *skb = fal_skb_alloc(priv, fal_hdr_len(h->op), 0);

	*status = IB_WC_SUCCESS;
	*err = -ENOMEM;
	if (!skb)
		return NULL;
	fal_hdr_build(h, skb->data);
	*status = fal_sges_apply(qp, pd, sge, num_sge, off, len, access, skb,
				 0, fal_page_to_frag, err);
	if (*status) {
		kfree_skb(skb);
		return NULL;
	}
	fal_skb_pad(skb, h->pad);
	/* The application may write while this is on its way. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	return skb;
}

/**
 * fal_seg_skb_copy() - a packet of headers and a copy of bytes of memory
 * @qp:		queue pair
 * @pd:		of the entries
 * @sge:	entries
 * @num_sge:	how many
 * @off:	of the first byte, in all entries
 * @len:	bytes
 * @access:	what the regions must allow
 * @priv:	bytes at the packet's head for the engine
 * @h:		headers; @h->pad fits @len
 * @status:	set to why there is no packet, IB_WC_SUCCESS: no memory now
 *
 * Context: any but hard interrupts.
 * Return: the packet, or NULL.
 */
struct sk_buff *fal_seg_skb_copy(struct fal_qp *qp, struct ib_pd *pd,
				 const struct falcon_sge *sge, u32 num_sge,
				 u32 off, u32 len, int access,
				 unsigned int priv, const struct fal_hdr *h,
				 enum ib_wc_status *status)
{
	unsigned int hdr = fal_hdr_len(h->op);
	static const u8 zero[3];
	struct sk_buff *skb;
	int err = 0;

	*status = IB_WC_SUCCESS;
	skb = fal_skb_alloc(priv, hdr, len + h->pad);
	if (!skb)
		return NULL;
	fal_hdr_build(h, skb->data);
	if (h->pad)
		err = skb_store_bits(skb, hdr + len, zero, h->pad);
	*status = err ? IB_WC_LOC_QP_OP_ERR :
		  fal_sges_apply(qp, pd, sge, num_sge, off, len, access, skb,
				 hdr, fal_page_to_skb, &err);
	if (*status) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

/**
 * fal_seg_skb() - a packet of headers and bytes of memory
 * @qp:		queue pair
 * @pd:		of the entries
 * @sge:	entries
 * @num_sge:	how many
 * @off:	of the first byte, in all entries
 * @len:	bytes
 * @access:	what the regions must allow
 * @priv:	bytes at the packet's head for the engine
 * @h:		headers; @h->pad fits @len
 * @status:	set to why there is no packet, IB_WC_SUCCESS: no memory now
 *
 * Context: any but hard interrupts.
 * Return: the packet, or NULL. It refers to the memory, or is a copy.
 */
struct sk_buff *fal_seg_skb(struct fal_qp *qp, struct ib_pd *pd,
			    const struct falcon_sge *sge, u32 num_sge,
			    u32 off, u32 len, int access, unsigned int priv,
			    const struct fal_hdr *h, enum ib_wc_status *status)
{
	struct sk_buff *skb;
	int err;

	if (len > FAL_COPY_MAX) {
		skb = fal_seg_skb_frags(qp, pd, sge, num_sge, off, len, access,
					priv, h, status, &err);
		if (skb || err != -EAGAIN)
			return skb;
	}
	return fal_seg_skb_copy(qp, pd, sge, num_sge, off, len, access, priv,
				h, status);
}

/**
 * fal_hdr_of_skb - take the headers of a packet that has come apart
 * @h:		written whole
 * @skb:	from the headers on
 *
 * Return: as fal_hdr_parse().
 */
int fal_hdr_of_skb(struct fal_hdr *h, const struct sk_buff *skb)
{
	unsigned int n = min_t(unsigned int, skb->len, FAL_HDR_MAX);
	u8 buf[FAL_HDR_MAX];

	return fal_hdr_parse(h, skb_header_pointer(skb, 0, n, buf), n,
			     skb->len);
}
