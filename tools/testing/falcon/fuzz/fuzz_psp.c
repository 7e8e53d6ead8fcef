// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a PSP packet, and what it carries, as the receive path takes
 * them apart when there is no ICV to check first (version 15): PSP header,
 * Falcon header, in one buffer. What is accepted builds the same bytes again.
 */
#include <net/falcon/core/core.h>
#include <net/falcon/core/wire.h>

#include "fuzz.h"

#define PSP_LEN	sizeof(struct falcon_psp_hdr)

int fuzz_one_input(const u8 *data, size_t len)
{
	struct falcon_psp_info psp;
	struct falcon_pkt_info pi;
	u8 hdr[FALCON_MAX_HDR_LEN];
	unsigned int icv;
	int err = falcon_psp_parse(data, len, &psp);

	HOLDS(err <= 0 && err > -FALCON_NR_WIRE_ERR);
	if (err)
		return 0;

	HOLDS(falcon_psp_build(&psp, hdr) == PSP_LEN);
	HOLDS(!memcmp(hdr, data, PSP_LEN));

	icv = falcon_psp_icv_len(psp.version);
	HOLDS(len >= PSP_LEN + 4 + icv);
	if (falcon_wire_parse(data + PSP_LEN, len - PSP_LEN - icv, &pi))
		return 0;
	HOLDS(falcon_wire_build(&pi, hdr) == pi.hdr_len);
	HOLDS(!memcmp(hdr, data + PSP_LEN, pi.hdr_len));
	return 0;
}
