// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions and windows: registration, the checks of an access, and what
 * the work requests REG_MR, LOCAL_INV and BIND_MW do.
 *
 * A key is 24 bits of index and eight bits that change. lkey and rkey are the
 * same number; a window has an rkey alone.
 */
#include <linux/random.h>
#include <rdma/ib_umem.h>
#include "internal.h"

#define FAL_KEY_INDEX(key)	((key) >> 8)
#define FAL_ACCESS_LOCAL	(IB_ACCESS_LOCAL_WRITE)
#define FAL_ACCESS_REMOTE	(IB_ACCESS_REMOTE_READ |		\
				 IB_ACCESS_REMOTE_WRITE |		\
				 IB_ACCESS_REMOTE_ATOMIC)
#define FAL_ACCESS_MR		(FAL_ACCESS_LOCAL | FAL_ACCESS_REMOTE |	\
				 IB_ACCESS_MW_BIND | IB_ZERO_BASED |	\
				 IB_ACCESS_RELAXED_ORDERING)
#define FAL_ACCESS_MW		(FAL_ACCESS_REMOTE | IB_ZERO_BASED)

static bool fal_is_window(const struct fal_mr *mr)
{
	return mr->type == FAL_MW_TYPE_1 || mr->type == FAL_MW_TYPE_2;
}

static void fal_mr_setup(struct fal_mr *mr, struct ib_pd *pd,
			 enum fal_mr_type type)
{
	spin_lock_init(&mr->lock);
	mr->dev = to_fal_dev(pd->device);
	mr->pd = pd;
	mr->type = type;
}

/* Gives it a key; from here on it can be found. */
static int fal_mr_publish(struct fal_mr *mr)
{
	u32 index;
	int err;

	err = xa_alloc_cyclic_irq(&mr->dev->mrs, &index, NULL,
				  XA_LIMIT(1, 0xffffff), &mr->dev->next_key,
				  GFP_KERNEL);
	if (err < 0)
		return err;
	mr->key = index << 8 | (get_random_u32() & 0xff);
	if (!fal_is_window(mr)) {
		mr->ibmr.lkey = mr->key;
		mr->ibmr.rkey = mr->key;
	}
	xa_store_irq(&mr->dev->mrs, index, mr, GFP_KERNEL);
	return 0;
}

static void fal_mr_hide(struct fal_mr *mr)
{
	xa_erase_irq(&mr->dev->mrs, FAL_KEY_INDEX(mr->key));
}

/*
 * Access
 */

static struct fal_mr *fal_mr_load(struct fal_dev *dev, u32 key)
{
	return xa_load(&dev->mrs, FAL_KEY_INDEX(key));
}

static bool fal_in_range(u64 start, u64 room, u64 addr, u32 length)
{
	return addr >= start && length <= room && addr - start <= room - length;
}

static void fal_mr_leave(struct fal_mr *mr)
{
	/* The access before the count; pairs with the acquire of fal_mr_shut(). */
	smp_mb__before_atomic();
	atomic_dec(&mr->users);
}

/* No access begins any more, and none is under way. */
static void fal_mr_shut(struct fal_mr *mr)
{
	WRITE_ONCE(mr->valid, false);
	/* Pairs with the barrier in fal_mr_find(): it sees this, or is seen. */
	smp_mb();
	while (atomic_read_acquire(&mr->users))
		cpu_relax();
}

static void fal_mr_open(struct fal_mr *mr)
{
	/* What it is like before that it can be accessed */
	smp_store_release(&mr->valid, true);
}

/* Offset in the region of an address in a window */
static bool fal_window_offset(const struct fal_mr *mw, struct fal_qp *qp,
			      u64 addr, u32 length, u64 *off)
{
	u64 base = mw->access & IB_ZERO_BASED ? 0 : mw->iova;

	if (mw->type == FAL_MW_TYPE_2 && mw->qpn != qp->ibqp.qp_num)
		return false;
	if (!fal_in_range(base, mw->length, addr, length))
		return false;
	*off = mw->start + (addr - base);
	return true;
}

