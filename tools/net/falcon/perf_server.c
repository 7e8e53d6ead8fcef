// SPDX-License-Identifier: GPL-2.0
/*
 * The server of falcon-perf: one port, every protocol that the kernel has, a
 * thread a connection; the client's hello says what to do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "perf.h"

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg, err;
	struct result r = { 0 };
	struct perf_hello h;
	char c;

	set_buffers(fd);
	err = recv_hello(fd, &h);
	if (err)
		goto out;
	switch (h.mode) {
	case PERF_SEND:
		err = recv_data(fd, &h, &r, NULL);
		if (!err)
			err = send_report(fd, &r);
		break;
	case PERF_REVERSE:
		err = send_data(fd, &h, NULL);
		/* The end of the other direction: all of it was read. */
		if (!err && recv(fd, &c, 1, 0) < 0)
			err = -errno;
		break;
	case PERF_PING_PONG:
		err = pong(fd, &h);
		break;
	default:
		err = -EPROTO;
	}
out:
	if (err)
		fprintf(stderr, "falcon-perf: connection: %s\n",
			strerror(-err));
	close(fd);
	return NULL;
}

static int listen_on(const struct proto *p, int family)
{
	struct addrinfo hints = {
		.ai_family	= family,
		.ai_socktype	= SOCK_STREAM,
		.ai_flags	= AI_PASSIVE,
	}, *ai;
	int fd, one = 1, zero = 0, err;

	err = getaddrinfo(opt.bind, opt.port, &hints, &ai);
	if (err)
		die("%s: %s", opt.bind ?: opt.port, gai_strerror(err));
	fd = socket(ai->ai_family, p->type, p->proto);
	if (fd < 0)
		goto out;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 128)) {
		err = errno;
		close(fd);
		errno = err;
		fd = -1;
	}
out:
	freeaddrinfo(ai);
	return fd;
}

static void serve_one(int listener)
{
	pthread_t thread;
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		return;
	if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd))
		die("no thread");
	if (opt.one)
		pthread_join(thread, NULL);
	else
		pthread_detach(thread);
}

int run_server(void)
{
	struct pollfd pfd[8];
	unsigned int i, n = 0;

	for (i = 0; i < nr_protos; i++) {
		int fd = listen_on(&protos[i], opt.bind ? AF_UNSPEC : AF_INET6);

		if (fd < 0 && errno == EAFNOSUPPORT)
			fd = listen_on(&protos[i], AF_INET);
		if (fd < 0 && (errno == EPROTONOSUPPORT ||
			       errno == ESOCKTNOSUPPORT))
			continue;
		if (fd < 0)
			die("%s: cannot listen: %s", protos[i].name,
			    strerror(errno));
		pfd[n].fd = fd;
		pfd[n++].events = POLLIN;
	}
	while (!stop) {
		if (poll(pfd, n, -1) < 0)
			continue;
		for (i = 0; i < n; i++) {
			if (!(pfd[i].revents & POLLIN))
				continue;
			serve_one(pfd[i].fd);
			if (opt.one)
				return 0;
		}
	}
	return 0;
}
