// SPDX-License-Identifier: GPL-2.0
/* The timing wheel of e2100sim, in virtual time: drivers/net/e2100sim/wheel.c */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "drivers/net/e2100sim/wheel.h"
#include "harness.h"

#define SLOT_NS	BIT_ULL(E2100_WHEEL_SHIFT)
#define SEC_NS	1000000000ULL

static struct e2100_wheel wheel;

static unsigned int length(const struct e2100_wheel_node *node)
{
	unsigned int n = 0;

	for (; node; node = node->next)
		n++;
	return n;
}

TEST(an_empty_wheel_has_no_next)
{
	e2100_wheel_init(&wheel);
	EXPECT_EQ(e2100_wheel_next(&wheel), E2100_WHEEL_IDLE);
	EXPECT_TRUE(!e2100_wheel_advance(&wheel, 5 * SEC_NS));
}

TEST(nothing_departs_early_nor_a_slot_late)
{
	struct e2100_wheel_node node;
	u64 due;

	e2100_wheel_init(&wheel);
	for (due = SEC_NS; due < SEC_NS + 3 * SLOT_NS; due += 37) {
		u64 next;

		node.due_ns = due;
		e2100_wheel_add(&wheel, &node, due - 5 * SLOT_NS);
		next = e2100_wheel_next(&wheel);
		EXPECT_GE(next, due);
		EXPECT_LT(next, due + SLOT_NS);
		EXPECT_TRUE(!e2100_wheel_advance(&wheel, next - 1));
		ASSERT_TRUE(e2100_wheel_advance(&wheel, next) == &node);
	}
}

TEST(what_is_due_already_departs_with_the_next_slot)
{
	struct e2100_wheel_node node = { .due_ns = 17 };

	e2100_wheel_init(&wheel);
	e2100_wheel_add(&wheel, &node, SEC_NS);
	EXPECT_GT(e2100_wheel_next(&wheel), SEC_NS);
	EXPECT_LE(e2100_wheel_next(&wheel), SEC_NS + SLOT_NS);
}

TEST(a_slot_keeps_the_order_of_coming)
{
	struct e2100_wheel_node node[5], *out;
	int i;

	e2100_wheel_init(&wheel);
	for (i = 0; i < 5; i++) {
		node[i].due_ns = 100 * SLOT_NS - i;
		e2100_wheel_add(&wheel, &node[i], 0);
	}
	out = e2100_wheel_advance(&wheel, 100 * SLOT_NS);
	for (i = 0; i < 5; i++, out = out->next)
		ASSERT_TRUE(out == &node[i]);
	EXPECT_TRUE(!out);
}

TEST(beyond_the_horizon_comes_round_again)
{
	struct e2100_wheel_node far = { .due_ns = 10 * SEC_NS }, *out = NULL;
	unsigned int visits = 0;
	u64 now = 0;

	e2100_wheel_init(&wheel);
	e2100_wheel_add(&wheel, &far, now);
	while (!out) {
		now = e2100_wheel_next(&wheel);
		ASSERT_NE(now, E2100_WHEEL_IDLE);
		out = e2100_wheel_advance(&wheel, now);
		visits++;
	}
	EXPECT_GE(now, far.due_ns);
	EXPECT_LT(now, far.due_ns + SLOT_NS);
	EXPECT_LE(visits, 10 * SEC_NS / E2100_WHEEL_HORIZON_NS + 2);
}

TEST(the_horizon_holds_a_flow_of_800_kb_per_s)
{
	/* One packet of 4096 bytes payload and 100 of headers. */
	EXPECT_GT(E2100_WHEEL_HORIZON_NS, (4096 + 100) * 8 * SEC_NS / 800000);
}

TEST(a_wheel_that_was_idle_knows_the_time_again)
{
	struct e2100_wheel_node node = { .due_ns = 1000 };

	e2100_wheel_init(&wheel);
	e2100_wheel_add(&wheel, &node, 0);
	ASSERT_TRUE(e2100_wheel_advance(&wheel, 2000) == &node);
	node.due_ns = 3600 * SEC_NS + 4000;
	e2100_wheel_add(&wheel, &node, 3600 * SEC_NS);
	EXPECT_LT(e2100_wheel_next(&wheel), node.due_ns + SLOT_NS);
	EXPECT_GE(e2100_wheel_next(&wheel), node.due_ns);
}

struct item {
	struct e2100_wheel_node node;
	bool gone;
};