/* Of a window the region cannot change while it is bound. */
static enum ib_wc_status fal_mr_access(const struct fal_mr *mr,
				       struct fal_qp *qp, u64 addr, u32 length,
				       struct fal_seg *seg)
{
	if (fal_is_window(mr)) {
		if (!fal_window_offset(mr, qp, addr, length, &seg->off))
			return IB_WC_REM_ACCESS_ERR;
		seg->mem = mr->region->mem;
		return IB_WC_SUCCESS;
	}
	seg->mem = mr->mem;
	if (mr->type == FAL_MR_DMA) {
		seg->off = addr;
		return IB_WC_SUCCESS;
	}
	if (!fal_in_range(mr->iova, mr->length, addr, length))
		return IB_WC_LOC_PROT_ERR;
	seg->off = addr - mr->iova;
	return IB_WC_SUCCESS;
}

static bool fal_mr_grants(const struct fal_mr *mr, const struct ib_pd *pd,
			  u32 key, int access)
{
	/* Pairs with fal_mr_open() */
	return smp_load_acquire(&mr->valid) && mr->key == key &&
	       mr->pd == pd && (mr->access & access) == access &&
	       (!fal_is_window(mr) || access & FAL_ACCESS_REMOTE);
}

/**
 * fal_mr_find - find memory by its key, and check an access to it
 * @qp:		queue pair that accesses it
 * @pd:		protection domain: of @qp, or of the XRC receive queue
 * @key:	lkey or rkey
 * @addr:	first byte
 * @length:	bytes
 * @access:	what must be granted: 0 for reading by an lkey,
 *		IB_ACCESS_LOCAL_WRITE for writing by one; of an rkey the bit of
 *		the operation
 * @seg:	written; after success for fal_seg_put(), soon: who ends the
 *		region spins until then
 *
 * Context: bottom halves off, until fal_seg_put().
 * Return: IB_WC_SUCCESS; an error that names it for an lkey. Of an rkey any is a
 * remote access error.
 */
enum ib_wc_status fal_mr_find(struct fal_qp *qp, struct ib_pd *pd, u32 key,
			      u64 addr, u32 length, int access,
			      struct fal_seg *seg)
{
	enum ib_wc_status status = IB_WC_LOC_PROT_ERR;
	struct fal_mr *mr;

	rcu_read_lock();
	mr = fal_mr_load(qp->dev, key);
	if (!mr)
		goto unlock;
	atomic_inc(&mr->users);
	/* Pairs with the barrier in fal_mr_shut() */
	smp_mb__after_atomic();
	if (fal_mr_grants(mr, pd, key, access))
		status = fal_mr_access(mr, qp, addr, length, seg);
	if (status)
		fal_mr_leave(mr);
	seg->mr = mr;
unlock:
	rcu_read_unlock();
	return status;
}

/**
 * fal_seg_put - an access is over
 * @seg:	of fal_mr_find()
 *
 * Context: any.
 */
void fal_seg_put(struct fal_seg *seg)
{
	fal_mr_leave(seg->mr);
}

/*
 * Regions
 */

static struct fal_mr *fal_mr_new(struct ib_pd *ibpd, enum fal_mr_type type)
{
	struct fal_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);

	if (mr)
		fal_mr_setup(mr, ibpd, type);
	return mr;
}

static struct ib_mr *fal_mr_made(struct fal_mr *mr)
{
	int err = fal_mr_publish(mr);

	if (!err)
		return &mr->ibmr;
	fal_mem_free(mr->mem);
	kfree(mr);
	return ERR_PTR(err);
}

/* ib_device_ops::get_dma_mr: all kernel memory */
struct ib_mr *fal_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct fal_mr *mr;

	if (access & ~FAL_ACCESS_MR)
		return ERR_PTR(-EOPNOTSUPP);
	mr = fal_mr_new(ibpd, FAL_MR_DMA);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->mem = fal_mem_alloc(0);
	if (!mr->mem) {
		kfree(mr);
		return ERR_PTR(-ENOMEM);
	}
	mr->mem->kernel = true;
	mr->access = access;
	mr->length = U64_MAX;
	mr->valid = true;
	return fal_mr_made(mr);
}

