// SPDX-License-Identifier: GPL-2.0
/*
 * The state machine of queue pairs, by the verbs' table: every pair of states,
 * for every type; every attribute that a transition needs, and those that it
 * does not take. What is refused leaves the queue pair as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "verbs.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PEER		5	/* which does not answer */

#define NEED_INIT	(IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define NEED_RTR	(IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | \
			 IBV_QP_RQ_PSN)
#define RESPONDS	(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define NEED_RTS	(IBV_QP_TIMEOUT | IBV_QP_SQ_PSN)
#define REQUESTS	(IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
			 IBV_QP_MAX_QP_RD_ATOMIC)
#define MAY_RTR		(IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX)
#define MAY_RTS		(IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | \
			 IBV_QP_PATH_MIG_STATE)

/* The attributes of a step upwards, beside IBV_QP_STATE */
struct step {
	int need;
	int may;
};

/* @ignored: attributes of the other end of XRC, which the verbs core drops */
struct kind {
	const char *name;
	enum ibv_qp_type type;
	struct step init, rtr, rts;
	int ignored;
};

static const struct kind kinds[] = {
	{
		"RC", IBV_QPT_RC,
		.init = { NEED_INIT },
		.rtr = { NEED_RTR | RESPONDS, MAY_RTR },
		.rts = { NEED_RTS | REQUESTS, MAY_RTS | IBV_QP_MIN_RNR_TIMER },
	}, {
		"XRC initiator", IBV_QPT_XRC_SEND,
		.init = { NEED_INIT },
		.rtr = { NEED_RTR, MAY_RTR },
		.rts = { NEED_RTS | REQUESTS, MAY_RTS },
		.ignored = RESPONDS,
	}, {
		"XRC target", IBV_QPT_XRC_RECV,
		.init = { NEED_INIT },
		.rtr = { NEED_RTR | RESPONDS, MAY_RTR },
		.rts = { NEED_RTS, MAY_RTS | IBV_QP_MIN_RNR_TIMER },
		.ignored = REQUESTS,
	}, {
		"UD", IBV_QPT_UD,
		.init = { IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY },
		.rtr = { 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
		.rts = { IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	},
};

/* Nobody asks for SQE, to which the error of a datagram leads. */
#define TO(state)	(1 << IBV_QPS_##state)
#define END		(TO(RESET) | TO(ERR))

static const int leads_to[] = {
	[IBV_QPS_RESET]	= TO(RESET) | TO(INIT),
	[IBV_QPS_INIT]	= TO(INIT) | TO(RTR) | END,
	[IBV_QPS_RTR]	= TO(RTS) | END,
	[IBV_QPS_RTS]	= TO(RTS) | TO(SQD) | END,
	[IBV_QPS_SQD]	= TO(RTS) | TO(SQD) | END,
	[IBV_QPS_SQE]	= TO(RTS) | END,
	[IBV_QPS_ERR]	= END,
};

static const enum ibv_qp_state reachable[] = {
	IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD,
	IBV_QPS_SQE, IBV_QPS_ERR,
};

/* What the queue pairs of a test share */
static struct ibv_cq *cq;
static struct ibv_xrcd *xrcd;

static bool prepare(void)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	cq = ibv_create_cq(vctx, 8, NULL, NULL, 0);
	xrcd = ibv_open_xrcd(vctx, &attr);
	return cq && xrcd;
}

static bool finish(void)
{
	return !ibv_close_xrcd(xrcd) && !ibv_destroy_cq(cq);
}

static struct ibv_qp *make(const struct kind *k)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = k->type, .comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = vpd, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 2, .max_send_sge = 1 },
	};
	struct ibv_qp_init_attr_ex target = {
		.qp_type = k->type, .comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};

	return ibv_create_qp_ex(vctx, k->type == IBV_QPT_XRC_RECV ? &target :
								    &attr);
}

