// SPDX-License-Identifier: GPL-2.0
/*
 * A datagram to each of many addresses, one after another: whoever sends them
 * learns nothing of what becomes of them.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "verbs.h"

static struct ibv_ah *ah_of(uint32_t addr)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .sgid_index = vgid, .hop_limit = 64 },
	};

	/* ::ffff:ADDR */
	memset(attr.grh.dgid.raw + 10, 0xff, 2);
	addr = htonl(addr);
	memcpy(attr.grh.dgid.raw + 12, &addr, sizeof(addr));
	return ibv_create_ah(vpd, &attr);
}

static bool send_to(struct vqp *v, uint32_t addr)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;

	wr.wr.ud.ah = ah_of(addr);
	wr.wr.ud.remote_qpn = 2;
	wr.wr.ud.remote_qkey = VQP_QKEY;
	CHECK(wr.wr.ud.ah);
	CHECK(!ibv_post_send(v->qp, &wr, &bad));
	CHECK(vqp_poll(v->cq, &wc, 60) == 1 && wc.status == IBV_WC_SUCCESS);
	CHECK(!ibv_destroy_ah(wr.wr.ud.ah));
	return true;
}

/* @n addresses of IPv4 from @first on */
int datagrams_main(const char *first, const char *n)
{
	unsigned long i, end = strtoul(n, NULL, 0);
	struct in_addr addr;
	struct vqp v;

	if (!inet_aton(first, &addr) || !vqp_open(&v, IBV_QPT_UD, 8) ||
	    !vqp_ud_to_rts(v.qp))
		return 1;
	for (i = 0; i < end; i++)
		if (!send_to(&v, ntohl(addr.s_addr) + i))
			return 1;
	vqp_close(&v);
	return 0;
}