/* ib_device_ops::reg_user_mr */
struct ib_mr *fal_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
			      u64 iova, int access, struct ib_udata *udata)
{
	struct fal_mem *mem;
	struct fal_mr *mr;

	if (access & ~(FAL_ACCESS_MR | IB_ACCESS_OPTIONAL))
		return ERR_PTR(-EOPNOTSUPP);
	mr = fal_mr_new(ibpd, FAL_MR_USER);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mem = fal_mem_pin(mr->dev, start, length, access);
	if (IS_ERR(mem)) {
		kfree(mr);
		return ERR_CAST(mem);
	}
	mr->mem = mem;
	mr->access = access;
	mr->iova = iova;
	mr->length = length;
	mr->valid = true;
	mr->ibmr.length = length;
	mr->ibmr.iova = iova;
	return fal_mr_made(mr);
}

static void fal_mr_change(struct fal_mr *mr, int flags, struct fal_mem *mem,
			  u64 iova, u64 length, int access, struct ib_pd *pd)
{
	lockdep_assert_held(&mr->lock);

	fal_mr_shut(mr);
	if (flags & IB_MR_REREG_TRANS) {
		mr->mem = mem;
		mr->iova = iova;
		mr->length = length;
		mr->ibmr.iova = iova;
		mr->ibmr.length = length;
	}
	if (flags & IB_MR_REREG_PD)
		mr->pd = pd;
	mr->access = access;
	fal_mr_open(mr);
}

/*
 * ib_device_ops::rereg_user_mr: in place, whichever of the three changes. The
 * key stays; an access at the same time may find nothing there.
 */
struct ib_mr *fal_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				u64 length, u64 iova, int access,
				struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct fal_mr *mr = to_fal_mr(ibmr);
	struct fal_mem *mem = mr->mem, *old = mr->mem;
	int pin_access = flags & IB_MR_REREG_ACCESS ? access : mr->access;
	bool busy;

	if (flags & ~IB_MR_REREG_SUPPORTED ||
	    pin_access & ~(FAL_ACCESS_MR | IB_ACCESS_OPTIONAL))
		return ERR_PTR(-EOPNOTSUPP);
	/* Pages pinned for reading cannot become writable as they are. */
	if (!(flags & IB_MR_REREG_TRANS) && ib_access_writable(pin_access) &&
	    !mr->mem->umem->writable)
		return ERR_PTR(-EOPNOTSUPP);
	if (flags & IB_MR_REREG_TRANS) {
		mem = fal_mem_pin(mr->dev, start, length, pin_access);
		if (IS_ERR(mem))
			return ERR_CAST(mem);
	}
	spin_lock_bh(&mr->lock);
	busy = mr->windows;
	if (!busy)
		fal_mr_change(mr, flags, mem, iova, length, pin_access, ibpd);
	spin_unlock_bh(&mr->lock);
	if (mem != old)
		fal_mem_free(busy ? mem : old);
	return busy ? ERR_PTR(-EBUSY) : NULL;
}

/* ib_device_ops::dereg_mr: not while windows are bound to it */
int fal_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct fal_mr *mr = to_fal_mr(ibmr);
	bool busy;

	spin_lock_bh(&mr->lock);
	busy = mr->windows;
	if (!busy)
		fal_mr_shut(mr);
	spin_unlock_bh(&mr->lock);
	if (busy)
		return -EBUSY;
	fal_mr_hide(mr);
	fal_mem_free(mr->mem);
	kfree_rcu(mr, rcu);
	return 0;
}

/*
 * Fast registration
 */

/* ib_device_ops::alloc_mr */
struct ib_mr *fal_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
			   u32 max_sg)
{
	struct fal_mr *mr;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_sg || max_sg > FAL_MAX_FRWR_PAGES)
		return ERR_PTR(-EINVAL);
	mr = fal_mr_new(ibpd, FAL_MR_FAST);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->mem = fal_mem_alloc(max_sg);
	if (!mr->mem) {
		kfree(mr);
		return ERR_PTR(-ENOMEM);
	}
	return fal_mr_made(mr);
}

/* "DMA addresses" of a device without DMA are kernel addresses. */
static int fal_mr_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct fal_mem *mem = to_fal_mr(ibmr)->mem;

	if (mem->nr_pages == mem->max_pages)
		return -ENOMEM;
	mem->pages[mem->nr_pages++] = virt_to_page((void *)(uintptr_t)addr);
	return 0;
}

