/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet acceptance checks (9.2.2): pure functions, called before any state of
 * a connection moves, and the one that moves Remote Time when all have passed.
 * Any context, no locks.
 */
#ifndef _FALCON_CORE_ACCEPT_H
#define _FALCON_CORE_ACCEPT_H

#include <linux/types.h>
#include "core.h"

/**
 * struct falcon_spi_state - what the SPI check compares with (9.2.2.3)
 * @cur_spi:	SPI of the receiving SA; 0: not configured
 * @prev_spi:	SPI before the last key rotation; equals @cur_spi or is 0 if
 *		there was none or its time is over
 * @cur_gen:	generation of @cur_spi
 * @pcid:	PCID expected in the virtualization cookie
 */
struct falcon_spi_state {
	u32 cur_spi;
	u32 prev_spi;
	u32 cur_gen;
	u64 pcid;
};

/**
 * struct falcon_spi_global - the same for all connections of a device
 * @cur_gen:	generation of the device key in use
 * @allow_prev_gen: packets under the one before are still accepted
 * @pcid_match:	PCID Match Enable
 */
struct falcon_spi_global {
	u32 cur_gen;
	bool allow_prev_gen;
	bool pcid_match;
};

bool falcon_accept_spi(const struct falcon_spi_state *conn,
		       const struct falcon_spi_global *global,
		       u32 spi, u64 cookie);
bool falcon_accept_time(u64 remote_time, u64 margin_ps, u64 iv);
void falcon_accept_commit(u64 *remote_time, u64 iv);

/* What the sliding window check finds (9.2.2.4). */
enum falcon_accept {
	FALCON_ACCEPT_NEW,	/* to be delivered */
	FALCON_ACCEPT_OLD,	/* before the window: duplicate */
	FALCON_ACCEPT_ACKED,	/* inside, acknowledged: duplicate */
	FALCON_ACCEPT_RECEIVED,	/* inside, received, not acknowledged */
	FALCON_ACCEPT_BEYOND,	/* after the window: sets OWN */
};

enum falcon_accept falcon_accept_psn(const struct falcon_rxwin *w, u32 psn);

#endif /* _FALCON_CORE_ACCEPT_H */
