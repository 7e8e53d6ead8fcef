// SPDX-License-Identifier: GPL-2.0
/*
 * The memory behind regions: arrays of pages. Packets that leave refer to pages
 * by references of their own.
 */
#include <linux/mm.h>
#include <rdma/ib_umem.h>
#include "internal.h"

/**
 * fal_mem_free - let go of memory
 * @mem:	of a region that nobody accesses
 *
 * Context: process, may sleep.
 */
void fal_mem_free(struct fal_mem *mem)
{
	if (mem->umem)
		ib_umem_release(mem->umem);
	kvfree(mem);
}

/**
 * fal_mem_alloc - room for pages
 * @max_pages:	how many
 *
 * Context: process, may sleep.
 * Return: the memory, or NULL.
 */
struct fal_mem *fal_mem_alloc(u32 max_pages)
{
	struct fal_mem *mem;

	mem = kvzalloc(struct_size(mem, pages, max_pages), GFP_KERNEL_ACCOUNT);
	if (mem)
		mem->max_pages = max_pages;
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
 * Return: the memory, or a negative errno as a pointer.
 */
struct fal_mem *fal_mem_pin(struct fal_dev *dev, u64 start, u64 length,
			    int access)
{
	struct ib_umem *umem;
	struct fal_mem *mem;

	umem = ib_umem_get(&dev->ibdev, start, length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mem = fal_mem_alloc(ib_umem_num_pages(umem));
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
 * @seg:	found
 * @skip:	bytes from the start of the segment
 * @offset:	written: where in the page
 * @length:	written: bytes from there to the end of the page
 *
 * Context: any.
 * Return: the page, which lives until fal_seg_put(), and longer with a reference
 * of its own. Kernel memory may be of the slab, see sendpage_ok().
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
