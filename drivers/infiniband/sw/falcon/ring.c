// SPDX-License-Identifier: GPL-2.0
/*
 * Rings (falcon-abi.h): their memory, and how user space maps it.
 *
 * A mapping holds references to the pages, so the memory of a ring outlives its
 * object in a process that unmaps late, and nothing needs to be taken away from
 * a process whose device goes.
 */
#include <linux/vmalloc.h>
#include "internal.h"

struct fal_mmap_entry {
	struct rdma_user_mmap_entry entry;
	void *memory;
};

static int fal_ring_offer(struct fal_ring *ring, struct ib_udata *udata)
{
	struct fal_ucontext *uc = rdma_udata_to_drv_context(udata,
					struct fal_ucontext, ibuc);
	struct fal_mmap_entry *e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	int err;

	if (!e)
		return -ENOMEM;
	e->memory = ring->hdr;
	err = rdma_user_mmap_entry_insert(&uc->ibuc, &e->entry, ring->length);
	if (err) {
		kfree(e);
		return err;
	}
	ring->entry = &e->entry;
	return 0;
}

/**
 * fal_ring_alloc - make a ring
 * @ring:	written
 * @slots:	a power of two
 * @stride:	bytes from slot to slot
 * @udata:	of the user that maps it, or NULL
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM.
 */
int fal_ring_alloc(struct fal_ring *ring, u32 slots, u32 stride,
		   struct ib_udata *udata)
{
	u64 length = PAGE_ALIGN(FALCON_RING_SLOTS + (u64)slots * stride);
	int err = 0;

	if (length > INT_MAX)
		return -ENOMEM;
	memset(ring, 0, sizeof(*ring));
	ring->mask = slots - 1;
	ring->stride = stride;
	ring->length = length;
	ring->hdr = __vmalloc(length, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!ring->hdr)
		return -ENOMEM;
	if (udata)
		err = fal_ring_offer(ring, udata);
	if (err) {
		vfree(ring->hdr);
		ring->hdr = NULL;
	}
	return err;
}

/**
 * fal_ring_free - let go of a ring
 * @ring:	that nobody in the kernel uses any more; may never have been made
 *
 * Context: process, may sleep.
 */
void fal_ring_free(struct fal_ring *ring)
{
	if (ring->entry)
		rdma_user_mmap_entry_remove(ring->entry);
	else
		vfree(ring->hdr);
	ring->entry = NULL;
	ring->hdr = NULL;
}

/**
 * fal_ring_tell - describe a ring to user space
 * @ring:	one that was made for user space, or never
 * @resp:	written; all zero if there is none
 */
void fal_ring_tell(const struct fal_ring *ring, struct falcon_ring *resp)
{
	memset(resp, 0, sizeof(*resp));
	if (!ring->entry)
		return;
	resp->offset = rdma_user_mmap_get_offset(ring->entry);
	resp->length = ring->length;
	resp->size = ring->mask + 1;
	resp->stride = ring->stride;
}

/* Not remap_vmalloc_range(): what vmalloc_user() gives is on nobody's account. */
static int fal_ring_map(struct vm_area_struct *vma, const void *memory)
{
	unsigned long at;
	int err = 0;

	fal_vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (at = vma->vm_start; at < vma->vm_end && !err; at += PAGE_SIZE) {
		err = vm_insert_page(vma, at, vmalloc_to_page(memory));
		memory += PAGE_SIZE;
	}
	return err;
}

/* ib_device_ops::mmap */
int fal_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct fal_mmap_entry *e;
	int err;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	entry = rdma_user_mmap_entry_get(ibuc, vma);
	if (!entry)
		return -EINVAL;
	e = container_of(entry, struct fal_mmap_entry, entry);
	err = fal_ring_map(vma, e->memory);
	rdma_user_mmap_entry_put(entry);
	return err;
}

/* ib_device_ops::mmap_free */
void fal_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct fal_mmap_entry *e = container_of(entry, struct fal_mmap_entry,
						entry);

	vfree(e->memory);
	kfree(e);
}
