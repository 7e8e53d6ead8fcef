// SPDX-License-Identifier: GPL-2.0
/*
 * falcon_sock_test: what an application may expect of a Falcon socket.
 *
 * Every sub-test is named after one behaviour of sockets, and most of them
 * hold for TCP (streams) or for one-to-one SCTP (messages) too: run with
 * -p tcp or -p sctp they show that the expectation is the right one.
 *
 * Runs in a network namespace of its own over loopback, or, with -s, -c and
 * -a, with its two ends in two namespaces.  Output is TAP.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "sock_test.h"

#define EXIT_SKIP	4
#define LIMIT_S		60	/* of a sub-test, under emulation */
#define LIMIT_LONG_S	240

static const struct sock_test *const tables[] = {
	sock_setup_tests,
	sock_io_tests,
	sock_close_tests,
	sock_poll_tests,
	sock_memory_tests,
	sock_option_tests,
};

static const struct protocol {
	const char *name;
	int protocol;
	int stream;
	int seqpacket;
} protocols[] = {
	{ "falcon", IPPROTO_FALCON, SOCK_STREAM, SOCK_SEQPACKET },
	{ "tcp", IPPROTO_TCP, SOCK_STREAM, -1 },
	{ "sctp", IPPROTO_SCTP, -1, SOCK_STREAM },
};

static const struct protocol *protocol = protocols;
static const char *only = "*";
static bool run_long;
static bool list;

static const char help[] =
	"usage: falcon_sock_test [OPTION]... [PATTERN]\n"
	"  -p falcon|tcp|sctp      protocol (falcon)\n"
	"  -t stream|seqpacket     bytes or messages (stream)\n"
	"  -4, -6                  family (IPv4)\n"
	"  -s FILE -c FILE         namespaces of server and client (/run/netns/X)\n"
	"  -a ADDRESS              server's address (loopback)\n"
	"  -L                      run the sub-tests that take minutes too\n"
	"  -l                      list the sub-tests\n"
	"PATTERN picks sub-tests by name, as a shell does.\n";

static void choose_protocol(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(protocols); i++) {
		if (strcmp(name, protocols[i].name))
			continue;
		protocol = &protocols[i];
		return;
	}
	fprintf(stderr, "falcon_sock_test: no protocol '%s'\n", name);
	exit(2);
}

static int open_ns(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	perror(path);
	exit(2);
}

static void parse(int argc, char **argv)
{
	int c;

	params.family = AF_INET;
	params.ns[SERVER] = -1;
	params.ns[CLIENT] = -1;
	while ((c = getopt(argc, argv, "p:t:46s:c:a:Llh")) != -1) {
		switch (c) {
		case 'p':
			choose_protocol(optarg);
			break;
		case 't':
			params.seqpacket = !strcmp(optarg, "seqpacket");
			break;
		case '4':
			params.family = AF_INET;
			break;
		case '6':
			params.family = AF_INET6;
			break;
		case 's':
			params.ns[SERVER] = open_ns(optarg);
			break;
		case 'c':
			params.ns[CLIENT] = open_ns(optarg);
			break;
		case 'a':
			params.host = optarg;
			break;
		case 'L':
			run_long = true;
			break;
		case 'l':
			list = true;
			break;
		default:
			fputs(help, c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
	if (optind < argc)
		only = argv[optind];
	params.protocol = protocol->protocol;
	params.type = params.seqpacket ? protocol->seqpacket : protocol->stream;
	if (!params.host)
		params.host = params.family == AF_INET ? "127.0.0.1" : "::1";
}

static bool applies(const struct sock_test *test)
{
	if (!(test->on & (params.seqpacket ? ON_SEQPACKET : ON_STREAM)))
		return false;
	if (test->on & ON_FALCON && !is_falcon())
		return false;
	if (test->on & ON_NOT_SCTP && params.protocol == IPPROTO_SCTP)
		return false;
	if (test->on & ON_IP6 && params.family != AF_INET6)
		return false;
	if (test->on & ON_LONG && !run_long)
		return false;
	return !fnmatch(only, test->name, 0);
}

static void run_child(const struct sock_test *test)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(test->on & ON_LONG ? LIMIT_LONG_S : LIMIT_S);
	test->run();
	fflush(stdout);
	_exit(0);
}

/* Runs one sub-test and prints its result; true unless it failed. */
static bool run_one(const struct sock_test *test, int nr)
{
	long long start = now_ms();
	const char *why = "";
	bool good = true;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		run_child(test);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("# fork");
		status = 1;
	}
	kill(-pid, SIGKILL);

	if (WIFSIGNALED(status)) {
		good = false;
		why = WTERMSIG(status) == SIGALRM ? " # out of time" :
			strsignal(WTERMSIG(status));
	} else if (WEXITSTATUS(status) == EXIT_SKIP) {
		why = " # SKIP";
	} else {
		good = !WEXITSTATUS(status);
	}
	printf("%s %d %s%s%s\n", good ? "ok" : "not ok", nr, test->name,
	       why[0] && why[0] != ' ' ? " # killed: " : "", why);
	if (now_ms() - start > 5000)
		printf("# took %lld ms\n", now_ms() - start);
	return good;
}

/* Calls fn for each sub-test that applies; counts them, and those not good. */
static int for_each(bool (*fn)(const struct sock_test *test, int nr), int *bad)
{
	const struct sock_test *test;
	int nr = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		for (test = tables[i]; test->name; test++) {
			if (applies(test) && !fn(test, ++nr))
				(*bad)++;
		}
	}
	return nr;
}

static bool print_name(const struct sock_test *test, int nr)
{
	(void)nr;
	puts(test->name);
	return true;
}

static bool just_count(const struct sock_test *test, int nr)
{
	(void)test;
	(void)nr;
	return true;
}

int main(int argc, char **argv)
{
	int bad = 0;
	int fd, nr;

	parse(argc, argv);
	if (list) {
		for_each(print_name, &bad);
		return 0;
	}

	puts("TAP version 13");
	if (params.type < 0) {
		printf("1..0 # SKIP %s has no such type\n", protocol->name);
		return EXIT_SKIP;
	}
	fd = socket(params.family, params.type, params.protocol);
	if (fd < 0) {
		printf("1..0 # SKIP no %s sockets\n", protocol->name);
		return EXIT_SKIP;
	}
	close(fd);
	if (params.ns[SERVER] < 0)
		fresh_net();

	printf("1..%d\n", for_each(just_count, &bad));
	nr = for_each(run_one, &bad);
	printf("# %d passed, %d failed\n", nr - bad, bad);
	return bad ? 1 : 0;
}