/* All attributes have values that can be, but for what @mask says of @state. */
static int modify(struct ibv_qp *qp, enum ibv_qp_state from,
		  enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state		= state,
		.cur_qp_state		= from,
		.path_mtu		= IBV_MTU_1024,
		.path_mig_state		= IBV_MIG_MIGRATED,
		.dest_qp_num		= PEER,
		.port_num		= 1,
		.timeout		= 14,
		.retry_cnt		= 7,
		.rnr_retry		= 7,
		.max_rd_atomic		= 4,
		.max_dest_rd_atomic	= 4,
	};

	if (!vah_back(&attr.ah_attr))
		return -1;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
}

/* What the step to @state takes, wherever it is tried from. */
static struct step step_to(const struct kind *k, enum ibv_qp_state from,
			   enum ibv_qp_state state)
{
	static const struct step none;

	switch (state) {
	case IBV_QPS_INIT:
		return k->init;
	case IBV_QPS_RTR:
		return k->rtr;
	case IBV_QPS_RTS:
		return from == IBV_QPS_RTS || from == IBV_QPS_SQD ||
		       from == IBV_QPS_SQE ? none : k->rts;
	default:
		return none;
	}
}

static int step(const struct kind *k, struct ibv_qp *qp,
		enum ibv_qp_state from, enum ibv_qp_state state)
{
	return modify(qp, from, state, step_to(k, from, state).need);
}

static bool is_in(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return !ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) &&
	       attr.qp_state == state;
}

/* One in RTS sends a datagram from memory that is not its own. */
static bool to_sqe(struct ibv_qp *qp)
{
	struct ibv_sge sge = { .length = 1 };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
	};
	struct ibv_ah_attr attr;
	struct ibv_wc wc;

	CHECK(vah_back(&attr));
	wr.wr.ud.ah = ibv_create_ah(vpd, &attr);
	CHECK(wr.wr.ud.ah && !ibv_post_send(qp, &wr, &bad));
	CHECK(vqp_poll(cq, &wc, 60) == 1 && wc.status == IBV_WC_LOC_PROT_ERR);
	CHECK(!ibv_destroy_ah(wr.wr.ud.ah));
	return true;
}

/* A new one, step by step */
static struct ibv_qp *make_in(const struct kind *k, enum ibv_qp_state state)
{
	static const enum ibv_qp_state up[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD,
	};
	struct ibv_qp *qp = make(k);
	enum ibv_qp_state from = IBV_QPS_RESET;
	size_t i;

	if (!qp)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(up) && from != state; i++) {
		if (step(k, qp, from, up[i]))
			return NULL;
		from = up[i];
		if (state == IBV_QPS_ERR && from == IBV_QPS_RTS)
			return modify(qp, from, state, 0) ? NULL : qp;
		if (state == IBV_QPS_SQE && from == IBV_QPS_RTS)
			return to_sqe(qp) ? qp : NULL;
	}
	return qp;
}

static bool leads(const struct kind *k, enum ibv_qp_state from,
		  enum ibv_qp_state to)
{
	struct ibv_qp *qp = make_in(k, from);

	CHECK(qp && is_in(qp, from));
	CHECK(!step(k, qp, from, to));
	CHECK(is_in(qp, to));
	CHECK(!ibv_destroy_qp(qp));
	return true;
}

static bool is_refused(const struct kind *k, enum ibv_qp_state from,
		       enum ibv_qp_state to)
{
	struct ibv_qp *qp = make_in(k, from);

	CHECK(qp && is_in(qp, from));
	CHECK(step(k, qp, from, to) == EINVAL);
	CHECK(is_in(qp, from));
	CHECK(!ibv_destroy_qp(qp));
	return true;
}

static bool from_one(const struct kind *k, enum ibv_qp_state from)
{
	enum ibv_qp_state to;
	bool ok;

	if (from == IBV_QPS_SQE && k->type != IBV_QPT_UD)
		return true;
	for (to = IBV_QPS_RESET; to <= IBV_QPS_ERR; to++) {
		ok = leads_to[from] & 1 << to ? leads(k, from, to) :
						is_refused(k, from, to);
		if (!ok) {
			vsay("%s from %d to %d", k->name, from, to);
			return false;
		}
	}
	return true;
}

