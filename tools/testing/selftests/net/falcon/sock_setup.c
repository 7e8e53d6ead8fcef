// SPDX-License-Identifier: GPL-2.0
/*
 * Setting a connection up: bind, listen, connect, accept, names and ports.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "sock_test.h"

static void connect_to_closed_port_is_refused(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	int fd;

	close(listener);
	fd = sock_new(CLIENT);
	CHECK_ERR(connect(fd, &addr.sa, addr.len), ECONNREFUSED);
	CHECK_EQ(sock_error(fd), 0);
}

/* @fd is refused at @addr, where the socket returned may listen later. */
static int refuse(int fd, struct addr *addr)
{
	int listener = sock_new(SERVER);

	addr_server(addr, 0);
	OK(bind(listener, &addr->sa, addr->len));
	addr_name(listener, addr);
	CHECK_ERR(connect(fd, &addr->sa, addr->len), ECONNREFUSED);
	return listener;
}

static void refused_socket_can_connect_again(void)
{
	struct addr addr;
	int fd = sock_new(CLIENT);
	int listener = refuse(fd, &addr);

	OK(listen(listener, 1));
	OK(connect(fd, &addr.sa, addr.len));
}

static void refused_socket_can_bind(void)
{
	struct addr addr, own;
	int fd = sock_new(CLIENT);
	int listener = refuse(fd, &addr);

	addr_any(&own, 0);
	OK(bind(fd, &own.sa, own.len));
	OK(listen(listener, 1));
	OK(connect(fd, &addr.sa, addr.len));
}

static void nonblocking_connect_is_in_progress(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	int fd = sock_new(CLIENT);

	set_nonblock(fd, true);
	CHECK_ERR(connect(fd, &addr.sa, addr.len), EINPROGRESS);
	CHECK(wait_for(fd, POLLOUT, 10000) == POLLOUT);
	CHECK_EQ(sock_error(fd), 0);
	OK(connect(fd, &addr.sa, addr.len));
	CHECK_ERR(connect(fd, &addr.sa, addr.len), EISCONN);
	OK(accept(listener, NULL, NULL));
}

static void nonblocking_connect_reports_refusal(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	int fd = sock_new(CLIENT);

	close(listener);
	set_nonblock(fd, true);
	CHECK_ERR(connect(fd, &addr.sa, addr.len), EINPROGRESS);
	CHECK(wait_for(fd, POLLOUT, 10000) & POLLERR);
	CHECK_EQ(sock_error(fd), ECONNREFUSED);
	CHECK_EQ(sock_error(fd), 0);
}

/* A listener that takes nobody any more, and a client that waits for it. */
static int full_listener(struct addr *addr, int *waiting)
{
	int listener = sock_listen(addr, 0);
	int i;

	for (i = 0; i < 8; i++) {
		*waiting = sock_new(CLIENT);
		set_nonblock(*waiting, true);
		CHECK_ERR(connect(*waiting, &addr->sa, addr->len), EINPROGRESS);
		if (!wait_for(*waiting, POLLOUT, 400))
			return listener;
	}
	CHECK(!"the backlog is full");
	return -1;
}

static void second_connect_is_already_in_progress(void)
{
	struct addr addr;
	int fd;

	full_listener(&addr, &fd);
	CHECK_ERR(connect(fd, &addr.sa, addr.len), EALREADY);
	CHECK_ERR(send(fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT), EAGAIN);
}

static void shorten_the_wait(void)
{
	switch (params.protocol) {
	case IPPROTO_FALCON:
		write_sysctl("falcon/cm_retries", "2");
		write_sysctl("falcon/cm_rto_ms", "50");
		break;
	case IPPROTO_TCP:
		write_sysctl("ipv4/tcp_syn_retries", "1");
		break;
	default:
		skip("no way to shorten the wait");
	}
}

static void connect_without_answer_times_out(void)
{
	struct addr addr;
	int fd;

	fresh_net();
	full_listener(&addr, &fd);
	shorten_the_wait();
	fd = sock_new(CLIENT);
	CHECK_ERR(connect(fd, &addr.sa, addr.len), ETIMEDOUT);
}

