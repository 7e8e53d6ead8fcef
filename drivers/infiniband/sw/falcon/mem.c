// SPDX-License-Identifier: GPL-2.0
/*
 * The memory behind regions: arrays of pages. Whoever sends from it or receives
 * into it holds a reference, so a region can go at any time; the last one to let
 * go may be a softirq, and what must sleep is done by a worker.
 */
#include <linux/mm.h>
#include <rdma/ib_umem.h>
#include "internal.h"

static struct workqueue_struct *fal_mem_wq;

static void fal_mem_free(struct work_struct *work)
{
	struct fal_mem *mem = container_of(work, struct fal_mem, work);
	struct fal_dev *dev = mem->dev;

	if (mem->umem)
		ib_umem_release(mem->umem);
	kvfree(mem);
	if (atomic_dec_and_test(&dev->mems))
		wake_up(&dev->no_mems);
}

/**
 * fal_mem_put - let go of memory
 * @mem:	held
 *
 * Context: any.
 */
void fal_mem_put(struct fal_mem *mem)
{
	if (refcount_dec_and_test(&mem->refs))
		queue_work(fal_mem_wq, &mem->work);
}

/**
 * fal_mem_alloc - room for pages
 * @dev:	device, which waits for it when it goes
 * @max_pages:	how many
 *
 * Context: process, may sleep.
 * Return: the memory, with one reference; NULL.
 */
struct fal_mem *fal_mem_alloc(struct fal_dev *dev, u32 max_pages)
{
	struct fal_mem *mem;

	mem = kvzalloc(struct_size(mem, pages, max_pages), GFP_KERNEL_ACCOUNT);
	if (!mem)
		return NULL;
	refcount_set(&mem->refs, 1);
	INIT_WORK(&mem->work, fal_mem_free);
	mem->dev = dev;
	mem->max_pages = max_pages;
	atomic_inc(&dev->mems);
	return mem;
}

static void fal_mem_collect(struct fal_mem *mem)
{
	struct sg_page_iter it;

	for_each_sgtable_page(&mem->umem->sgt_append.sgt, &it, 0)
		if (!WARN_ON_ONCE(mem->nr_pages == mem->max_pages))
			mem->pages[mem->nr_pages++] = sg_page_iter_page(&it);
}

/**
 * fal_mem_pin - pin user memory
 * @dev:	device
 * @start:	address in the current process
 * @length:	bytes
 * @access:	enum ib_access_flags
 *
 * Context: process, may sleep.
 * Return: the memory, with one reference; or a negative errno as a pointer.
 */
struct fal_mem *fal_mem_pin(struct fal_dev *dev, u64 start, u64 length,
			    int access)
{
	struct ib_umem *umem;
	struct fal_mem *mem;

	umem = ib_umem_get(&dev->ibdev, start, length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mem = fal_mem_alloc(dev, ib_umem_num_pages(umem));
	if (!mem) {
		ib_umem_release(umem);
		return ERR_PTR(-ENOMEM);
	}
	mem->umem = umem;
	mem->offset = ib_umem_offset(umem);
	fal_mem_collect(mem);
	return mem;
}

/**
 * fal_seg_page - a page of a segment
 * @seg:	held
 * @skip:	bytes from the start of the segment
 * @offset:	written: where in the page
 * @length:	written: bytes from there to the end of the page
 *
 * Context: any.
 * Return: the page, which lives as long as the segment is held, and longer with
 * a reference of its own. Kernel memory may be of the slab, see sendpage_ok().
 */
struct page *fal_seg_page(const struct fal_seg *seg, u32 skip,
			  unsigned int *offset, unsigned int *length)
{
	const struct fal_mem *mem = seg->mem;
	u64 at = seg->off + skip + mem->offset;
	const void *addr = (const void *)(uintptr_t)at;

	*offset = offset_in_page(at);
	*length = PAGE_SIZE - *offset;
	if (!mem->kernel)
		return mem->pages[at >> PAGE_SHIFT];
	return is_vmalloc_addr(addr) ? vmalloc_to_page(addr) :
				       virt_to_page(addr);
}

/**
 * fal_seg_hold - hold a segment once more
 * @seg:	held
 *
 * Context: any.
 */
void fal_seg_hold(const struct fal_seg *seg)
{
	refcount_inc(&seg->mem->refs);
}

/**
 * fal_seg_put - let go of a segment
 * @seg:	held, or put before
 *
 * Context: any.
 */
void fal_seg_put(struct fal_seg *seg)
{
	if (seg->mem)
		fal_mem_put(seg->mem);
	seg->mem = NULL;
}

/**
 * fal_mem_init - as the module is loaded
 *
 * Return: 0, -ENOMEM.
 */
int fal_mem_init(void)
{
	fal_mem_wq = alloc_workqueue("falcon_ib_mem", WQ_UNBOUND, 0);
	return fal_mem_wq ? 0 : -ENOMEM;
}

/**
 * fal_mem_exit - as the module is unloaded, after all devices
 */
void fal_mem_exit(void)
{
	destroy_workqueue(fal_mem_wq);
}
