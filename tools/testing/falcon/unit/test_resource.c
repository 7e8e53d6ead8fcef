// SPDX-License-Identifier: GPL-2.0
/* Resource pools, zones, occupancy, backpressure: 8.2, 10.2 */
#include <linux/limits.h>
#include "net/falcon/core/resource.h"
#include "harness.h"

#define NET FALCON_POOL_RX_NET
#define TX FALCON_POOL_TX_REQ

static struct falcon_resources res;
static struct falcon_res_use a, b;

static void pools(u32 pkts, u32 bytes)
{
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	falcon_res_init(&res);
	if (pkts || bytes) {
		falcon_res_limit(&res, NET, pkts, bytes);
		falcon_res_limit(&res, TX, pkts, bytes);
	}
}

/*
 * spec: 8.2.2-1 8.2.2-2 8.2.2-4 a packet takes one context and cells by its
 * length
 */
TEST(pool_counts_packets_and_cells_8_2_2)
{
	pools(100, 100 * FALCON_CELL_BYTES);
	EXPECT_TRUE(falcon_res_get(&res, &a, TX, 0));
	EXPECT_TRUE(falcon_res_get(&res, &a, TX, 1));
	EXPECT_TRUE(falcon_res_get(&res, &a, TX, FALCON_CELL_BYTES));
	EXPECT_TRUE(falcon_res_get(&res, &a, TX, FALCON_CELL_BYTES + 1));
	EXPECT_EQ(atomic_read(&res.pool[TX].pkts), 4);
	EXPECT_EQ(atomic_read(&res.pool[TX].cells), 4);
	EXPECT_EQ(a.pkts[TX], 4);
	EXPECT_EQ(a.cells[TX], 4);
	falcon_res_put(&res, &a, TX, FALCON_CELL_BYTES + 1);
	EXPECT_EQ(atomic_read(&res.pool[TX].cells), 2);
	falcon_res_put_all(&res, &a, NULL);
	EXPECT_EQ(atomic_read(&res.pool[TX].pkts), 0);
	EXPECT_EQ(atomic_read(&res.pool[TX].cells), 0);
	EXPECT_EQ(a.pkts[TX], 0);
}

/* spec: 8.2.2+1 what does not fit takes nothing, of either resource */
TEST(pool_refusal_takes_nothing_8_2_2)
{
	pools(2, 10 * FALCON_CELL_BYTES);
	EXPECT_FALSE(falcon_res_get(&res, &a, TX, 11 * FALCON_CELL_BYTES));
	EXPECT_EQ(atomic_read(&res.pool[TX].pkts), 0);
	EXPECT_EQ(atomic_read(&res.pool[TX].cells), 0);
	EXPECT_TRUE(falcon_res_get(&res, &a, TX, 1));
	EXPECT_TRUE(falcon_res_get(&res, &a, TX, 1));
	EXPECT_FALSE(falcon_res_get(&res, &a, TX, 1));
	EXPECT_EQ(atomic_read(&res.pool[TX].cells), 2);
	EXPECT_EQ(a.pkts[TX], 2);
}

/*
 * spec: 8.2.1.2-1 8.2.1.2-4 8.2.2-5 CR rule 1: what goes out and what comes in
 * do not share
 */
TEST(pools_are_independent_8_2_1_2)
{
	pools(1, 0);
	EXPECT_TRUE(falcon_res_get(&res, &a, TX, 1));
	EXPECT_FALSE(falcon_res_get(&res, &a, TX, 1));
	EXPECT_TRUE(falcon_res_get_net(&res, &a, NULL, 1, true));
	EXPECT_TRUE(falcon_res_get(&res, &a, FALCON_POOL_TX_DATA, 1));
	EXPECT_TRUE(falcon_res_get(&res, &a, FALCON_POOL_RX_REQ, 1));
}

/*
 * spec: 8.2.2-7 8.2.4-2 in the red zone only head-of-line requests are
 * accepted
 */
TEST(red_zone_admits_head_of_line_only_8_2_4)
{
	u32 i;

	pools(16, 0);		/* an eighth: red from 14 on */
	for (i = 0; i < 14; i++)
		EXPECT_TRUE(falcon_res_get_net(&res, &a, NULL, 1, false));
	EXPECT_FALSE(falcon_res_get_net(&res, &b, NULL, 1, false));
	EXPECT_TRUE(falcon_res_get_net(&res, &b, NULL, 1, true));
	EXPECT_TRUE(falcon_res_get_net(&res, &b, NULL, 1, true));
	EXPECT_FALSE(falcon_res_get_net(&res, &b, NULL, 1, true));
	falcon_res_put(&res, &a, NET, 1);
	EXPECT_FALSE(falcon_res_get_net(&res, &b, NULL, 1, false));
	EXPECT_TRUE(falcon_res_get_net(&res, &b, NULL, 1, true));
}

