// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests of one program in the order of its source and prints TAP.
 *
 * usage: test_X [-l] [PATTERN...]: -l lists the names; a PATTERN (fnmatch)
 * selects tests. Exits 0 only if all that ran passed, and some did.
 */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "harness.h"

static struct unit_test *unit_tests;
static struct unit_test **unit_tail = &unit_tests;
static jmp_buf unit_env;
static unsigned int unit_failures;
static unsigned int unit_warns_expected;
static u64 unit_seed;

void unit_register(struct unit_test *t)
{
	*unit_tail = t;
	unit_tail = &t->next;
}

void unit_fail(const char *file, int line, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	va_list ap;

	/* The first failures say it all; a loop may make millions. */
	if (unit_failures++ >= 10)
		return;
	printf("# %s:%d: ", base ? base + 1 : file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

unsigned int unit_failed(void)
{
	return unit_failures;
}

void unit_end_test(void)
{
	longjmp(unit_env, 1);
}

void unit_expect_warn(unsigned int n)
{
	unit_warns_expected = n;
}

void unit_srand(u64 seed)
{
	unit_seed = seed;
}

/* A counter through the finaliser of a mixing hash (splitmix64). */
u64 unit_rand(void)
{
	u64 z = unit_seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

u64 unit_rand_below(u64 n)
{
	return unit_rand() % n;
}

bool unit_same_bytes(const char *file, int line, const void *a, const void *b,
		     size_t len)
{
	const u8 *x = a, *y = b;
	size_t i;

	for (i = 0; i < len; i++) {
		if (x[i] == y[i])
			continue;
		unit_fail(file, line, "byte %zu of %zu: %02x, not %02x", i,
			  len, x[i], y[i]);
		return false;
	}
	return true;
}

static bool unit_selected(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!fnmatch(argv[i], name, 0))
			return true;
	return argc < 2;
}

static bool unit_run(const struct unit_test *t)
{
	unsigned int warned = shim_warnings;

	unit_failures = 0;
	unit_warns_expected = 0;
	unit_srand(1);
	if (!setjmp(unit_env))
		t->fn();

	warned = shim_warnings - warned;
	if (warned != unit_warns_expected)
		unit_fail(__FILE__, __LINE__, "%u warnings, %u expected",
			  warned, unit_warns_expected);
	return !unit_failures;
}

int main(int argc, char **argv)
{
	unsigned int n = 0, failed = 0;
	const struct unit_test *t;
	bool list = argc > 1 && !strcmp(argv[1], "-l");

	for (t = unit_tests; t; t = t->next) {
		if (list)
			printf("%s\n", t->name);
		n += unit_selected(t->name, argc, argv);
	}
	if (list)
		return 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%u\n", n);
	n = 0;
	for (t = unit_tests; t; t = t->next) {
		bool ok;

		if (!unit_selected(t->name, argc, argv))
			continue;
		ok = unit_run(t);
		failed += !ok;
		printf("%sok %u - %s\n", ok ? "" : "not ", ++n, t->name);
	}
	printf("# passed %u of %u\n", n - failed, n);
	return failed || !n;
}
