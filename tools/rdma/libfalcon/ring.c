// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Mapping of the rings that the kernel made.
 */
#include <errno.h>
#include <sys/mman.h>
#include "falcon.h"

/*
 * 0, or an errno. A ring of no slots is none. The memory is not for children:
 * a fork()ed process must not post to its parent's queues.
 */
int fal_ring_map(struct fal_ring *ring, const struct falcon_ring *where, int fd)
{
	void *map;

	ring->hdr = NULL;
	if (!where->size)
		return 0;
	map = mmap(NULL, where->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   where->offset);
	if (map == MAP_FAILED)
		return errno;
	madvise(map, where->length, MADV_DONTFORK);
	ring->hdr = map;
	ring->length = where->length;
	ring->mask = where->size - 1;
	ring->stride = where->stride;
	return 0;
}

void fal_ring_unmap(struct fal_ring *ring)
{
	if (ring->hdr)
		munmap(ring->hdr, ring->length);
	ring->hdr = NULL;
}
