// SPDX-License-Identifier: GPL-2.0
/*
 * A datagram to each of many addresses, one after another: whoever sends them
 * learns nothing of what becomes of them. One from each of many addresses, and
 * many to one that does not answer.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "verbs.h"

#define FLOOD	200	/* more than a peer may owe */

/* An address, of IPv4 as ::ffff:ADDRESS */
static bool parse(const char *text, struct in6_addr *addr)
{
	char mapped[INET6_ADDRSTRLEN];

	if (inet_pton(AF_INET6, text, addr) == 1)
		return true;
	snprintf(mapped, sizeof(mapped), "::ffff:%s", text);
	return inet_pton(AF_INET6, mapped, addr) == 1;
}

static void next(struct in6_addr *addr)
{
	addr->s6_addr32[3] = htonl(ntohl(addr->s6_addr32[3]) + 1);
}

static struct ibv_ah *ah_of(const struct in6_addr *addr)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .sgid_index = vgid, .hop_limit = 64 },
	};

	memcpy(attr.grh.dgid.raw, addr, sizeof(*addr));
	return ibv_create_ah(vpd, &attr);
}

/* Of each datagram */
static uint32_t length;

static bool post_to(struct vqp *v, struct ibv_ah *ah)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)v->buf, .length = length,
		.lkey = v->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
		.wr.ud = { .ah = ah, .remote_qpn = 2,
			   .remote_qkey = VQP_QKEY },
	};

	return !ibv_post_send(v->qp, &wr, &bad);
}

static bool send_to(struct vqp *v, const struct in6_addr *addr)
{
	struct ibv_ah *ah = ah_of(addr);
	struct ibv_wc wc;

	CHECK(ah && post_to(v, ah));
	CHECK(vqp_poll(v->cq, &wc, 60) == 1 && wc.status == IBV_WC_SUCCESS);
	CHECK(!ibv_destroy_ah(ah));
	return true;
}

/* To one, from each address that this port has in a network */
int sources_main(const char *network, const char *to)
{
	struct ibv_port_attr port;
	struct in6_addr net, addr;
	union ibv_gid gid;
	struct vqp v;

	if (!parse(network, &net) || !parse(to, &addr) ||
	    ibv_query_port(vctx, 1, &port) || !vqp_open(&v, IBV_QPT_UD, 8) ||
	    !vqp_ud_to_rts(v.qp))
		return 1;
	for (vgid = 0; vgid < port.gid_tbl_len; vgid++)
		if (!ibv_query_gid(vctx, 1, vgid, &gid) &&
		    !memcmp(&gid, &net, 8) && !send_to(&v, &addr))
			return 1;
	vqp_close(&v);
	return 0;
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
	struct in6_addr a, b;
	struct vqp v;

	vqp_depth = FLOOD + 1;
	if (!parse(silent, &a) || !parse(other, &b) ||
	    !vqp_open(&v, IBV_QPT_UD, 8) || !vqp_ud_to_rts(v.qp) ||
	    !send_to(&v, &a) || !send_to(&v, &b))
		return 1;
	printf("ready\n");
	fflush(stdout);
	getchar();
	to_silent = ah_of(&a);
	to_other = ah_of(&b);
	if (!to_silent || !to_other || !flood(&v, to_silent, to_other))
		return 1;
	ibv_destroy_ah(to_silent);
	ibv_destroy_ah(to_other);
	vqp_close(&v);
	return 0;
}

/* @n addresses from @first on, so many @bytes to each */
int datagrams_main(const char *first, const char *n, const char *bytes)
{
	unsigned long i, end = strtoul(n, NULL, 0);
	struct in6_addr addr;
	struct vqp v;

	length = strtoul(bytes, NULL, 0);
	if (!parse(first, &addr) || !vqp_open(&v, IBV_QPT_UD, length + 8) ||
	    !vqp_ud_to_rts(v.qp))
		return 1;
	for (i = 0; i < end; i++, next(&addr))
		if (!send_to(&v, &addr))
			return 1;
	vqp_close(&v);
	return 0;
}