static void blocking_connect_obeys_sndtimeo(void)
{
	struct addr addr;
	long long start;
	int fd;

	full_listener(&addr, &fd);
	fd = sock_new(CLIENT);
	set_timeout(fd, SO_SNDTIMEO, 200);
	start = now_ms();
	CHECK_ERR(connect(fd, &addr.sa, addr.len), EINPROGRESS);
	CHECK_WAITED(start, 200);
}

/* A socket, and an address that nothing leads to */
static int without_route(struct addr *addr)
{
	fresh_net();
	addr_server(addr, 5000);
	if (params.family == AF_INET)
		inet_pton(AF_INET, "192.0.2.1", &addr->in.sin_addr);
	else
		inet_pton(AF_INET6, "2001:db8::1", &addr->in6.sin6_addr);
	return sock_new(CLIENT);
}

static void connect_without_route_is_unreachable(void)
{
	struct addr addr;
	int fd = without_route(&addr);

	CHECK_ERR(connect(fd, &addr.sa, addr.len), ENETUNREACH);
}

static void failed_connect_takes_no_port(void)
{
	struct addr addr;
	int fd = without_route(&addr);

	CHECK_ERR(connect(fd, &addr.sa, addr.len), ENETUNREACH);
	addr_any(&addr, 5001);
	OK(bind(fd, &addr.sa, addr.len));
}

static void connect_to_any_reaches_loopback(void)
{
	struct addr addr, any;
	int listener, fd;

	fresh_net();
	listener = sock_listen(&addr, 1);
	addr_any(&any, addr_port(&addr));
	fd = sock_new(CLIENT);
	OK(connect(fd, &any.sa, any.len));
	OK(accept(listener, NULL, NULL));
}

static void connect_checks_the_address(void)
{
	struct addr addr;
	int fd = sock_new(CLIENT);

	addr_server(&addr, 5000);
	CHECK_ERR(connect(fd, &addr.sa, sizeof(sa_family_t) + 1), EINVAL);
	addr.sa.sa_family = AF_UNIX;
	CHECK_ERR(connect(fd, &addr.sa, addr.len), EAFNOSUPPORT);
}

static void connect_of_listener_fails(void)
{
	struct addr addr, other;
	int listener = sock_listen(&addr, 1);

	sock_listen(&other, 1);
	CHECK_ERR(connect(listener, &other.sa, other.len), EISCONN);
}

static void connect_unspec_disconnects(void)
{
	struct sockaddr unspec = { .sa_family = AF_UNSPEC };
	struct addr addr;
	int listener = sock_listen(&addr, 2);
	int client = sock_connect(&addr);
	int server = OK(accept(listener, NULL, NULL));
	char byte;

	OK(connect(client, &unspec, sizeof(unspec)));
	CHECK(wait_for(server, POLLIN, 10000));
	CHECK(recv(server, &byte, 1, 0) <= 0);
	CHECK_ERR(getpeername(client, &addr.sa, &(socklen_t){ addr.len }),
		  ENOTCONN);

	OK(connect(client, &addr.sa, addr.len));
	server = OK(accept(listener, NULL, NULL));
	send_pattern(client, 100, 1, 0);
	recv_pattern(server, 100, 1, 0);
}

static void bind_to_a_port_in_use_fails(void)
{
	struct addr addr;
	int fd;

	sock_listen(&addr, 1);
	fd = sock_new(SERVER);
	CHECK_ERR(bind(fd, &addr.sa, addr.len), EADDRINUSE);
	addr_any(&addr, addr_port(&addr));
	CHECK_ERR(bind(fd, &addr.sa, addr.len), EADDRINUSE);
}

static int bind_with(const struct addr *addr, int optname)
{
	int fd = sock_new(SERVER);
	int one = 1;

	OK(setsockopt(fd, SOL_SOCKET, optname, &one, sizeof(one)));
	OK(bind(fd, &addr->sa, addr->len));
	return fd;
}

static void reuseaddr_shares_a_port_without_listener(void)
{
	struct addr addr;
	int first, second, third;

	addr_server(&addr, 0);
	first = bind_with(&addr, SO_REUSEADDR);
	addr_name(first, &addr);
	second = bind_with(&addr, SO_REUSEADDR);
	OK(listen(first, 1));
	CHECK_ERR(listen(second, 1), EADDRINUSE);
	third = sock_new(SERVER);
	CHECK_ERR(bind(third, &addr.sa, addr.len), EADDRINUSE);
}

