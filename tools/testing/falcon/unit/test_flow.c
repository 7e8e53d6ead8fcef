// SPDX-License-Identifier: GPL-2.0
/* Runs of packets on one flow, so that they leave as a train: flow.c. */
#include "solo.h"

static struct solo s;

static void burst_start(u8 burst, u32 fcwnd)
{
	u8 i;

	solo_cfg(&s, true);
	s.cfg.nr_flows = 4;
	s.cfg.flow_burst = burst;
	solo_start(&s);
	solo_window(&s, fcwnd, 256);
	for (i = 0; i < 64; i++)
		solo_push(&s, 100);
}

/* How many packets in a row leave on the flow that the first leaves on. */
static u32 burst_run(u8 *flow)
{
	u32 n = 1;

	EXPECT_TRUE(solo_tx(&s));
	*flow = s.tx.flow;
	while (solo_tx(&s) && s.tx.flow == *flow)
		n++;
	return n;
}

/* spec: 9.1.2+2 packets follow each other on one flow up to the burst */
TEST(flow_keeps_a_run_up_to_the_burst)
{
	u8 a, b;

	burst_start(7, 32);
	EXPECT_EQ(burst_run(&a), 7);
	b = s.tx.flow;			/* began the next run */
	EXPECT_NE(a, b);
	EXPECT_EQ(burst_run(&a), 6);
	EXPECT_EQ(a, b);
}

/* spec: 9.1.2+3 a run ends where the flow's own window closes */
TEST(flow_run_ends_with_its_window)
{
	u8 a, i, used[4] = {};

	burst_start(7, 3);
	EXPECT_EQ(burst_run(&a), 3);
	burst_start(7, 3);
	for (i = 0; i < 12; i++) {
		ASSERT_TRUE(solo_tx(&s));
		used[s.tx.flow]++;
	}
	for (i = 0; i < 4; i++)
		EXPECT_EQ(used[i], 3);
	solo_expect_quiet(&s);
}

/* spec: 9.1.2+4 without bursts each packet takes the largest open window */
TEST(flows_take_turns_without_bursts)
{
	u8 i, last = 0xff;

	burst_start(0, 32);
	for (i = 0; i < 8; i++) {
		ASSERT_TRUE(solo_tx(&s));
		EXPECT_NE(s.tx.flow, last);
		last = s.tx.flow;
	}
}