/* ib_device_ops::map_mr_sg. Whatever it was registered for before is over. */
int fal_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		  unsigned int *offset)
{
	struct fal_mr *mr = to_fal_mr(ibmr);

	if (ibmr->page_size != PAGE_SIZE)
		return -EINVAL;
	spin_lock_bh(&mr->lock);
	fal_mr_shut(mr);
	spin_unlock_bh(&mr->lock);
	mr->mem->nr_pages = 0;
	return ib_sg_to_pages(ibmr, sg, nents, offset, fal_mr_set_page);
}

/**
 * fal_mr_register - execute IB_WR_REG_MR
 * @qp:		queue pair
 * @wqe:	request
 *
 * Context: process or softirq.
 * Return: status of its completion.
 */
enum ib_wc_status fal_mr_register(struct fal_qp *qp, struct fal_swqe *wqe)
{
	enum ib_wc_status status = IB_WC_MW_BIND_ERR;
	struct fal_mr *mr = wqe->mr;

	spin_lock_bh(&mr->lock);
	if (mr->type == FAL_MR_FAST && !mr->valid && mr->pd == qp->ibqp.pd &&
	    FAL_KEY_INDEX(wqe->reg_key) == FAL_KEY_INDEX(mr->key)) {
		mr->key = wqe->reg_key;
		mr->access = wqe->reg_access;
		mr->iova = mr->ibmr.iova;
		mr->length = mr->ibmr.length;
		mr->mem->offset = offset_in_page(mr->iova);
		fal_mr_open(mr);
		status = IB_WC_SUCCESS;
	}
	spin_unlock_bh(&mr->lock);
	return status;
}

/*
 * Windows
 */

/* ib_device_ops::alloc_mw; the core has set device, pd, type */
int fal_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct fal_mr *mw;
	int err;

	mw = fal_mr_new(ibmw->pd, ibmw->type == IB_MW_TYPE_1 ? FAL_MW_TYPE_1 :
							       FAL_MW_TYPE_2);
	if (!mw)
		return -ENOMEM;
	err = fal_mr_publish(mw);
	if (err) {
		kfree(mw);
		return err;
	}
	ibmw->rkey = mw->key;
	to_fal_mw(ibmw)->mr = mw;
	return 0;
}

static void fal_mw_unbind(struct fal_mr *mw)
{
	struct fal_mr *region = mw->region;

	lockdep_assert_held(&mw->lock);

	fal_mr_shut(mw);
	mw->region = NULL;
	if (!region)
		return;
	spin_lock_nested(&region->lock, SINGLE_DEPTH_NESTING);
	region->windows--;
	spin_unlock(&region->lock);
}

/* ib_device_ops::dealloc_mw; the core frees struct fal_mw after it */
int fal_dealloc_mw(struct ib_mw *ibmw)
{
	struct fal_mr *mw = to_fal_mw(ibmw)->mr;

	fal_mr_hide(mw);
	spin_lock_bh(&mw->lock);
	fal_mw_unbind(mw);
	/* Of no domain: whoever has found it before does not bind it now. */
	mw->pd = NULL;
	spin_unlock_bh(&mw->lock);
	kfree_rcu(mw, rcu);
	return 0;
}

/* Takes hold of the region of a window to be; what it grants must cover. */
static bool fal_mw_hold_region(struct fal_qp *qp, struct fal_mr *region,
			       const struct falcon_send_wqe *w)
{
	bool writes = w->bind_access & (IB_ACCESS_REMOTE_WRITE |
					IB_ACCESS_REMOTE_ATOMIC);
	bool ok;

	spin_lock_nested(&region->lock, SINGLE_DEPTH_NESTING);
	ok = region->valid && region->type == FAL_MR_USER &&
	     region->key == w->bind_mr && region->pd == qp->ibqp.pd &&
	     region->access & IB_ACCESS_MW_BIND &&
	     (!writes || region->access & IB_ACCESS_LOCAL_WRITE) &&
	     w->bind_addr >= region->iova &&
	     w->bind_length <= region->length &&
	     w->bind_addr - region->iova <= region->length - w->bind_length;
	if (ok)
		region->windows++;
	spin_unlock(&region->lock);
	return ok;
}