static void reuseport_shares_a_listening_port(void)
{
	struct addr addr;
	int first, second;

	addr_server(&addr, 0);
	first = bind_with(&addr, SO_REUSEPORT);
	addr_name(first, &addr);
	second = bind_with(&addr, SO_REUSEPORT);
	OK(listen(first, 1));
	OK(listen(second, 1));
	CHECK_ERR(bind(sock_new(SERVER), &addr.sa, addr.len), EADDRINUSE);
}

static void bind_to_a_foreign_address_fails(void)
{
	struct addr addr;
	int fd = sock_new(SERVER);

	addr_server(&addr, 0);
	if (params.family == AF_INET)
		inet_pton(AF_INET, "192.0.2.1", &addr.in.sin_addr);
	else
		inet_pton(AF_INET6, "2001:db8::1", &addr.in6.sin6_addr);
	CHECK_ERR(bind(fd, &addr.sa, addr.len), EADDRNOTAVAIL);
}

static void bind_checks_the_address(void)
{
	struct addr addr;
	int fd = sock_new(SERVER);

	addr_server(&addr, 0);
	CHECK_ERR(bind(fd, &addr.sa, sizeof(sa_family_t) + 1), EINVAL);
	addr.sa.sa_family = AF_UNIX;
	CHECK_ERR(bind(fd, &addr.sa, addr.len), EAFNOSUPPORT);
}

static void second_bind_fails(void)
{
	struct addr addr;
	int fd = sock_new(SERVER);

	addr_server(&addr, 0);
	OK(bind(fd, &addr.sa, addr.len));
	CHECK_ERR(bind(fd, &addr.sa, addr.len), EINVAL);
}

static void port_is_free_after_close(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);

	close(listener);
	OK(bind(sock_new(SERVER), &addr.sa, addr.len));
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = { };

	OK(syscall(SYS_capset, &head, none));
}

static void low_port_needs_cap_net_bind_service(void)
{
	struct addr addr;
	int fd;

	fresh_net();
	addr_server(&addr, 1001);
	OK(bind(sock_new(SERVER), &addr.sa, addr.len));
	drop_capabilities();
	addr_server(&addr, 1002);
	fd = sock_new(SERVER);
	CHECK_ERR(bind(fd, &addr.sa, addr.len), EACCES);
	addr_server(&addr, 1024);
	OK(bind(fd, &addr.sa, addr.len));
}

static void unprivileged_ports_can_start_lower(void)
{
	struct addr addr;

	fresh_net();
	write_sysctl("ipv4/ip_unprivileged_port_start", "1000");
	drop_capabilities();
	addr_server(&addr, 1002);
	OK(bind(sock_new(SERVER), &addr.sa, addr.len));
}

static void listen_without_bind_chooses_a_port(void)
{
	struct addr addr;
	int listener = sock_new(SERVER);

	OK(listen(listener, 1));
	addr_name(listener, &addr);
	CHECK(addr_port(&addr) != 0);
	addr_server(&addr, addr_port(&addr));
	sock_connect(&addr);
	OK(accept(listener, NULL, NULL));
}

static void listen_on_a_connection_fails(void)
{
	int client, server;

	sock_pair(&client, &server);
	CHECK_ERR(listen(client, 1), EINVAL);
	CHECK_ERR(listen(server, 1), EINVAL);
}

static void accept_of_no_listener_fails(void)
{
	int client, server;

	sock_pair(&client, &server);
	CHECK_ERR(accept(client, NULL, NULL), EINVAL);
	CHECK_ERR(accept(sock_new(SERVER), NULL, NULL), EINVAL);
}

static void accept_waits_as_told(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	long long start;

	set_timeout(listener, SO_RCVTIMEO, 200);
	start = now_ms();
	CHECK_ERR(accept(listener, NULL, NULL), EAGAIN);
	CHECK_WAITED(start, 200);
	set_nonblock(listener, true);
	CHECK_ERR(accept(listener, NULL, NULL), EAGAIN);
}

