/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unit tests of net/falcon/core: each test file is a program that prints TAP.
 *
 * A test is named after the rule that it holds core to, and stands under a
 * comment with the rule's id in conformance.tsv (none: it is not of the
 * specification), which scripts/conformance.py verifies:
 *
 *	// spec: 9.1.4-2 a packet sent less than an RTT ago is not resent
 *	TEST(recency_check)
 *	{
 *		ASSERT_EQ(x, 3);
 *	}
 *
 * (in a comment of the kernel's style, one line or several).
 *
 * EXPECT_* notes a failure and goes on, ASSERT_* ends the test, from any depth
 * of calls. A WARN in core fails the test unless EXPECT_WARN() announced it.
 */
#ifndef _FALCON_UNIT_HARNESS_H
#define _FALCON_UNIT_HARNESS_H

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>

struct unit_test {
	const char *name;
	void (*fn)(void);
	struct unit_test *next;
};

void unit_register(struct unit_test *t);
void unit_fail(const char *file, int line, const char *fmt, ...)
	__printf(3, 4);
void __noreturn unit_end_test(void);
void unit_expect_warn(unsigned int n);

/* Failures of the running test so far. */
unsigned int unit_failed(void);

/* Reproducible pseudo-random numbers: the same sequence in every test. */
void unit_srand(u64 seed);
u64 unit_rand(void);
u64 unit_rand_below(u64 n);

/* Prints where two byte strings first differ; true if they do not. */
bool unit_same_bytes(const char *file, int line, const void *a, const void *b,
		     size_t len);

#define TEST(name)							\
static void test_##name(void);						\
static struct unit_test unit_##name = { #name, test_##name, NULL };	\
static void __attribute__((__constructor__)) unit_reg_##name(void)	\
{									\
	unit_register(&unit_##name);					\
}									\
static void test_##name(void)

#define unit_true(c, then) do {						\
	if (!(c)) {							\
		unit_fail(__FILE__, __LINE__, "%s", #c);		\
		then;							\
	}								\
} while (0)

#define unit_cmp(a, op, b, then) do {					\
	long long _a = (long long)(a), _b = (long long)(b);		\
	if (!(_a op _b)) {						\
		unit_fail(__FILE__, __LINE__,				\
			  "%s %s %s: %lld (%#llx) and %lld (%#llx)",	\
			  #a, #op, #b, _a, _a, _b, _b);			\
		then;							\
	}								\
} while (0)

/* |got - want| <= tol, in doubles */
#define unit_near(got, want, tol, then) do {				\
	double _g = (got), _w = (want), _t = (tol);			\
	if (!(fabs(_g - _w) <= _t)) {					\
		unit_fail(__FILE__, __LINE__,				\
			  "%s = %.9g, not %s = %.9g +- %.3g",		\
			  #got, _g, #want, _w, _t);			\
		then;							\
	}								\
} while (0)

#define unit_streq(a, b, then) do {					\
	const char *_a = (a), *_b = (b);				\
	if (strcmp(_a, _b)) {						\
		unit_fail(__FILE__, __LINE__, "%s = \"%s\", not \"%s\"", \
			  #a, _a, _b);					\
		then;							\
	}								\
} while (0)

#define unit_go_on		do { } while (0)

#define EXPECT_TRUE(c)		unit_true(c, unit_go_on)
#define EXPECT_FALSE(c)		unit_true(!(c), unit_go_on)
#define EXPECT_EQ(a, b)		unit_cmp(a, ==, b, unit_go_on)
#define EXPECT_NE(a, b)		unit_cmp(a, !=, b, unit_go_on)
#define EXPECT_LT(a, b)		unit_cmp(a, <, b, unit_go_on)
#define EXPECT_LE(a, b)		unit_cmp(a, <=, b, unit_go_on)
#define EXPECT_GT(a, b)		unit_cmp(a, >, b, unit_go_on)
#define EXPECT_GE(a, b)		unit_cmp(a, >=, b, unit_go_on)
#define EXPECT_NEAR(g, w, t)	unit_near(g, w, t, unit_go_on)
#define EXPECT_STREQ(a, b)	unit_streq(a, b, unit_go_on)
#define EXPECT_BYTES(a, b, n) \
	((void)unit_same_bytes(__FILE__, __LINE__, a, b, n))

#define ASSERT_TRUE(c)		unit_true(c, unit_end_test())
#define ASSERT_FALSE(c)		unit_true(!(c), unit_end_test())
#define ASSERT_EQ(a, b)		unit_cmp(a, ==, b, unit_end_test())
#define ASSERT_NE(a, b)		unit_cmp(a, !=, b, unit_end_test())
#define ASSERT_LT(a, b)		unit_cmp(a, <, b, unit_end_test())
#define ASSERT_LE(a, b)		unit_cmp(a, <=, b, unit_end_test())
#define ASSERT_GT(a, b)		unit_cmp(a, >, b, unit_end_test())
#define ASSERT_GE(a, b)		unit_cmp(a, >=, b, unit_end_test())
#define ASSERT_NEAR(g, w, t)	unit_near(g, w, t, unit_end_test())
#define ASSERT_STREQ(a, b)	unit_streq(a, b, unit_end_test())
#define ASSERT_BYTES(a, b, n) do {					\
	if (!unit_same_bytes(__FILE__, __LINE__, a, b, n))		\
		unit_end_test();					\
} while (0)

/* This test makes core WARN, @n times. */
#define EXPECT_WARN(n)		unit_expect_warn(n)

#endif