/* spec: 8.2.4-2 the zones hold for buffers as for packets */
TEST(red_zone_of_buffers_8_2_4)
{
	pools(0, 4096 * FALCON_CELL_BYTES);
	EXPECT_TRUE(falcon_res_get_net(&res, &a, NULL, 3584 * FALCON_CELL_BYTES,
				       false));
	EXPECT_FALSE(falcon_res_get_net(&res, &a, NULL, 1, false));
	EXPECT_TRUE(falcon_res_get_net(&res, &a, NULL, 512 * FALCON_CELL_BYTES,
				       true));
	EXPECT_FALSE(falcon_res_get_net(&res, &a, NULL, 1, true));
}

/* spec: 8.2.1.2-5 CR rule 3: a head-of-line request of any size finds room */
TEST(red_zone_holds_the_largest_packet_8_2_1_2)
{
	u32 cells;

	for (cells = 512; cells < 5000; cells += 100) {
		pools(0, cells * FALCON_CELL_BYTES);
		while (falcon_res_get_net(&res, &a, NULL, 65535, false))
			;
		while (falcon_res_get_net(&res, &a, NULL, 1, false))
			;
		EXPECT_TRUE(falcon_res_get_net(&res, &b, NULL, 65535, true));
	}
	for (cells = 2; cells < 40; cells++) {
		pools(cells, 0);
		EXPECT_TRUE(falcon_res_get_net(&res, &a, NULL, 1, false));
		while (falcon_res_get_net(&res, &a, NULL, 1, false))
			;
		EXPECT_TRUE(falcon_res_get_net(&res, &b, NULL, 1, true));
	}
}

/* spec: 10.2-3 thresholds cut the occupancy into 32 levels */
TEST(level_is_quantised_to_32_10_2)
{
	u32 i;

	pools(3200, 0);
	for (i = 0; i < 3200; i++) {
		EXPECT_EQ(falcon_res_level(&res), min(i / 100, 31u));
		EXPECT_TRUE(falcon_res_get_net(&res, &a, NULL, 1, true));
	}
	EXPECT_EQ(falcon_res_level(&res), 31);
	EXPECT_EQ(falcon_res_level(NULL), 0);
}

/* spec: 10.2-4 an ACK carries the larger level of the two pools */
TEST(level_is_the_larger_of_two_pools_10_2)
{
	pools(3200, 64 * FALCON_CELL_BYTES);
	EXPECT_TRUE(falcon_res_get_net(&res, &a, NULL, 32 * FALCON_CELL_BYTES, true));
	EXPECT_EQ(falcon_res_level(&res), 16);
	pools(32, 6400 * FALCON_CELL_BYTES);
	EXPECT_TRUE(falcon_res_get_net(&res, &a, NULL, 1, true));
	EXPECT_EQ(falcon_res_level(&res), 1);
}

/* spec: 10.2-1 ema = (1 - alpha) ema + alpha occupancy, at each change */
TEST(occupancy_average_follows_ema_10_2)
{
	double ema = 0;
	u32 i, held = 0;

	pools(100000, 0);
	res.ema_pkts_shift = 3;
	unit_srand(1);
	for (i = 0; i < 20000; i++) {
		if (held && unit_rand() % 3 == 0) {
			falcon_res_put(&res, &a, NET, 1);
			held--;
		} else {
			EXPECT_TRUE(falcon_res_get_net(&res, &a, NULL, 1, true));
			held++;
		}
		ema += (held - ema) / 8;
		EXPECT_NEAR((double)res.ema_pkts / (1 << FALCON_EMA_SHIFT),
			    ema, 0.1);
	}
}

/* spec: 8.2.3+1 a connection may hold alpha times what is free */
TEST(backpressure_is_alpha_times_free_8_2_3)
{
	u32 held = 0;

	pools(900, 0);
	while (falcon_res_xon(&res, &a, false)) {
		EXPECT_TRUE(falcon_res_get(&res, &a, TX, 1));
		held++;
	}
	/* held > (900 - held) / 8 */
	EXPECT_EQ(held, 101);
	EXPECT_TRUE(a.xoff);
	falcon_res_put(&res, &a, TX, 1);
	EXPECT_TRUE(falcon_res_xon(&res, &a, false));
	EXPECT_FALSE(a.xoff);
}

