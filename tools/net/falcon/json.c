// SPDX-License-Identifier: GPL-2.0
/*
 * A JSON writer: objects and arrays as deep as the command needs, written as
 * they come, indented with -p.
 */
#include <stdio.h>
#include "cli.h"

#define MAX_DEPTH	8

static struct {
	char close[MAX_DEPTH];
	bool some[MAX_DEPTH + 1];	/* not the first value of its level */
	unsigned int depth;
} js;

static void json_quote(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void json_newline(void)
{
	unsigned int i;

	if (!opt.pretty)
		return;
	putchar('\n');
	for (i = 0; i < js.depth; i++)
		fputs("    ", stdout);
}

static void json_name(const char *name)
{
	if (js.some[js.depth])
		putchar(',');
	js.some[js.depth] = true;
	if (js.depth)
		json_newline();
	if (!name)
		return;
	json_quote(name);
	putchar(':');
	if (opt.pretty)
		putchar(' ');
}

void json_open(const char *name, char bracket)
{
	json_name(name);
	putchar(bracket);
	js.close[js.depth++] = bracket == '{' ? '}' : ']';
	js.some[js.depth] = false;
}

void json_close(void)
{
	bool some = js.some[js.depth];

	js.depth--;
	if (some)
		json_newline();
	putchar(js.close[js.depth]);
	if (!js.depth)
		json_end_line();
}

/* Values at the top are lines of their own: a stream of JSON. */
void json_end_line(void)
{
	putchar('\n');
	js.some[0] = false;
}

void json_str(const char *name, const char *value)
{
	json_name(name);
	json_quote(value);
}

void json_u64(const char *name, unsigned long long value)
{
	json_name(name);
	printf("%llu", value);
}

void json_i64(const char *name, long long value)
{
	json_name(name);
	printf("%lld", value);
}

void json_bool(const char *name, bool value)
{
	json_name(name);
	fputs(value ? "true" : "false", stdout);
}
