// SPDX-License-Identifier: GPL-2.0
/*
 * falcon_many: many connections that do nothing.
 *
 * Both ends make their sockets, print "ready", and hold them until stdin ends;
 * what an established, idle connection costs can be measured meanwhile.  With
 * -v the client first has every connection carry a byte and back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/falcon.h>

static const char help[] =
	"usage: falcon_many [-p falcon|tcp] [-v] [-P PORT] -n N -l     accept\n"
	"       falcon_many [-p falcon|tcp] [-v] [-P PORT] -n N HOST   connect\n";

static int protocol = IPPROTO_FALCON;
static const char *port = "7001";
static bool verify;
static bool passive;
static int number = 1;
static int *fds;

static void die(const char *what)
{
	fprintf(stderr, "falcon_many: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void allow_files(int n)
{
	struct rlimit limit = { n + 64, n + 64 };

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		die("setrlimit");
}

static struct addrinfo *resolve(const char *host)
{
	struct addrinfo hints = {
		.ai_family = host ? AF_UNSPEC : AF_INET6,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE,
	};
	struct addrinfo *ai;

	if (getaddrinfo(host, port, &hints, &ai)) {
		fprintf(stderr, "falcon_many: no address %s\n", host);
		exit(2);
	}
	return ai;
}

static int new_socket(int family)
{
	int fd = socket(family, SOCK_STREAM, protocol);

	if (fd < 0)
		die("socket");
	return fd;
}

static void accept_all(void)
{
	struct addrinfo *ai = resolve(NULL);
	int listener = new_socket(ai->ai_family);
	char byte;
	int i;

	if (bind(listener, ai->ai_addr, ai->ai_addrlen) < 0)
		die("bind");
	if (listen(listener, 512) < 0)
		die("listen");
	for (i = 0; i < number; i++) {
		fds[i] = accept(listener, NULL, NULL);
		if (fds[i] < 0)
			die("accept");
	}
	for (i = 0; verify && i < number; i++)
		if (read(fds[i], &byte, 1) != 1 || write(fds[i], &byte, 1) != 1)
			die("echo");
	close(listener);
}

static int connect_one(const struct addrinfo *ai)
{
	struct timespec wait = { 0, 50000000 };
	int tries = 100;
	int fd;

	for (;;) {
		fd = new_socket(ai->ai_family);
		if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
			return fd;
		if (errno != ECONNREFUSED || !tries--)
			die("connect");
		close(fd);
		nanosleep(&wait, NULL);
	}
}

static void connect_all(const char *host)
{
	struct addrinfo *ai = resolve(host);
	char byte;
	int i;

	for (i = 0; i < number; i++)
		fds[i] = connect_one(ai);
	for (i = 0; verify && i < number; i++) {
		byte = i;
		if (write(fds[i], &byte, 1) != 1)
			die("write");
	}
	for (i = 0; verify && i < number; i++)
		if (read(fds[i], &byte, 1) != 1 || byte != (char)i)
			die("read");
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "p:P:n:vlh")) != -1) {
		switch (c) {
		case 'p':
			if (!strcmp(optarg, "tcp"))
				protocol = IPPROTO_TCP;
			break;
		case 'P':
			port = optarg;
			break;
		case 'n':
			number = atoi(optarg);
			break;
		case 'v':
			verify = true;
			break;
		case 'l':
			passive = true;
			break;
		default:
			fputs(help, c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
	if (number < 1 || (!passive && !argv[optind])) {
		fputs(help, stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	allow_files(number);
	fds = calloc(number, sizeof(*fds));
	if (!fds)
		die("calloc");
	if (passive)
		accept_all();
	else
		connect_all(argv[optind]);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
