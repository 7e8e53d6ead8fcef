// SPDX-License-Identifier: GPL-2.0
/*
 * The packet flows of section 6.6, step by step: end 0 is the initiator, end 1
 * the target, and the test loses or delays what the figures do. PSNs and RSNs
 * are those of the text.
 */
#include "pair.h"

#define REQ	FALCON_WIN_REQ
#define DATA	FALCON_WIN_DATA
#define MAX	64

static struct pair p;
static struct pair_pkt seen[MAX];	/* each packet as it left */
static u32 completed_then[MAX];		/* by the initiator, at that time */
static u32 nr_seen;
static struct pair_rx *held[MAX];
static u32 order[MAX];			/* RSNs in order of delivery */
static u64 delivered_ns[MAX];
static u32 nr_delivered;
static u8 lose_type, delay_type;	/* the first packet of this type */
static enum pair_answer script[4];	/* of each delivery */

static bool watch(struct pair *pair, struct pair_pkt *pkt)
{
	bool first = true;
	u32 i;

	for (i = 0; i < nr_seen; i++)
		first &= seen[i].pi.type != pkt->pi.type;
	ASSERT_LT(nr_seen, MAX);
	completed_then[nr_seen] = p.end[0].nr_completed;
	seen[nr_seen++] = *pkt;
	if (first && pkt->pi.type == delay_type)
		pkt->at_ns += 5 * PAIR_US;
	return !first || pkt->pi.type != lose_type;
}

static enum pair_answer scripted(struct pair_end *e, struct pair_rx *rx)
{
	u32 n = nr_delivered++;

	ASSERT_LT(n, MAX);
	order[n] = rx->rx.rsn;
	delivered_ns[n] = p.now_ns;
	held[n] = rx;
	rx->rnr_code = 0x12;			/* 5.12 ms */
	return script[min(n, 3u)];
}

static void start(u8 loss)
{
	struct falcon_core_cfg cfg;

	pair_cfg(&cfg, true);
	cfg.loss = loss;
	cfg.features &= ~FALCON_F_EACK_ALWAYS;
	cfg.ar_fcwnd = 0;
	cfg.ar_percent = 0;
	cfg.tx_rsn = 1;
	cfg.tx_psn[REQ] = 100;
	cfg.tx_psn[DATA] = 300;
	cfg.rx_psn[DATA] = 200;
	memset(&p, 0, sizeof(p));
	memset(script, 0, sizeof(script));
	p.filter = watch;
	p.answer = scripted;
	nr_seen = 0;
	nr_delivered = 0;
	lose_type = 0xff;
	delay_type = 0xff;
	pair_init(&p, &cfg);
}

static void finish(u32 txns)
{
	EXPECT_TRUE(pair_run_idle(&p, 100 * PAIR_MS));
	EXPECT_EQ(p.end[0].nr_completed, txns);
	pair_check_clean(&p);
	pair_destroy(&p);
}

/* The packets of a type to an end, from the first on; how many */
static u32 packets(u8 to, u8 type, struct pair_pkt *got[MAX])
{
	u32 i, n = 0;

	for (i = 0; i < nr_seen; i++)
		if (seen[i].to == to && seen[i].pi.type == type)
			got[n++] = &seen[i];
	return n;
}

static u32 count(u8 to, u8 type)
{
	struct pair_pkt *got[MAX];

	return packets(to, type, got);
}

/*
 * spec: 6.1.1.2-1 6.6.1-1 6.6.1-2 6.6.1-3 a read of two MTUs whose requests
 * the network reorders
 */
