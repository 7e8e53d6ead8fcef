// SPDX-License-Identifier: GPL-2.0
/*
 * A datagram to each of many addresses, one after another: whoever sends them
 * learns nothing of what becomes of them. And many to one that does not answer.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "verbs.h"

#define FLOOD	200	/* more than a peer may owe */

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

static bool post_to(struct vqp *v, struct ibv_ah *ah)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = 2,
			   .remote_qkey = VQP_QKEY },
	};

	return !ibv_post_send(v->qp, &wr, &bad);
}

static bool send_to(struct vqp *v, uint32_t addr)
{
	struct ibv_ah *ah = ah_of(addr);
	struct ibv_wc wc;

	CHECK(ah && post_to(v, ah));
	CHECK(vqp_poll(v->cq, &wc, 60) == 1 && wc.status == IBV_WC_SUCCESS);
	CHECK(!ibv_destroy_ah(ah));
	return true;
}

/* Many to one, and behind them one to the other: how long does that wait? */
static bool flood(struct vqp *v, struct ibv_ah *silent, struct ibv_ah *other)
{
	struct timespec begin, end;
	struct ibv_wc wc;
	long ms;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (i = 0; i <= FLOOD; i++)
		CHECK(post_to(v, i < FLOOD ? silent : other));
	for (i = 0; i <= FLOOD; i++)
		CHECK(vqp_poll(v->cq, &wc, 60) == 1 && !wc.status);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ms = (end.tv_sec - begin.tv_sec) * 1000 +
	     (end.tv_nsec - begin.tv_nsec) / 1000000;
	vsay("%ld ms", ms);
	CHECK(ms < 1500);
	return true;
}

/* Once something comes in, @silent is one that does not answer. */
int flood_main(const char *silent, const char *other)
{
	struct ibv_ah *to_silent, *to_other;
	struct in_addr a, b;
	struct vqp v;

	vqp_depth = FLOOD + 1;
	if (!inet_aton(silent, &a) || !inet_aton(other, &b) ||
	    !vqp_open(&v, IBV_QPT_UD, 8) || !vqp_ud_to_rts(v.qp) ||
	    !send_to(&v, ntohl(a.s_addr)) || !send_to(&v, ntohl(b.s_addr)))
		return 1;
	printf("ready\n");
	fflush(stdout);
	getchar();
	to_silent = ah_of(ntohl(a.s_addr));
	to_other = ah_of(ntohl(b.s_addr));
	if (!to_silent || !to_other || !flood(&v, to_silent, to_other))
		return 1;
	ibv_destroy_ah(to_silent);
	ibv_destroy_ah(to_other);
	vqp_close(&v);
	return 0;
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