/* spec: 8.2.3+1 without dynamic backpressure only the pool's end says no */
TEST(backpressure_may_be_off_8_2_3)
{
	pools(900, 0);
	res.alpha_shift = FALCON_ALPHA_NONE;
	while (falcon_res_get(&res, &a, TX, 1))
		EXPECT_TRUE(falcon_res_xon(&res, &a, false));
	EXPECT_EQ(a.pkts[TX], 900);
	EXPECT_TRUE(falcon_res_xon(&res, &a, false));
}

/*
 * spec: 8.2.3+1 a retransmitting connection gets less, an idle one always some
 */
TEST(backpressure_is_dynamic_8_2_3)
{
	u32 held = 0;

	pools(900, 0);
	while (falcon_res_xon(&res, &a, true)) {
		EXPECT_TRUE(falcon_res_get(&res, &a, TX, 1));
		held++;
	}
	EXPECT_EQ(held, 53);
	while (falcon_res_get(&res, &b, TX, 1))
		;
	EXPECT_FALSE(falcon_res_xon(&res, &a, false));
	falcon_res_put_all(&res, &a, NULL);
	EXPECT_TRUE(falcon_res_xon(&res, &a, false));
	EXPECT_FALSE(falcon_res_xon(&res, &b, false));
}

/* spec: 8.2.3+1 the buffers count for backpressure as the packets do */
TEST(backpressure_of_buffers_8_2_3)
{
	pools(0, 900 * FALCON_CELL_BYTES);
	EXPECT_TRUE(falcon_res_get(&res, &a, TX, 101 * FALCON_CELL_BYTES));
	EXPECT_FALSE(falcon_res_xon(&res, &a, false));
	EXPECT_TRUE(falcon_res_xon(NULL, &a, false));
}

/* spec: 8.2.3-8 six credit counters tell what is left */
TEST(credits_are_what_is_left_8_2_3)
{
	struct falcon_credits cr;

	pools(10, 20 * FALCON_CELL_BYTES);
	EXPECT_TRUE(falcon_res_get(&res, &a, TX, 3 * FALCON_CELL_BYTES));
	falcon_res_credits(&res, &cr);
	EXPECT_EQ(cr.req_pkt_tx, 9);
	EXPECT_EQ(cr.req_buf_tx, 17);
	EXPECT_EQ(cr.req_pkt_rx, U32_MAX);
	EXPECT_EQ(cr.req_buf_rx, U32_MAX);
	EXPECT_EQ(cr.res_pkt_tx, U32_MAX);
	EXPECT_EQ(cr.res_buf_tx, U32_MAX);
}

/* spec: 8.2.3-8 each counter is of its own pool, and credits come back */
TEST(credits_of_each_pool_8_2_3)
{
	static const u8 pool[] = {
		FALCON_POOL_TX_REQ, FALCON_POOL_RX_REQ, FALCON_POOL_TX_DATA,
	};
	struct falcon_credits cr;
	u32 i;

	pools(0, 0);
	for (i = 0; i < 3; i++) {
		falcon_res_limit(&res, pool[i], 10 + i,
				 (20 + i) * FALCON_CELL_BYTES);
		EXPECT_TRUE(falcon_res_get(&res, &a, pool[i],
					   (1 + i) * FALCON_CELL_BYTES));
	}
	falcon_res_credits(&res, &cr);
	EXPECT_EQ(cr.req_pkt_tx, 9);
	EXPECT_EQ(cr.req_buf_tx, 19);
	EXPECT_EQ(cr.req_pkt_rx, 10);
	EXPECT_EQ(cr.req_buf_rx, 19);
	EXPECT_EQ(cr.res_pkt_tx, 11);
	EXPECT_EQ(cr.res_buf_tx, 19);
	falcon_res_put(&res, &a, FALCON_POOL_TX_DATA, 3 * FALCON_CELL_BYTES);
	falcon_res_credits(&res, &cr);
	EXPECT_EQ(cr.res_pkt_tx, 12);
	EXPECT_EQ(cr.res_buf_tx, 22);
}