static void accept4_sets_flags(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	int fd;

	sock_connect(&addr);
	fd = OK(accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
	CHECK(OK(fcntl(fd, F_GETFL)) & O_NONBLOCK);
	CHECK(OK(fcntl(fd, F_GETFD)) & FD_CLOEXEC);
	sock_connect(&addr);
	fd = OK(accept(listener, NULL, NULL));
	CHECK(!(OK(fcntl(fd, F_GETFL)) & O_NONBLOCK));
}

static void accepted_socket_inherits_options(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	socklen_t len = sizeof(int);
	int keep = 1, fd;

	OK(setsockopt(listener, SOL_SOCKET, SO_KEEPALIVE, &keep, sizeof(keep)));
	sock_connect(&addr);
	fd = OK(accept(listener, NULL, NULL));
	keep = 0;
	OK(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &keep, &len));
	CHECK_EQ(keep, 1);
}

static void backlog_bounds_the_queue(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	int clients[6];
	int connected = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(clients); i++) {
		clients[i] = sock_new(CLIENT);
		set_nonblock(clients[i], true);
		CHECK_ERR(connect(clients[i], &addr.sa, addr.len), EINPROGRESS);
		connected += wait_for(clients[i], POLLOUT, 300) == POLLOUT;
	}
	CHECK(connected >= 1 && connected <= 2);

	/* Room in the queue lets those in that still ask. */
	for (i = 0; i < ARRAY_SIZE(clients); i++)
		OK(accept(listener, NULL, NULL));
	for (i = 0; i < ARRAY_SIZE(clients); i++)
		CHECK_EQ(wait_for(clients[i], POLLOUT, 20000), POLLOUT);
}

static void listen_again_changes_the_backlog(void)
{
	struct addr addr;
	int listener, i, fd;

	listener = full_listener(&addr, &fd);
	OK(listen(listener, 10));
	for (i = 0; i < 5; i++)
		sock_connect(&addr);
	CHECK_EQ(wait_for(fd, POLLOUT, 20000), POLLOUT);
}

static void names_agree_at_both_ends(void)
{
	struct addr a, b;
	int client, server;

	sock_pair(&client, &server);
	addr_name(client, &a);
	b.len = sizeof(b.ss);
	OK(getpeername(server, &b.sa, &b.len));
	CHECK_EQ(a.len, b.len);
	CHECK(addr_same_host(&a, &b));
	CHECK_EQ(addr_port(&a), addr_port(&b));

	addr_name(server, &a);
	b.len = sizeof(b.ss);
	OK(getpeername(client, &b.sa, &b.len));
	CHECK(addr_same_host(&a, &b));
	CHECK_EQ(addr_port(&a), addr_port(&b));
}

static void accept_tells_the_peers_name(void)
{
	struct addr addr, peer, name;
	int listener = sock_listen(&addr, 1);
	int client = sock_connect(&addr);

	peer.len = sizeof(peer.ss);
	OK(accept(listener, &peer.sa, &peer.len));
	addr_name(client, &name);
	CHECK_EQ(peer.len, name.len);
	CHECK(addr_same_host(&peer, &name));
	CHECK_EQ(addr_port(&peer), addr_port(&name));
}

static void names_of_a_fresh_socket(void)
{
	struct addr addr;
	int fd = sock_new(CLIENT);

	addr_name(fd, &addr);
	CHECK_EQ(addr.sa.sa_family, params.family);
	CHECK_EQ(addr_port(&addr), 0);
	CHECK_ERR(getpeername(fd, &addr.sa, &(socklen_t){ sizeof(addr.ss) }),
		  ENOTCONN);
}

static void client_binds_before_connect(void)
{
	struct addr addr, name, peer;
	int listener, fd;

	fresh_net();
	listener = sock_listen(&addr, 1);
	fd = sock_new(CLIENT);
	addr_server(&name, 12345);
	OK(bind(fd, &name.sa, name.len));
	OK(connect(fd, &addr.sa, addr.len));
	peer.len = sizeof(peer.ss);
	OK(accept(listener, &peer.sa, &peer.len));
	CHECK_EQ(addr_port(&peer), 12345);
}

static void ephemeral_ports_lie_in_their_range(void)
{
	struct addr addr, name;
	int ports[20];
	size_t i, j;

	fresh_net();
	write_sysctl("ipv4/ip_local_port_range", "40000 40063");
	sock_listen(&addr, ARRAY_SIZE(ports));
	for (i = 0; i < ARRAY_SIZE(ports); i++) {
		addr_name(sock_connect(&addr), &name);
		ports[i] = addr_port(&name);
		CHECK(ports[i] >= 40000 && ports[i] <= 40063);
		for (j = 0; j < i; j++)
			CHECK(ports[i] != ports[j]);
	}
}

