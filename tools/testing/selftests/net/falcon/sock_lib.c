// SPDX-License-Identifier: GPL-2.0
/*
 * Helpers of falcon_sock_test: sockets and addresses of the protocol under
 * test, bytes that tell their place in the stream, namespaces, children.
 * Everything here ends the sub-test where it fails.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include "sock_test.h"

#define EXIT_SKIP	4
#define CHUNK		16384

struct sock_params params;

static void fail(const char *file, int line, const char *what,
		 const char *detail)
{
	printf("# %s:%d: %s%s\n", file, line, what, detail);
	fflush(stdout);
	_exit(1);
}

void check_at(const char *file, int line, bool holds, const char *what)
{
	if (!holds)
		fail(file, line, what, "");
}

void check_eq_at(const char *file, int line, long long got, long long want,
		 const char *what)
{
	char detail[80];

	if (got == want)
		return;
	snprintf(detail, sizeof(detail), ": %lld, not %lld", got, want);
	fail(file, line, what, detail);
}

void check_err_at(const char *file, int line, long ret, int want,
		  const char *what)
{
	char detail[80];
	int err = errno;

	if (ret < 0 && err == want)
		return;
	if (ret < 0)
		snprintf(detail, sizeof(detail), ": %s, not %s",
			 strerrorname_np(err), strerrorname_np(want));
	else
		snprintf(detail, sizeof(detail), ": succeeded (%ld), not %s",
			 ret, strerrorname_np(want));
	fail(file, line, what, detail);
}

long ok_at(const char *file, int line, long ret, const char *what)
{
	char detail[40];

	if (ret >= 0)
		return ret;
	snprintf(detail, sizeof(detail), ": %s", strerrorname_np(errno));
	fail(file, line, what, detail);
	return ret;
}

void skip(const char *why)
{
	printf("# SKIP %s\n", why);
	fflush(stdout);
	_exit(EXIT_SKIP);
}

bool is_falcon(void)
{
	return params.protocol == IPPROTO_FALCON;
}

long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

int sock_new_as(enum side side, int family, int type)
{
	if (params.ns[side] >= 0)
		OK(setns(params.ns[side], CLONE_NEWNET));
	return OK(socket(family, type, params.protocol));
}

int sock_new(enum side side)
{
	return sock_new_as(side, params.family, params.type);
}

static void addr_of(struct addr *addr, int family, const char *host, int port)
{
	memset(addr, 0, sizeof(*addr));
	addr->sa.sa_family = family;
	if (family == AF_INET) {
		addr->len = sizeof(addr->in);
		CHECK_EQ(inet_pton(family, host, &addr->in.sin_addr), 1);
	} else {
		addr->len = sizeof(addr->in6);
		CHECK_EQ(inet_pton(family, host, &addr->in6.sin6_addr), 1);
	}
	addr_set_port(addr, port);
}

void addr_server(struct addr *addr, int port)
{
	addr_of(addr, params.family, params.host, port);
}

void addr_any(struct addr *addr, int port)
{
	addr_of(addr, params.family,
		params.family == AF_INET ? "0.0.0.0" : "::", port);
}

void addr_name(int fd, struct addr *addr)
{
	addr->len = sizeof(addr->ss);
	OK(getsockname(fd, &addr->sa, &addr->len));
}

int addr_port(const struct addr *addr)
{
	return ntohs(addr->sa.sa_family == AF_INET ? addr->in.sin_port :
		     addr->in6.sin6_port);
}

void addr_set_port(struct addr *addr, int port)
{
	if (addr->sa.sa_family == AF_INET)
		addr->in.sin_port = htons(port);
	else
		addr->in6.sin6_port = htons(port);
}

bool addr_same_host(const struct addr *a, const struct addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr,
		       sizeof(a->in6.sin6_addr));
}

/* Listens at the server's address, on a port of the kernel's choice. */
int sock_listen(struct addr *addr, int backlog)
{
	int fd = sock_new(SERVER);

	addr_server(addr, 0);
	OK(bind(fd, &addr->sa, addr->len));
	OK(listen(fd, backlog));
	addr_name(fd, addr);
	return fd;
}

int sock_connect(const struct addr *addr)
{
	int fd = sock_new(CLIENT);

	OK(connect(fd, &addr->sa, addr->len));
	return fd;
}

void sock_pair(int *client, int *server)
{
	sock_pair_buffers(client, server, 0, 0);
}

/* Buffers are set before there is a connection, as an application would. */
void sock_pair_buffers(int *client, int *server, int sndbuf, int rcvbuf)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);

	*client = sock_new(CLIENT);
	if (rcvbuf)
		OK(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &rcvbuf,
			      sizeof(rcvbuf)));
	if (sndbuf)
		OK(setsockopt(*client, SOL_SOCKET, SO_SNDBUF, &sndbuf,
			      sizeof(sndbuf)));
	OK(connect(*client, &addr.sa, addr.len));
	*server = OK(accept(listener, NULL, NULL));
	close(listener);
}

int sock_error(int fd)
{
	socklen_t len = sizeof(int);
	int err = 0;

	OK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len));
	return err;
}