/* spec: 8.2.2+1 a pool smaller than a cell still has one */
TEST(tiny_pool_has_a_cell_8_2_2)
{
	pools(1, 1);
	EXPECT_TRUE(falcon_res_get(&res, &a, TX, 1));
	EXPECT_FALSE(falcon_res_get(&res, &a, TX, 1));
}

/* spec: 8.2.2+1 without pools everything is admitted, and still counted */
TEST(unlimited_pools_admit_everything_8_2_2)
{
	u32 i;

	pools(0, 0);
	for (i = 0; i < 100000; i++)
		EXPECT_TRUE(falcon_res_get_net(&res, &a, NULL, 60000, false));
	EXPECT_EQ(a.pkts[NET], 100000);
	EXPECT_EQ(falcon_res_level(&res), 0);
	falcon_res_put_all(&res, &a, NULL);
	EXPECT_TRUE(falcon_res_get_net(NULL, &b, NULL, 60000, false));
	falcon_res_put(NULL, &b, NET, 60000);
	falcon_res_put_all(NULL, &b, NULL);
	EXPECT_EQ(b.pkts[NET], 0);
}

/* spec: 8.2.3-3 connections may be promised more together than there is */
TEST(global_counters_bound_oversubscription_8_2_3)
{
	u32 n = 0;

	pools(10, 0);
	while (falcon_res_get(&res, &a, TX, 1) && falcon_res_get(&res, &b, TX, 1))
		n += 2;
	EXPECT_EQ(n, 10);
	EXPECT_EQ(atomic_read(&res.pool[TX].pkts), 10);
	falcon_res_put(&res, &a, TX, 1);
	EXPECT_TRUE(falcon_res_get(&res, &b, TX, 1));
	EXPECT_FALSE(falcon_res_get(&res, &a, TX, 1));
}

/* spec: 10.2-2 packets and buffers are averaged with an alpha each */
TEST(occupancy_averages_have_their_own_alpha_10_2)
{
	pools(1000, 1000 * FALCON_CELL_BYTES);
	res.ema_pkts_shift = 1;
	res.ema_cells_shift = 3;
	EXPECT_TRUE(falcon_res_get_net(&res, &a, NULL, 8 * FALCON_CELL_BYTES, true));
	EXPECT_EQ(res.ema_pkts, (1 << FALCON_EMA_SHIFT) / 2);
	EXPECT_EQ(res.ema_cells, (8 << FALCON_EMA_SHIFT) / 8);
}

/* Requests of a peer are bounded together, whatever its connections are. */
TEST(requests_of_one_peer_are_bounded_together)
{
	struct falcon_pool_state peer = {};
	struct falcon_res_use c = {};
	u32 n = 0;

	pools(1000, 0);
	falcon_pool_limit(&peer, 16, 0);
	while (falcon_res_get_net(&res, n & 1 ? &a : &b, &peer, 1, false))
		n++;
	EXPECT_EQ(n, 14);
	/* Another peer's have room, and so has what others wait for. */
	EXPECT_TRUE(falcon_res_get_net(&res, &c, NULL, 1, false));
	EXPECT_TRUE(falcon_res_get_net(&res, &a, &peer, 1, true));
	EXPECT_TRUE(falcon_res_get_net(&res, &b, &peer, 1, true));
	EXPECT_FALSE(falcon_res_get_net(&res, &b, &peer, 1, true));
	EXPECT_EQ(atomic_read(&res.pool[NET].pkts), 17);

	falcon_res_put_net(&res, &a, &peer, 1);
	EXPECT_TRUE(falcon_res_get_net(&res, &b, &peer, 1, true));
	falcon_res_put_all(&res, &a, &peer);
	falcon_res_put_all(&res, &b, &peer);
	EXPECT_EQ(atomic_read(&peer.pkts), 0);
	EXPECT_EQ(atomic_read(&res.pool[NET].pkts), 1);
}

/* What the namespace has no room for, the peer is not charged for. */
TEST(full_pool_leaves_the_peer_as_it_was)
{
	struct falcon_pool_state peer = {};

	pools(8, 0);
	falcon_pool_limit(&peer, 1000, 1000 * FALCON_CELL_BYTES);
	while (falcon_res_get_net(&res, &a, &peer, 300, true))
		;
	EXPECT_EQ(a.pkts[NET], 8);
	EXPECT_EQ(atomic_read(&peer.pkts), 8);
	EXPECT_EQ(atomic_read(&peer.cells), 16);
}