static void ephemeral_ports_run_out(void)
{
	struct addr addr;
	int listener, fd, i, last = -1;

	fresh_net();
	addr_server(&addr, 5000);
	listener = sock_new(SERVER);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 20));
	write_sysctl("ipv4/ip_local_port_range", "40000 40007");
	for (i = 0; i < 8; i++)
		last = sock_connect(&addr);
	fd = sock_new(CLIENT);
	CHECK_ERR(connect(fd, &addr.sa, addr.len), EADDRNOTAVAIL);

	set_linger(last, true, 0);
	close(last);
	for (i = 0; i < 100; i++) {
		if (!connect(fd, &addr.sa, addr.len))
			return;
		CHECK_EQ(errno, EADDRNOTAVAIL);
		sleep_ms(100);
	}
	CHECK(!"a closed port is used again");
}

static void bind_to_port_zero_runs_out(void)
{
	struct addr addr;
	int i;

	fresh_net();
	write_sysctl("ipv4/ip_local_port_range", "40000 40003");
	addr_server(&addr, 0);
	for (i = 0; i < 4; i++)
		OK(bind(sock_new(SERVER), &addr.sa, addr.len));
	CHECK_ERR(bind(sock_new(SERVER), &addr.sa, addr.len), EADDRINUSE);
}

static int listen_any(struct addr *addr, int family, int v6only)
{
	int fd = sock_new_as(SERVER, family, params.type);

	if (family == AF_INET6)
		OK(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only,
			      sizeof(v6only)));
	memset(addr, 0, sizeof(*addr));
	addr->sa.sa_family = family;
	addr->len = family == AF_INET ? sizeof(addr->in) : sizeof(addr->in6);
	OK(bind(fd, &addr->sa, addr->len));
	OK(listen(fd, 4));
	addr_name(fd, addr);
	return fd;
}

static void addr_v4(struct addr *addr, int port)
{
	memset(addr, 0, sizeof(*addr));
	addr->in.sin_family = AF_INET;
	addr->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	addr->in.sin_port = htons(port);
	addr->len = sizeof(addr->in);
}

static void addr_v4_mapped(struct addr *addr, int port)
{
	memset(addr, 0, sizeof(*addr));
	addr->in6.sin6_family = AF_INET6;
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &addr->in6.sin6_addr);
	addr->in6.sin6_port = htons(port);
	addr->len = sizeof(addr->in6);
}

static void dual_stack_listener_takes_ipv4(void)
{
	struct addr addr, v4, peer;
	int listener, client, server;

	fresh_net();
	listener = listen_any(&addr, AF_INET6, 0);
	addr_v4(&v4, addr_port(&addr));
	client = sock_new_as(CLIENT, AF_INET, params.type);
	OK(connect(client, &v4.sa, v4.len));
	peer.len = sizeof(peer.ss);
	server = OK(accept(listener, &peer.sa, &peer.len));
	CHECK_EQ(peer.sa.sa_family, AF_INET6);
	CHECK(IN6_IS_ADDR_V4MAPPED(&peer.in6.sin6_addr));
	send_pattern(client, 1000, 1, 0);
	recv_pattern(server, 1000, 1, 0);
	send_pattern(server, 1000, 2, 0);
	recv_pattern(client, 1000, 2, 0);
}

static void v6only_listener_refuses_ipv4(void)
{
	struct addr addr, v4;
	int fd;

	fresh_net();
	listen_any(&addr, AF_INET6, 1);
	addr_v4(&v4, addr_port(&addr));
	fd = sock_new_as(CLIENT, AF_INET, params.type);
	CHECK_ERR(connect(fd, &v4.sa, v4.len), ECONNREFUSED);
	fd = sock_new_as(SERVER, AF_INET, params.type);
	OK(bind(fd, &v4.sa, v4.len));
}

static void dual_stack_listener_owns_the_ipv4_port(void)
{
	struct addr addr, v4;
	int fd;

	fresh_net();
	listen_any(&addr, AF_INET6, 0);
	addr_v4(&v4, addr_port(&addr));
	fd = sock_new_as(SERVER, AF_INET, params.type);
	CHECK_ERR(bind(fd, &v4.sa, v4.len), EADDRINUSE);
}

