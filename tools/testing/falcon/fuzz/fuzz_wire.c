// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a Falcon packet (section 7). Nothing beyond them is read; what
 * is accepted has no bit that the parser did not understand, so building it
 * again gives the same header; and an accepted packet cut by one byte of its
 * header is refused.
 */
#include <net/falcon/core/core.h>
#include <net/falcon/core/wire.h>

#include "fuzz.h"

static void check_fields(const struct falcon_pkt_info *pi, size_t len)
{
	HOLDS(pi->hdr_len <= FALCON_MAX_HDR_LEN);
	HOLDS(pi->hdr_len + pi->len == len);
	HOLDS(pi->cid <= FALCON_CID_MASK);
	HOLDS(pi->fn <= 0xffffff);
	HOLDS(pi->hops < 16 && pi->rx_level < 32 && pi->ecn < 1 << 14);
	HOLDS(pi->cc_metadata <= 0xffffff && pi->own < 4);
	HOLDS(pi->rnr_timeout < 32 && pi->nack_win < FALCON_NR_WIN);
}

int fuzz_one_input(const u8 *data, size_t len)
{
	struct falcon_pkt_info pi, again;
	u8 hdr[FALCON_MAX_HDR_LEN];
	int err = falcon_wire_parse(data, len, &pi);

	HOLDS(err <= 0 && err > -FALCON_NR_WIRE_ERR);
	HOLDS(*falcon_wire_err_name(-err));
	if (err)
		return 0;

	check_fields(&pi, len);
	HOLDS(falcon_wire_build(&pi, hdr) == pi.hdr_len);
	HOLDS(!memcmp(hdr, data, pi.hdr_len));
	HOLDS(!falcon_wire_parse(hdr, len, &again));
	HOLDS(!memcmp(&pi, &again, pi.type == FALCON_PKT_EACK ? sizeof(pi) :
		      offsetof(struct falcon_pkt_info, data_ack)));
	/* Of a wide EACK an ordinary one is left, with bytes after it. */
	HOLDS(falcon_wire_parse(hdr, pi.hdr_len - 1, &again) ==
	      (pi.win_shift ? -FALCON_BAD_LENGTH : -FALCON_BAD_SHORT));
	return 0;
}
