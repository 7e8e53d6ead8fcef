// SPDX-License-Identifier: GPL-2.0
/*
 * falcon: look at Falcon connections, counters and NICs, and end connections.
 *
 * Options, objects, and `falcon monitor`. The rest is a file an object.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include "cli.h"

#ifndef FALCON_CLI_VERSION
#define FALCON_CLI_VERSION	"1"
#endif

struct options opt;

static void usage(FILE *out)
{
	fputs("Usage: falcon [ OPTIONS ] OBJECT { COMMAND | help }\n"
	      "where  OBJECT := { conn | key | stat | nic | param | monitor }\n"
	      "       OPTIONS := { -j json | -p pretty | -n numeric | -d details |\n"
	      "                    -s statistics | -t timestamp | -4 | -6 |\n"
	      "                    -N NETNS | -V version | -h help }\n"
	      "\n"
	      "       falcon conn [ show ] [ FILTER ]\n"
	      "       falcon conn kill { FILTER | all }\n"
	      "       falcon key { [ list ] | rotate [ wait SECONDS ] }\n"
	      "       falcon stat [ -z ] [ cid CID ] [ NAME-GLOB ... ]\n"
	      "       falcon nic [ show ] [ dev DEV ]\n"
	      "       falcon param [ NAME-GLOB ... ]\n"
	      "       falcon monitor\n"
	      "where  FILTER := [ state STATE[,STATE...] ] [ src ADDR[/LEN][:PORT] ]\n"
	      "                 [ dst ADDR[/LEN][:PORT] ] [ sport PORT ] [ dport PORT ]\n"
	      "                 [ cid CID ] [ ulp { sock | rdma | nvme } ]\n"
	      "       STATE  := { setup | established | closing | dead | all }\n",
	      out);
}

void usage_error(const char *fmt, ...)
{
	va_list ap;

	fputs("falcon: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\nTry \"falcon help\".\n", stderr);
	exit(EXIT_USAGE);
}

bool matches(const char *arg, const char *word)
{
	return *arg && !strncmp(arg, word, strlen(arg));
}

u32 parse_u32(const char *what, const char *arg, u32 max)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(arg, &end, 0);
	if (errno || end == arg || *end || *arg == '-' || v > max)
		usage_error("%s: \"%s\" is not a number up to %u", what, arg,
			    max);
	return v;
}

static void enter_netns(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/var/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0) {
		fprintf(stderr, "falcon: network namespace \"%s\": %s\n", name,
			strerror(errno));
		exit(EXIT_KERNEL);
	}
	close(fd);
}

static int monitor_one(const struct nlmsghdr *nlh, void *data)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	struct timespec ts;
	char when[32];
	struct tm tm;

	(void)data;
	if (genl->cmd != FALCON_CMD_CONN_NTF)
		return MNL_CB_OK;
	if (opt.timestamp && !opt.json) {
		clock_gettime(CLOCK_REALTIME, &ts);
		localtime_r(&ts.tv_sec, &tm);
		strftime(when, sizeof(when), "%FT%T", &tm);
		printf("[%s.%06ld] ", when, ts.tv_nsec / 1000);
	}
	conn_print(nlh);
	fflush(stdout);
	return MNL_CB_OK;
}

int do_monitor(int argc, char **argv)
{
	if (argc)
		usage_error("monitor: \"%s\" is not understood", argv[0]);
	conn_print_header();
	fflush(stdout);
	return nl_listen(monitor_one, NULL) ? EXIT_KERNEL : 0;
}

static const struct object {
	const char *name;
	int (*run)(int argc, char **argv);
} objects[] = {
	{ "conn",	do_conn },
	{ "key",	do_key },
	{ "stat",	do_stat },
	{ "nic",	do_nic },
	{ "param",	do_param },
	{ "monitor",	do_monitor },
};

static void parse_options(int argc, char **argv)
{
	int c;

	/* '+': options of an object, such as stat's -z, are its own. */
	while ((c = getopt(argc, argv, "+jpndst46N:Vh")) != -1) {
		switch (c) {
		case 'j':
			opt.json = true;
			break;
		case 'p':
			opt.pretty = true;
			break;
		case 'n':
			opt.numeric = true;
			break;
		case 'd':
			opt.details = true;
			break;
		case 's':
			opt.stats = true;
			break;
		case 't':
			opt.timestamp = true;
			break;
		case '4':
			opt.family = AF_INET;
			break;
		case '6':
			opt.family = AF_INET6;
			break;
		case 'N':
			enter_netns(optarg);
			break;
		case 'V':
			puts("falcon utility, " FALCON_CLI_VERSION);
			exit(0);
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(EXIT_USAGE);
		}
	}
}

int main(int argc, char **argv)
{
	const struct object *o;
	int ret;

	parse_options(argc, argv);
	argc -= optind;
	argv += optind;
	if (argc && !strcmp(argv[0], "help")) {
		usage(stdout);
		return 0;
	}
	if (!argc) {
		usage(stderr);
		return EXIT_USAGE;
	}
	for (o = objects; o < objects + ARRAY_SIZE(objects); o++)
		if (matches(argv[0], o->name))
			break;
	if (o == objects + ARRAY_SIZE(objects))
		usage_error("\"%s\" is not an object", argv[0]);
	if (argc > 1 && !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	nl_open();
	ret = o->run(argc - 1, argv + 1);
	nl_close();
	if (fflush(stdout) || ferror(stdout)) {
		perror("falcon: standard output");
		return EXIT_KERNEL;
	}
	return ret;
}