static bool fal_mw_may_bind(struct fal_qp *qp, const struct fal_mr *mw,
			    const struct falcon_send_wqe *w)
{
	if (!fal_is_window(mw) || mw->pd != qp->ibqp.pd ||
	    w->bind_access & ~FAL_ACCESS_MR)
		return false;
	/* User space takes each binding of type 1 that it posts for done. */
	if (mw->type == FAL_MW_TYPE_2 && mw->key != w->bind_mw)
		return false;
	if (FAL_KEY_INDEX(w->bind_rkey) != FAL_KEY_INDEX(mw->key))
		return false;
	/* Type 2 is bound once, and freed by invalidation. */
	if (mw->type == FAL_MW_TYPE_2)
		return !mw->valid && w->bind_length;
	return true;
}

static bool fal_mw_bind_locked(struct fal_qp *qp, struct fal_mr *mw,
			       const struct falcon_send_wqe *w)
{
	struct fal_mr *region = NULL;

	lockdep_assert_held(&mw->lock);

	if (!fal_mw_may_bind(qp, mw, w))
		return false;
	if (w->bind_length) {
		region = fal_mr_load(qp->dev, w->bind_mr);
		if (!region || region == mw || fal_is_window(region) ||
		    !fal_mw_hold_region(qp, region, w))
			return false;
	}
	fal_mw_unbind(mw);
	mw->key = w->bind_rkey;
	mw->access = w->bind_access & FAL_ACCESS_MW;
	mw->iova = w->bind_addr;
	mw->length = w->bind_length;
	mw->start = region ? w->bind_addr - region->iova : 0;
	mw->region = region;
	mw->qpn = qp->ibqp.qp_num;
	if (region)
		fal_mr_open(mw);
	return true;
}

/**
 * fal_mw_bind - execute IB_WR_BIND_MW
 * @qp:		queue pair
 * @wqe:	request
 *
 * Context: process or softirq.
 * Return: status of its completion.
 */
enum ib_wc_status fal_mw_bind(struct fal_qp *qp, struct fal_swqe *wqe)
{
	struct fal_mr *mw;
	bool ok = false;

	rcu_read_lock();
	mw = fal_mr_load(qp->dev, wqe->w.bind_mw);
	if (mw) {
		spin_lock_bh(&mw->lock);
		ok = fal_mw_bind_locked(qp, mw, &wqe->w);
		spin_unlock_bh(&mw->lock);
	}
	rcu_read_unlock();
	return ok ? IB_WC_SUCCESS : IB_WC_MW_BIND_ERR;
}

static bool fal_mr_may_invalidate(struct fal_qp *qp, const struct ib_pd *pd,
				  const struct fal_mr *mr, u32 key, bool remote)
{
	if (mr->key != key || mr->pd != pd)
		return false;
	if (mr->type == FAL_MW_TYPE_2)
		return mr->valid && mr->qpn == qp->ibqp.qp_num;
	/* A peer may end what it was given access to. */
	return mr->type == FAL_MR_FAST &&
	       (!remote || mr->access & FAL_ACCESS_REMOTE);
}

/**
 * fal_mr_invalidate - execute IB_WR_LOCAL_INV, or a peer's SEND with Invalidate
 * @qp:		queue pair
 * @pd:		protection domain of the request: the queue pair's own or, in a
 *		target of XRC, that of the receive queue
 * @key:	of a fast registration or a window of type 2
 * @remote:	the peer asks for it
 *
 * Context: process or softirq.
 * Return: IB_WC_SUCCESS, or IB_WC_MW_BIND_ERR.
 */
enum ib_wc_status fal_mr_invalidate(struct fal_qp *qp, const struct ib_pd *pd,
				    u32 key, bool remote)
{
	struct fal_mr *mr;
	bool ok = false;

	rcu_read_lock();
	mr = fal_mr_load(qp->dev, key);
	if (mr) {
		spin_lock_bh(&mr->lock);
		ok = fal_mr_may_invalidate(qp, pd, mr, key, remote);
		if (ok && fal_is_window(mr))
			fal_mw_unbind(mr);
		else if (ok)
			fal_mr_shut(mr);
		spin_unlock_bh(&mr->lock);
	}
	rcu_read_unlock();
	return ok ? IB_WC_SUCCESS : IB_WC_MW_BIND_ERR;
}
