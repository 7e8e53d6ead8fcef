// SPDX-License-Identifier: GPL-2.0
/*
 * What falcon-run(1) preloads: a program's TCP sockets become Falcon sockets.
 *
 * socket() makes the exchange. A Falcon socket accepts most of TCP's options
 * itself; those that only tune TCP are answered here with success. A socket
 * that turns out to be for a port of FALCON_RUN_EXCEPT goes back to TCP when
 * it is bound or connected. Nothing else of the program changes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/falcon.h>

#define REAL(name)							\
	((__typeof__(name) *)real(#name, &cached_##name))

static void *cached_socket, *cached_bind, *cached_connect, *cached_setsockopt;

/* Threads that race store the same pointer. */
static void *real(const char *name, void **cache)
{
	void *fn = __atomic_load_n(cache, __ATOMIC_RELAXED);

	if (!fn) {
		fn = dlsym(RTLD_NEXT, name);
		if (!fn)
			abort();
		__atomic_store_n(cache, fn, __ATOMIC_RELAXED);
	}
	return fn;
}

static int int_opt(int fd, int name)
{
	socklen_t len = sizeof(int);
	int v = -1;

	getsockopt(fd, SOL_SOCKET, name, &v, &len);
	return v;
}

static bool is_falcon(int fd)
{
	return int_opt(fd, SO_PROTOCOL) == IPPROTO_FALCON;
}

static bool is_excepted(unsigned int port)
{
	const char *p = getenv("FALCON_RUN_EXCEPT");
	char *end;

	while (p && *p) {
		if (strtoul(p, &end, 10) == port && end != p)
			return true;
		p = strchr(p, ',');
		p += !!p;
	}
	return false;
}

static bool wants_tcp(const struct sockaddr *sa, socklen_t len)
{
	if (!sa || len < sizeof(struct sockaddr_in))
		return false;
	if (sa->sa_family == AF_INET)
		return is_excepted(ntohs(((struct sockaddr_in *)sa)->sin_port));
	if (sa->sa_family == AF_INET6 && len >= sizeof(struct sockaddr_in6))
		return is_excepted(ntohs(((struct sockaddr_in6 *)sa)->sin6_port));
	return false;
}

static void copy_opt(int from, int to, int name)
{
	int v = int_opt(from, name);

	if (v >= 0)
		REAL(setsockopt)(to, SOL_SOCKET, name, &v, sizeof(v));
}

/* Put a TCP socket in the place of @fd, with what was set so far. */
static int back_to_tcp(int fd)
{
	int fl = fcntl(fd, F_GETFL), fdfl = fcntl(fd, F_GETFD);
	int tcp, ret;

	tcp = REAL(socket)(int_opt(fd, SO_DOMAIN), SOCK_STREAM, IPPROTO_TCP);
	if (tcp < 0)
		return -1;
	copy_opt(fd, tcp, SO_REUSEADDR);
	copy_opt(fd, tcp, SO_REUSEPORT);
	copy_opt(fd, tcp, SO_KEEPALIVE);
	ret = dup3(tcp, fd, fdfl & FD_CLOEXEC ? O_CLOEXEC : 0);
	close(tcp);
	if (ret >= 0)
		fcntl(fd, F_SETFL, fl);
	return ret;
}

/* Options that tune TCP and mean nothing to Falcon. */
static bool is_tuning(int name)
{
	switch (name) {
	case TCP_CORK:
	case TCP_DEFER_ACCEPT:
	case TCP_FASTOPEN:
	case TCP_FASTOPEN_CONNECT:
	case TCP_KEEPCNT:
	case TCP_KEEPIDLE:
	case TCP_KEEPINTVL:
	case TCP_LINGER2:
	case TCP_NODELAY:
	case TCP_NOTSENT_LOWAT:
	case TCP_QUICKACK:
	case TCP_SYNCNT:
	case TCP_THIN_DUPACK:
	case TCP_THIN_LINEAR_TIMEOUTS:
	case TCP_USER_TIMEOUT:
	case TCP_WINDOW_CLAMP:
		return true;
	}
	return false;
}

int socket(int domain, int type, int protocol)
{
	bool inet = domain == AF_INET || domain == AF_INET6;
	int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (inet && kind == SOCK_STREAM &&
	    (protocol == 0 || protocol == IPPROTO_TCP))
		protocol = IPPROTO_FALCON;
	return REAL(socket)(domain, type, protocol);
}

int bind(int fd, const struct sockaddr *sa, socklen_t len)
{
	if (wants_tcp(sa, len) && is_falcon(fd) && back_to_tcp(fd) < 0)
		return -1;
	return REAL(bind)(fd, sa, len);
}

int connect(int fd, const struct sockaddr *sa, socklen_t len)
{
	if (wants_tcp(sa, len) && is_falcon(fd) && back_to_tcp(fd) < 0)
		return -1;
	return REAL(connect)(fd, sa, len);
}

int setsockopt(int fd, int level, int name, const void *val, socklen_t len)
{
	int ret = REAL(setsockopt)(fd, level, name, val, len);

	if (ret < 0 && level == IPPROTO_TCP && is_tuning(name) &&
	    (errno == ENOPROTOOPT || errno == EOPNOTSUPP) && is_falcon(fd))
		ret = 0;
	return ret;
}