/* Each departs once, in its slot, whatever came before it. */
TEST(random_times_all_depart_in_time)
{
	const unsigned int n = 20000;
	struct item *item = calloc(n, sizeof(*item));
	unsigned int in = 0, out = 0;
	u64 now = 77 * SEC_NS;

	unit_srand(7);
	e2100_wheel_init(&wheel);
	while (out < n) {
		struct e2100_wheel_node *node;

		while (in < n && unit_rand_below(4)) {
			item[in].node.due_ns =
				now + unit_rand_below(200000000);
			e2100_wheel_add(&wheel, &item[in++].node, now);
		}
		now = e2100_wheel_next(&wheel);
		if (now == E2100_WHEEL_IDLE) {
			now = 78 * SEC_NS + in * 1000;
			continue;
		}
		for (node = e2100_wheel_advance(&wheel, now); node;
		     node = node->next, out++) {
			struct item *it = (struct item *)node;

			ASSERT_FALSE(it->gone);
			it->gone = true;
			ASSERT_LE(node->due_ns, now);
			ASSERT_LT(now, node->due_ns + 2 * SLOT_NS);
		}
	}
	EXPECT_EQ(wheel.count, 0);
	free(item);
}

/* Departures of a flow paced at @bps, of packets of @bytes, for @ns. */
static double paced_rate(u64 bps, unsigned int bytes, u64 ns)
{
	u64 gap = bytes * 8 * SEC_NS / bps, due = SEC_NS, now = SEC_NS;
	struct e2100_wheel_node node = { .due_ns = due };
	u64 sent = 0;

	e2100_wheel_init(&wheel);
	e2100_wheel_add(&wheel, &node, now);
	while (now < SEC_NS + ns) {
		now = e2100_wheel_next(&wheel);
		sent += length(e2100_wheel_advance(&wheel, now));
		due += gap;
		node.due_ns = due;
		e2100_wheel_add(&wheel, &node, now);
	}
	return sent * bytes * 8 * 1e9 / (now - SEC_NS);
}

TEST(paced_goodput_is_the_rate_from_800_kb_to_100_gb_per_s)
{
	u64 bps;

	for (bps = 800000; bps <= 100000000000ULL; bps *= 5)
		EXPECT_NEAR(paced_rate(bps, 4196, 400ULL * 4196 * 8 * SEC_NS /
				       bps), bps, 0.01 * bps);
}

/* Ten thousand flows, each with its own gap: every one has its own rate. */
TEST(ten_thousand_flows_keep_their_own_rates)
{
	const unsigned int n = 10000;
	struct item *item = calloc(n, sizeof(*item));
	unsigned int *sent = calloc(n, sizeof(*sent)), i;
	const u64 start = SEC_NS, ns = SEC_NS / 2;
	u64 now = start;

	e2100_wheel_init(&wheel);
	for (i = 0; i < n; i++) {
		item[i].node.due_ns = start + i * 97;
		e2100_wheel_add(&wheel, &item[i].node, now);
	}
	while ((now = e2100_wheel_next(&wheel)) < start + ns) {
		struct e2100_wheel_node *node, *next;

		for (node = e2100_wheel_advance(&wheel, now); node;
		     node = next) {
			next = node->next;
			i = (struct item *)node - item;
			sent[i]++;
			node->due_ns += 1000000 + i * 1000;
			e2100_wheel_add(&wheel, node, now);
		}
	}
	for (i = 0; i < n; i++)
		EXPECT_NEAR(sent[i], (double)ns / (1000000 + i * 1000), 1.5);
	free(item);
	free(sent);
}

/* Processor time of so many departures from a wheel that holds @flows, ns each. */
static double cost_of_a_departure(struct item *item, unsigned int flows)
{
	unsigned int departures = 0, i;
	u64 now = SEC_NS;
	clock_t began;

	e2100_wheel_init(&wheel);
	for (i = 0; i < flows; i++) {
		item[i].node.due_ns = now + i * (E2100_WHEEL_HORIZON_NS / flows);
		e2100_wheel_add(&wheel, &item[i].node, now);
	}
	began = clock();
	while (departures < 50000) {
		struct e2100_wheel_node *node, *next;

		now = e2100_wheel_next(&wheel);
		for (node = e2100_wheel_advance(&wheel, now); node;
		     node = next, departures++) {
			next = node->next;
			node->due_ns += E2100_WHEEL_HORIZON_NS - SLOT_NS;
			e2100_wheel_add(&wheel, node, now);
		}
	}
	return (clock() - began) * 1e9 / CLOCKS_PER_SEC / departures;
}

/*
 * Ten thousand flows on the wheel cost a departure no more than one does, but
 * for the memory that they are in; a list would cost some thousand times that.
 */
TEST(a_departure_costs_the_same_among_ten_thousand_flows)
{
	struct item *item = calloc(10000, sizeof(*item));
	double one, many;

	one = cost_of_a_departure(item, 1);
	many = cost_of_a_departure(item, 10000);
	printf("# %.0f ns for 1 flow, %.0f ns for 10000\n", one, many);
	EXPECT_LT(many, 100 * one);
	free(item);
}