TEST(flow_of_a_read_6_6_1)
{
	struct pair_pkt *got[MAX];

	start(0);
	delay_type = FALCON_PKT_PULL_REQ;
	script[0] = PAIR_HOLD;
	script[1] = PAIR_HOLD;
	pair_pull(&p.end[0], PAIR_MTU);
	pair_pull(&p.end[0], PAIR_MTU);
	pair_run_until(&p, p.now_ns + 100 * PAIR_US);

	ASSERT_EQ(packets(1, FALCON_PKT_PULL_REQ, got), 2);
	EXPECT_EQ(got[0]->pi.psn, 100);
	EXPECT_EQ(got[0]->pi.rsn, 1);
	EXPECT_EQ(got[1]->pi.psn, 101);
	EXPECT_EQ(got[1]->pi.rsn, 2);
	ASSERT_EQ(nr_delivered, 2);
	EXPECT_EQ(order[0], 1);
	EXPECT_EQ(order[1], 2);
	/* one ACK for both, before the ULP has answered */
	ASSERT_EQ(packets(0, FALCON_PKT_BACK, got), 1);
	EXPECT_EQ(got[0]->pi.rbpsn[REQ], 102);
	EXPECT_EQ(count(0, FALCON_PKT_EACK), 0);
	EXPECT_EQ(p.end[0].nr_completed, 0);

	pair_answer(&p.end[1], held[0], PAIR_ACK);
	pair_answer(&p.end[1], held[1], PAIR_ACK);
	pair_run_until(&p, p.now_ns + 100 * PAIR_US);
	ASSERT_EQ(packets(0, FALCON_PKT_PULL_DATA, got), 2);
	EXPECT_EQ(got[0]->pi.psn, 200);
	EXPECT_EQ(got[0]->pi.rsn, 1);
	EXPECT_EQ(got[0]->len, PAIR_MTU);
	EXPECT_EQ(got[1]->pi.psn, 201);
	EXPECT_EQ(got[1]->pi.rsn, 2);
	ASSERT_EQ(packets(1, FALCON_PKT_BACK, got), 1);
	EXPECT_EQ(got[0]->pi.rbpsn[DATA], 202);
	finish(2);
}

/*
 * spec: 6.1.1.1-1 6.6.2-1 6.6.2-2 a write of two MTUs whose packets the
 * network reorders
 */
TEST(flow_of_a_write_6_6_2)
{
	struct pair_pkt *got[MAX];

	start(0);
	delay_type = FALCON_PKT_PUSH_DATA;
	pair_push(&p.end[0], PAIR_MTU);
	pair_push(&p.end[0], PAIR_MTU);
	/* 10 us to the target, 5 us late, 8 us of coalescing: not back yet */
	pair_run_until(&p, p.now_ns + 25 * PAIR_US);
	ASSERT_EQ(packets(1, FALCON_PKT_PUSH_DATA, got), 2);
	EXPECT_EQ(got[0]->pi.psn, 300);
	EXPECT_EQ(got[0]->pi.rsn, 1);
	EXPECT_EQ(got[1]->pi.psn, 301);
	EXPECT_EQ(got[1]->pi.rsn, 2);
	ASSERT_EQ(nr_delivered, 2);
	EXPECT_EQ(order[0], 1);
	EXPECT_EQ(order[1], 2);
	ASSERT_EQ(packets(0, FALCON_PKT_BACK, got), 1);
	EXPECT_EQ(got[0]->pi.rbpsn[DATA], 302);
	EXPECT_EQ(p.end[0].nr_completed, 0);
	finish(2);
	EXPECT_EQ(count(0, FALCON_PKT_BACK) + count(0, FALCON_PKT_EACK), 1);
}

/*
 * spec: 6.4-1 6.4-2 6.4-5 6.6.3-1 6.6.3-2 a push whose target is twice not
 * ready, the first NACK being lost
 */
TEST(flow_of_a_push_rnr_6_6_3)
{
	struct pair_pkt *push[MAX], *nack[MAX];
	u64 wait;

	start(0);
	lose_type = FALCON_PKT_NACK;
	script[0] = PAIR_RNR;
	script[1] = PAIR_RNR;
	pair_push(&p.end[0], PAIR_MTU);
	finish(1);

	ASSERT_EQ(packets(1, FALCON_PKT_PUSH_DATA, push), 3);
	ASSERT_EQ(packets(0, FALCON_PKT_NACK, nack), 2);
	EXPECT_EQ(nr_delivered, 3);
	EXPECT_EQ(push[1]->pi.psn, 300);
	EXPECT_EQ(push[2]->pi.psn, 300);
	EXPECT_EQ(nack[0]->pi.nack_psn, 300);
	EXPECT_EQ(nack[0]->pi.nack_code, FALCON_NACK_RNR);
	/* the second goes by the RTO, the third by the NACK's time-out */
	wait = push[1]->sent_ns - push[0]->sent_ns;
	EXPECT_GE(wait, p.cfg[0].min_rto_ns);
	EXPECT_LE(wait, p.cfg[0].rto_ns);
	wait = push[2]->sent_ns - nack[1]->at_ns;
	EXPECT_EQ(wait, 5120 * PAIR_US);
	EXPECT_EQ(p.end[0].cmpl_count[FALCON_CMPL_ACK], 1);
}

