// SPDX-License-Identifier: GPL-2.0
/*
 * falcon-perf: throughput and latency of Falcon stream and seqpacket sockets,
 * and of TCP beside them, between a server and a client. falcon-perf(1) says
 * what the figures mean. This file is the command line.
 */
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/falcon.h>
#include "perf.h"

#define MAX_PARALLEL	128

const struct proto protos[] = {
	{ "stream",	SOCK_STREAM,	IPPROTO_FALCON },
	{ "seqpacket",	SOCK_SEQPACKET,	IPPROTO_FALCON },
	{ "tcp",	SOCK_STREAM,	IPPROTO_TCP },
};

const unsigned int nr_protos = ARRAY_SIZE(protos);

struct options opt = {
	.port		= "5202",
	.proto		= &protos[0],
	.parallel	= 1,
	.len		= 128 << 10,
};

volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

void die(const char *fmt, ...)
{
	va_list ap;

	fputs("falcon-perf: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void *xalloc(size_t len)
{
	void *p = calloc(1, len);

	if (!p)
		die("no memory");
	return p;
}

static void usage(FILE *out)
{
	fputs("Usage: falcon-perf -s [ -p PORT ] [ -B ADDR ] [ -1 ]\n"
	      "       falcon-perf -c HOST [ -p PORT ] [ -T stream|seqpacket|tcp ]\n"
	      "                   [ -L | -R ] [ -l BYTES ] [ -t SECONDS | -n BYTES ]\n"
	      "                   [ -P CONNECTIONS ] [ -V ] [ -w BYTES ] [ -C NAME ]\n"
	      "                   [ -i SECONDS ] [ -j ]\n"
	      "BYTES may end with K, M or G (1024).\n", out);
}

static u64 parse_bytes(const char *arg)
{
	static const char units[] = "KMG";
	const char *unit;
	double v;
	char *end;

	v = strtod(arg, &end);
	if (end == arg || v < 0)
		die("\"%s\" is not a number of bytes", arg);
	if (*end) {
		unit = strchr(units, *end & ~0x20);
		if (!unit || end[1])
			die("\"%s\" is not a number of bytes", arg);
		v *= 1ull << (10 * (unit - units + 1));
	}
	return v;
}

static double parse_number(const char *arg, double max)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || v < 0 || v > max)
		die("\"%s\" is not a number up to %.0f", arg, max);
	return v;
}

static const struct proto *parse_proto(const char *arg)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(protos); i++)
		if (!strcmp(arg, protos[i].name))
			return &protos[i];
	die("\"%s\" is not stream, seqpacket or tcp", arg);
}

static void parse_options(int argc, char **argv)
{
	u64 len = 0;
	int c;

	while ((c = getopt(argc, argv, "sc:p:B:1T:LRl:t:n:P:Vw:C:i:jh")) != -1) {
		switch (c) {
		case 's':
			opt.server = true;
			break;
		case 'c':
			opt.host = optarg;
			break;
		case 'p':
			opt.port = optarg;
			break;
		case 'B':
			opt.bind = optarg;
			break;
		case '1':
			opt.one = true;
			break;
		case 'T':
			opt.proto = parse_proto(optarg);
			break;
		case 'L':
			opt.mode = PERF_PING_PONG;
			break;
		case 'R':
			opt.mode = PERF_REVERSE;
			break;
		case 'l':
			len = parse_bytes(optarg);
			if (!len || len > PERF_MAX_LEN)
				die("a message has 1 byte to 64 MiB");
			break;
		case 't':
			opt.max_ns = parse_number(optarg, 86400) * 1e9;
			break;
		case 'n':
			opt.max_bytes = parse_bytes(optarg);
			break;
		case 'P':
			opt.parallel = parse_number(optarg, MAX_PARALLEL);
			break;
		case 'V':
			opt.verify = true;
			break;
		case 'w':
			opt.buf = parse_bytes(optarg);
			break;
		case 'C':
			opt.congestion = optarg;
			break;
		case 'i':
			opt.interval = parse_number(optarg, 3600);
			break;
		case 'j':
			opt.json = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(1);
		}
	}
	if (optind < argc || opt.server == !!opt.host || !opt.parallel) {
		usage(stderr);
		exit(1);
	}
	if (len)
		opt.len = len;
	else if (opt.mode == PERF_PING_PONG)
		opt.len = 64;
	if (!opt.max_ns && !opt.max_bytes)
		opt.max_ns = 10000000000ull;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };

	parse_options(argc, argv);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	return opt.server ? run_server() : run_client();
}