void set_nonblock(int fd, bool on)
{
	int flags = OK(fcntl(fd, F_GETFL));

	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	OK(fcntl(fd, F_SETFL, flags));
}

void set_linger(int fd, bool on, int seconds)
{
	struct linger linger = { on, seconds };

	OK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
}

void set_timeout(int fd, int optname, unsigned int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	OK(setsockopt(fd, SOL_SOCKET, optname, &tv, sizeof(tv)));
}

/* The events that poll() reports, 0 if none came in time. */
int wait_for(int fd, short events, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	OK(poll(&pfd, 1, timeout_ms));
	return pfd.revents;
}

/* A byte that differs from its neighbours and from those a segment away. */
__u8 pattern(unsigned int seed, __u64 offset)
{
	return ((__u32)(offset + seed * 977) * 2654435761u) >> 24;
}

void fill_pattern(void *buf, size_t len, unsigned int seed, __u64 offset)
{
	__u8 *p = buf;
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = pattern(seed, offset + i);
}

void check_pattern(const void *buf, size_t len, unsigned int seed,
		   __u64 offset)
{
	const __u8 *p = buf;
	size_t i;

	for (i = 0; i < len; i++) {
		if (p[i] == pattern(seed, offset + i))
			continue;
		printf("# byte %llu is %#x, not %#x\n",
		       (unsigned long long)(offset + i), p[i],
		       pattern(seed, offset + i));
		CHECK_EQ(p[i], pattern(seed, offset + i));
	}
}

void send_pattern(int fd, size_t len, unsigned int seed, __u64 offset)
{
	__u8 buf[CHUNK];
	size_t n;
	long sent;

	while (len) {
		n = len < sizeof(buf) ? len : sizeof(buf);
		fill_pattern(buf, n, seed, offset);
		sent = OK(send(fd, buf, n, MSG_NOSIGNAL));
		len -= sent;
		offset += sent;
	}
}

void recv_pattern(int fd, size_t len, unsigned int seed, __u64 offset)
{
	__u8 buf[CHUNK];
	long got;

	while (len) {
		got = OK(recv(fd, buf, len < sizeof(buf) ? len : sizeof(buf),
			      0));
		CHECK(got > 0);
		check_pattern(buf, got, seed, offset);
		len -= got;
		offset += got;
	}
}

/* Sends until neither end takes any more for a while, not even a byte, and
 * tells how much was taken. Leaves the socket as it was.
 */
size_t stuff(int fd, size_t chunk, unsigned int seed)
{
	__u8 buf[CHUNK];
	size_t total = 0;
	long sent;

	CHECK(chunk <= sizeof(buf));
	for (;;) {
		fill_pattern(buf, chunk, seed, total);
		sent = send(fd, buf, chunk, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0) {
			CHECK_ERR(sent, EAGAIN);
			if (wait_for(fd, POLLOUT, 500))
				continue;
			sent = send(fd, buf, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
			if (sent < 0) {
				CHECK_ERR(sent, EAGAIN);
				return total;
			}
		}
		total += sent;
	}
}

/* The errno that ends a series of writes nobody reads; 0 if none did. */
int write_until_error(int fd)
{
	int left = 1 << 20;

	while (left--)
		if (send(fd, "x", 1, MSG_NOSIGNAL) < 0)
			return errno;
	return 0;
}

void recv_eof(int fd)
{
	char byte;

	CHECK_EQ(OK(recv(fd, &byte, 1, 0)), 0);
}

/* A namespace that nobody has used, with its loopback up. */
void fresh_net(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		skip("no right to make a network namespace");
	fd = OK(socket(AF_INET, SOCK_DGRAM, 0));
	ifr.ifr_flags = IFF_UP | IFF_RUNNING;
	OK(ioctl(fd, SIOCSIFFLAGS, &ifr));
	close(fd);
	params.ns[SERVER] = -1;
	params.ns[CLIENT] = -1;
	params.host = params.family == AF_INET ? "127.0.0.1" : "::1";
}

/* Of the present namespace; name below net/, with slashes. */
void write_sysctl(const char *name, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	fd = OK(open(path, O_WRONLY));
	CHECK_EQ(OK(write(fd, value, strlen(value))), (long)strlen(value));
	close(fd);
}

/* Runs fn in a child; it ends well by returning. */
pid_t spawn(void (*fn)(void *arg), void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = OK(fork());
	if (!pid) {
		fn(arg);
		fflush(stdout);
		_exit(0);
	}
	return pid;
}

void reap(pid_t pid)
{
	int status;

	CHECK_EQ(OK(waitpid(pid, &status, 0)), pid);
	CHECK(WIFEXITED(status));
	if (WEXITSTATUS(status))
		_exit(WEXITSTATUS(status));
}

static int seen;

static void on_signal(int sig)
{
	(void)sig;
	__atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
}

/* The signal is counted, and interrupts system calls. */
void count_signal(int sig)
{
	struct sigaction sa = { .sa_handler = on_signal };

	seen = 0;
	OK(sigaction(sig, &sa, NULL));
}

int signals_seen(void)
{
	return __atomic_load_n(&seen, __ATOMIC_RELAXED);
}