static bool every_transition_is_as_the_table_has_it(void)
{
	size_t i, j;

	CHECK(prepare());
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		for (j = 0; j < ARRAY_SIZE(reachable); j++)
			CHECK(from_one(&kinds[i], reachable[j]));
	return finish();
}

/* @check: of every kind, each step upwards that has attributes */
static bool every_step_up(bool (*check)(const struct kind *k,
					enum ibv_qp_state from,
					enum ibv_qp_state to))
{
	size_t i;

	CHECK(prepare());
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		CHECK(check(&kinds[i], IBV_QPS_RESET, IBV_QPS_INIT));
		CHECK(check(&kinds[i], IBV_QPS_INIT, IBV_QPS_RTR));
		CHECK(check(&kinds[i], IBV_QPS_RTR, IBV_QPS_RTS));
	}
	return finish();
}

/* Each attribute that it needs is left out, one by one. */
static bool misses(const struct kind *k, enum ibv_qp_state from,
		   enum ibv_qp_state to)
{
	struct ibv_qp *qp = make_in(k, from);
	int bit, need = step_to(k, from, to).need;

	CHECK(qp);
	for (bit = 1; bit <= need; bit <<= 1) {
		if (!(need & bit))
			continue;
		if (modify(qp, from, to, need & ~bit) != EINVAL) {
			vsay("%s to %d without %#x", k->name, to, bit);
			return false;
		}
		CHECK(is_in(qp, from));
	}
	CHECK(!step(k, qp, from, to) && is_in(qp, to));
	CHECK(!ibv_destroy_qp(qp));
	return true;
}

static bool no_required_attribute_can_be_missing(void)
{
	return every_step_up(misses);
}

/*
 * Each attribute that it does not take is given, one by one; then all that it
 * takes. Alternate paths are not offered: they are refused in another way.
 */
static bool refuses_others(const struct kind *k, enum ibv_qp_state from,
			   enum ibv_qp_state to)
{
	struct step s = step_to(k, from, to);
	struct ibv_qp *qp = make_in(k, from);
	int bit;

	CHECK(qp);
	for (bit = IBV_QP_CUR_STATE; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
		if ((s.need | s.may | k->ignored | IBV_QP_ALT_PATH) & bit)
			continue;
		if (modify(qp, from, to, s.need | bit) != EINVAL) {
			vsay("%s to %d with %#x", k->name, to, bit);
			return false;
		}
		CHECK(is_in(qp, from));
	}
	CHECK(modify(qp, from, to, s.need | IBV_QP_ALT_PATH));
	CHECK(is_in(qp, from));
	CHECK(!modify(qp, from, to, s.need | s.may) && is_in(qp, to));
	CHECK(!ibv_destroy_qp(qp));
	return true;
}

static bool attributes_of_another_step_are_refused(void)
{
	return every_step_up(refuses_others);
}

/* The core's table has it; here a connection stays where it is. */
static bool path_does_not_change_in_sqd(void)
{
	struct ibv_qp *qp;

	CHECK(prepare());
	CHECK(qp = make_in(&kinds[0], IBV_QPS_SQD));
	CHECK(modify(qp, IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_AV) == EOPNOTSUPP);
	CHECK(!modify(qp, IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_RETRY_CNT));
	CHECK(!ibv_destroy_qp(qp));
	return finish();
}

int states_main(void)
{
#define T(name)	{ #name, name }
	static const struct vtest tests[] = {
		T(every_transition_is_as_the_table_has_it),
		T(no_required_attribute_can_be_missing),
		T(attributes_of_another_step_are_refused),
		T(path_does_not_change_in_sqd),
	};

	return vtests_run(tests, ARRAY_SIZE(tests));
}