static void v4_mapped_connect_speaks_ipv4(void)
{
	struct addr addr, mapped, peer;
	int listener, client;

	fresh_net();
	listener = listen_any(&addr, AF_INET, 0);
	addr_v4_mapped(&mapped, addr_port(&addr));
	client = sock_new(CLIENT);
	OK(connect(client, &mapped.sa, mapped.len));
	peer.len = sizeof(peer.ss);
	OK(accept(listener, &peer.sa, &peer.len));
	CHECK_EQ(peer.sa.sa_family, AF_INET);
	addr_name(client, &addr);
	CHECK(IN6_IS_ADDR_V4MAPPED(&addr.in6.sin6_addr));
}

static void v6only_socket_cannot_reach_ipv4(void)
{
	struct addr addr, mapped;
	int client, one = 1;

	fresh_net();
	listen_any(&addr, AF_INET, 0);
	addr_v4_mapped(&mapped, addr_port(&addr));
	client = sock_new(CLIENT);
	OK(setsockopt(client, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)));
	CHECK_ERR(connect(client, &mapped.sa, mapped.len), ENETUNREACH);
}

static void specific_listener_beats_the_wildcard(void)
{
	struct addr any, addr;
	int wild, exact;

	fresh_net();
	addr_any(&any, 6000);
	wild = bind_with(&any, SO_REUSEPORT);
	addr_server(&addr, 6000);
	exact = bind_with(&addr, SO_REUSEPORT);
	OK(listen(wild, 1));
	OK(listen(exact, 1));
	sock_connect(&addr);
	CHECK(wait_for(exact, POLLIN, 10000) & POLLIN);
	set_nonblock(wild, true);
	CHECK_ERR(accept(wild, NULL, NULL), EAGAIN);
}

static void connect_elsewhere(void *arg)
{
	const struct addr *addr = arg;
	int fd;

	fresh_net();
	fd = sock_new(CLIENT);
	CHECK_ERR(connect(fd, &addr->sa, addr->len), ECONNREFUSED);
	OK(bind(sock_new(SERVER), &addr->sa, addr->len));
}

static void namespaces_do_not_see_each_other(void)
{
	struct addr addr;

	fresh_net();
	sock_listen(&addr, 1);
	reap(spawn(connect_elsewhere, &addr));
}

static void stream_and_seqpacket_are_distinct_services(void)
{
	int other = params.type == SOCK_STREAM ? SOCK_SEQPACKET : SOCK_STREAM;
	struct addr addr;
	int fd;

	sock_listen(&addr, 1);
	fd = sock_new_as(CLIENT, params.family, other);
	CHECK_ERR(connect(fd, &addr.sa, addr.len), ECONNREFUSED);
}

static void accept_and_echo(void *arg)
{
	int fd = OK(accept(*(int *)arg, NULL, NULL));

	recv_pattern(fd, 5000, 1, 0);
	send_pattern(fd, 5000, 2, 0);
}

static void forked_child_accepts(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	pid_t pid = spawn(accept_and_echo, &listener);
	int fd;

	close(listener);
	fd = sock_connect(&addr);
	send_pattern(fd, 5000, 1, 0);
	recv_pattern(fd, 5000, 2, 0);
	recv_eof(fd);
	reap(pid);
}

static void connection_outlives_the_listener(void)
{
	int client, server;

	sock_pair(&client, &server);
	send_pattern(client, 10000, 3, 0);
	recv_pattern(server, 10000, 3, 0);
}

static void many_connect_at_once(void)
{
	enum { NR = 48 };
	struct addr addr;
	int listener = sock_listen(&addr, NR);
	int client[NR];
	int i;

	for (i = 0; i < NR; i++) {
		client[i] = sock_new(CLIENT);
		set_nonblock(client[i], true);
		CHECK_ERR(connect(client[i], &addr.sa, addr.len), EINPROGRESS);
	}
	for (i = 0; i < NR; i++)
		OK(accept(listener, NULL, NULL));
	for (i = 0; i < NR; i++) {
		CHECK_EQ(wait_for(client[i], POLLOUT, 20000), POLLOUT);
		CHECK_EQ(sock_error(client[i]), 0);
	}
}