/* spec: 6.4-1 6.4-2 6.6.4-1 a pull whose target is once not ready */
TEST(flow_of_a_pull_rnr_6_6_4)
{
	struct pair_pkt *got[MAX];

	start(0);
	script[0] = PAIR_RNR;
	pair_pull(&p.end[0], PAIR_MTU);
	pair_run_until(&p, p.now_ns + 100 * PAIR_US);
	EXPECT_EQ(nr_delivered, 1);
	ASSERT_EQ(packets(0, FALCON_PKT_BACK, got), 1);
	EXPECT_EQ(got[0]->pi.rbpsn[REQ], 101);
	finish(1);
	EXPECT_EQ(count(1, FALCON_PKT_PULL_REQ), 1);
	EXPECT_EQ(count(0, FALCON_PKT_NACK), 0);
	ASSERT_EQ(nr_delivered, 2);
	EXPECT_EQ(delivered_ns[1] - delivered_ns[0], 5120 * PAIR_US);
	ASSERT_EQ(packets(0, FALCON_PKT_PULL_DATA, got), 1);
	EXPECT_EQ(got[0]->pi.psn, 200);
	EXPECT_EQ(p.end[0].cmpl_count[FALCON_CMPL_ACK], 1);
}

/*
 * spec: 6.4-5 6.6.5-1 6.6.5-2 6.6.5-3 a push that ends in error, the first
 * NACK being lost
 */
TEST(flow_of_a_push_cie_6_6_5)
{
	struct pair_pkt *push[MAX], *nack[MAX], *resync[MAX], *got[MAX];
	u32 i;

	start(0);
	lose_type = FALCON_PKT_NACK;
	script[0] = PAIR_CIE;
	pair_push(&p.end[0], PAIR_MTU);
	finish(1);

	EXPECT_EQ(nr_delivered, 1);
	ASSERT_EQ(packets(1, FALCON_PKT_PUSH_DATA, push), 2);
	ASSERT_EQ(packets(0, FALCON_PKT_NACK, nack), 2);
	EXPECT_EQ(nack[0]->pi.ulp_code, 0x5a);
	EXPECT_EQ(nack[1]->pi.nack_code, nack[0]->pi.nack_code);
	EXPECT_EQ(nack[1]->pi.ulp_code, nack[0]->pi.ulp_code);
	EXPECT_EQ(nack[1]->pi.nack_psn, 300);
	ASSERT_EQ(packets(1, FALCON_PKT_RESYNC, resync), 1);
	EXPECT_EQ(resync[0]->pi.psn, 300);
	EXPECT_EQ(resync[0]->pi.rsn, 1);
	EXPECT_EQ(resync[0]->pi.resync_code, FALCON_RESYNC_CIE);
	/* the ACK of the resync completes it, and nothing before */
	i = packets(0, FALCON_PKT_BACK, got);
	EXPECT_EQ(got[i - 1]->pi.rbpsn[DATA], 301);
	for (i = 0; i < nr_seen; i++)
		EXPECT_EQ(completed_then[i], 0);
	EXPECT_EQ(p.end[0].cmpl_count[FALCON_CMPL_TARGET_NACK_CIE], 1);
}

/*
 * spec: 6.1.2-6 6.6.6-1 6.6.6-2 6.6.6-3 a write of four packets, the first of
 * which is lost
 */
TEST(flow_of_an_early_retransmission_6_6_6)
{
	struct pair_pkt *push[MAX], *eack[MAX];
	u32 i;

	start(FALCON_LOSS_OOO);
	p.cfg[0].ooo_threshold = 2;
	p.end[0].c.cfg.ooo_threshold = 2;
	p.end[0].c.srtt_ns = 20 * PAIR_US;
	lose_type = FALCON_PKT_PUSH_DATA;
	for (i = 0; i < 4; i++)
		pair_push(&p.end[0], PAIR_MTU);
	pair_run_until(&p, p.now_ns + 20 * PAIR_US);
	EXPECT_EQ(nr_delivered, 0);
	finish(4);

	ASSERT_GE(packets(0, FALCON_PKT_EACK, eack), 1);
	EXPECT_EQ(eack[0]->pi.rbpsn[DATA], 300);
	EXPECT_EQ(eack[0]->pi.data_rx[0], 0xe);
	ASSERT_EQ(packets(1, FALCON_PKT_PUSH_DATA, push), 5);
	EXPECT_EQ(push[4]->pi.psn, 300);
	EXPECT_EQ(push[4]->sent_ns, eack[0]->at_ns);
	ASSERT_EQ(nr_delivered, 4);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(order[i], 1 + i);
}