static void data_sent_before_accept_waits(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	int client = sock_connect(&addr);
	int server;

	send_pattern(client, 3000, 4, 0);
	sleep_ms(100);
	server = OK(accept(listener, NULL, NULL));
	recv_pattern(server, 3000, 4, 0);
}

const struct sock_test sock_setup_tests[] = {
#define TEST(name, on) { #name, name, on }
	TEST(connect_to_closed_port_is_refused, ON_BOTH | ON_NOT_SCTP),
	TEST(refused_socket_can_connect_again, ON_BOTH),
	TEST(refused_socket_can_bind, ON_BOTH | ON_NOT_SCTP),
	TEST(nonblocking_connect_is_in_progress, ON_BOTH | ON_NOT_SCTP),
	TEST(nonblocking_connect_reports_refusal, ON_BOTH),
	TEST(second_connect_is_already_in_progress, ON_BOTH | ON_NOT_SCTP),
	TEST(connect_without_answer_times_out, ON_BOTH | ON_NOT_SCTP),
	TEST(blocking_connect_obeys_sndtimeo, ON_BOTH | ON_NOT_SCTP),
	TEST(connect_without_route_is_unreachable, ON_BOTH),
	TEST(failed_connect_takes_no_port, ON_BOTH | ON_NOT_SCTP),
	TEST(connect_to_any_reaches_loopback, ON_BOTH | ON_NOT_SCTP),
	TEST(connect_checks_the_address, ON_BOTH | ON_NOT_SCTP),
	TEST(connect_of_listener_fails, ON_BOTH),
	TEST(connect_unspec_disconnects, ON_BOTH | ON_NOT_SCTP),
	TEST(bind_to_a_port_in_use_fails, ON_BOTH),
	TEST(reuseaddr_shares_a_port_without_listener, ON_BOTH),
	TEST(reuseport_shares_a_listening_port, ON_BOTH),
	TEST(bind_to_a_foreign_address_fails, ON_BOTH),
	TEST(bind_checks_the_address, ON_BOTH | ON_NOT_SCTP),
	TEST(second_bind_fails, ON_BOTH),
	TEST(port_is_free_after_close, ON_BOTH),
	TEST(low_port_needs_cap_net_bind_service, ON_BOTH),
	TEST(unprivileged_ports_can_start_lower, ON_BOTH),
	TEST(listen_without_bind_chooses_a_port, ON_BOTH),
	TEST(listen_on_a_connection_fails, ON_BOTH),
	TEST(accept_of_no_listener_fails, ON_BOTH),
	TEST(accept_waits_as_told, ON_BOTH),
	TEST(accept4_sets_flags, ON_BOTH),
	TEST(accepted_socket_inherits_options, ON_BOTH),
	TEST(backlog_bounds_the_queue, ON_BOTH | ON_NOT_SCTP),
	TEST(listen_again_changes_the_backlog, ON_BOTH | ON_NOT_SCTP),
	TEST(names_agree_at_both_ends, ON_BOTH),
	TEST(accept_tells_the_peers_name, ON_BOTH),
	TEST(names_of_a_fresh_socket, ON_BOTH),
	TEST(client_binds_before_connect, ON_BOTH),
	TEST(ephemeral_ports_lie_in_their_range, ON_BOTH),
	TEST(ephemeral_ports_run_out, ON_BOTH | ON_NOT_SCTP),
	TEST(bind_to_port_zero_runs_out, ON_BOTH),
	TEST(dual_stack_listener_takes_ipv4, ON_BOTH | ON_IP6),
	TEST(v6only_listener_refuses_ipv4, ON_BOTH | ON_IP6),
	TEST(dual_stack_listener_owns_the_ipv4_port, ON_BOTH | ON_IP6),
	TEST(v4_mapped_connect_speaks_ipv4, ON_BOTH | ON_IP6),
	TEST(v6only_socket_cannot_reach_ipv4, ON_BOTH | ON_IP6),
	TEST(specific_listener_beats_the_wildcard, ON_BOTH),
	TEST(namespaces_do_not_see_each_other, ON_BOTH),
	TEST(stream_and_seqpacket_are_distinct_services, ON_BOTH | ON_FALCON),
	TEST(forked_child_accepts, ON_BOTH),
	TEST(connection_outlives_the_listener, ON_BOTH),
	TEST(many_connect_at_once, ON_BOTH),
	TEST(data_sent_before_accept_waits, ON_BOTH),
	{ }
};
