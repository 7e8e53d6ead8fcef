// SPDX-License-Identifier: GPL-2.0
/*
 * Ending a connection: in order, half, by force, by accident; and what the
 * other end is told.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "sock_test.h"

#define SOON_MS		10000

static void close_gives_the_peer_end_of_file(void)
{
	int client, server;

	sock_pair(&client, &server);
	send_pattern(client, 1000, 1, 0);
	close(client);
	recv_pattern(server, 1000, 1, 0);
	recv_eof(server);
	recv_eof(server);
}

static void half_closed_connection_works_the_other_way(void)
{
	int client, server;

	sock_pair(&client, &server);
	send_pattern(client, 100, 1, 0);
	OK(shutdown(client, SHUT_WR));
	recv_pattern(server, 100, 1, 0);
	recv_eof(server);
	send_pattern(server, 200000, 2, 0);
	close(server);
	recv_pattern(client, 200000, 2, 0);
	recv_eof(client);
}

static void write_after_shutdown_breaks_the_pipe(void)
{
	int client, server;

	sock_pair(&client, &server);
	count_signal(SIGPIPE);
	OK(shutdown(client, SHUT_WR));
	CHECK_ERR(send(client, "x", 1, MSG_NOSIGNAL), EPIPE);
	CHECK_EQ(signals_seen(), 0);
	CHECK_ERR(send(client, "x", 1, 0), EPIPE);
	CHECK_EQ(signals_seen(), 1);
	CHECK_ERR(write(client, "x", 1), EPIPE);
	CHECK_EQ(signals_seen(), 2);
}

static void shutdown_twice_is_fine(void)
{
	int client, server;

	sock_pair(&client, &server);
	OK(shutdown(client, SHUT_WR));
	OK(shutdown(client, SHUT_WR));
	OK(shutdown(client, SHUT_RDWR));
	recv_eof(server);
}

static void shutdown_of_an_unconnected_socket_fails(void)
{
	CHECK_ERR(shutdown(sock_new(CLIENT), SHUT_WR), ENOTCONN);
}

static void shutdown_checks_its_argument(void)
{
	int client, server;

	sock_pair(&client, &server);
	CHECK_ERR(shutdown(client, 3), EINVAL);
}

static void shut_rd_reads_end_of_file_and_still_writes(void)
{
	int client, server;

	sock_pair(&client, &server);
	OK(shutdown(server, SHUT_RD));
	recv_eof(server);
	CHECK(wait_for(server, POLLIN | POLLRDHUP, 0) == (POLLIN | POLLRDHUP));
	send_pattern(server, 100, 1, 0);
	recv_pattern(client, 100, 1, 0);
}

static void shutdown_soon(void *arg)
{
	sleep_ms(200);
	OK(shutdown(*(int *)arg, SHUT_RDWR));
}

static void shutdown_wakes_a_reader(void)
{
	int client, server;
	pid_t pid;

	sock_pair(&client, &server);
	pid = spawn(shutdown_soon, &server);
	recv_eof(server);
	reap(pid);
}

static void shutdown_wakes_a_writer(void)
{
	int client, server;
	pid_t pid;

	sock_pair(&client, &server);
	stuff(client, 4096, 1);
	pid = spawn(shutdown_soon, &client);
	CHECK_EQ(write_until_error(client), EPIPE);
	reap(pid);
}

static void shut_listener_soon(void *arg)
{
	sleep_ms(200);
	OK(shutdown(*(int *)arg, SHUT_RD));
}

static void shutdown_of_a_listener_wakes_accept(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	pid_t pid = spawn(shut_listener_soon, &listener);
	int fd;

	CHECK_ERR(accept(listener, NULL, NULL), EINVAL);
	reap(pid);
	fd = sock_new(CLIENT);
	CHECK_ERR(connect(fd, &addr.sa, addr.len), ECONNREFUSED);
	OK(listen(listener, 1));
	addr_name(listener, &addr);
	OK(connect(sock_new(CLIENT), &addr.sa, addr.len));
}

/* Waits until the reset of the peer is here. */
static void expect_reset(int fd)
{
	char byte;

	CHECK(wait_for(fd, POLLIN, SOON_MS) & (POLLERR | POLLHUP));
	CHECK_ERR(recv(fd, &byte, 1, 0), ECONNRESET);
	recv_eof(fd);
	CHECK_ERR(send(fd, &byte, 1, MSG_NOSIGNAL), EPIPE);
}

static void close_with_unread_data_resets(void)
{
	int client, server;

	sock_pair(&client, &server);
	send_pattern(client, 100, 1, 0);
	CHECK(wait_for(server, POLLIN, SOON_MS) & POLLIN);
	close(server);
	expect_reset(client);
}

static void linger_zero_resets(void)
{
	int client, server;

	sock_pair(&client, &server);
	set_linger(client, true, 0);
	close(client);
	expect_reset(server);
}

static void so_error_tells_a_reset_once(void)
{
	int client, server;
	char byte;

	sock_pair(&client, &server);
	set_linger(client, true, 0);
	close(client);
	CHECK(wait_for(server, POLLIN, SOON_MS) & POLLERR);
	CHECK_EQ(sock_error(server), ECONNRESET);
	CHECK_EQ(sock_error(server), 0);
	CHECK_EQ(OK(recv(server, &byte, 1, 0)), 0);
}

static void write_to_a_closed_peer_ends_in_an_error(void)
{
	int client, server, tries;
	long ret = 0;

	sock_pair(&client, &server);
	close(server);
	CHECK(wait_for(client, POLLIN, SOON_MS) & POLLIN);
	for (tries = 0; tries < 100 && ret >= 0; tries++) {
		ret = send(client, "x", 1, MSG_NOSIGNAL);
		sleep_ms(20);
	}
	CHECK(ret < 0);
	CHECK(errno == EPIPE || errno == ECONNRESET);
}

static void sigpipe_kills_by_default(void)
{
	int client, server, status;
	pid_t pid;

	sock_pair(&client, &server);
	pid = OK(fork());
	if (!pid) {
		OK(shutdown(client, SHUT_WR));
		send(client, "x", 1, 0);
		_exit(0);
	}
	OK(waitpid(pid, &status, 0));
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

static void data_sent_before_close_arrives(void)
{
	int client, server;
	size_t stuffed;

	sock_pair(&client, &server);
	stuffed = stuff(client, 4096, 1);
	close(client);
	sleep_ms(200);
	recv_pattern(server, stuffed, 1, 0);
	recv_eof(server);
}

static void *read_late(void *arg)
{
	int fd = *(int *)arg;
	char buf[16384];

	sleep_ms(500);
	while (OK(recv(fd, buf, sizeof(buf), 0)))
		;
	return NULL;
}

static void linger_waits_for_the_data(void)
{
	int client, server;
	pthread_t thread;
	long long start;

	sock_pair(&client, &server);
	stuff(client, 4096, 1);
	set_linger(client, true, 20);
	start = now_ms();
	CHECK_EQ(pthread_create(&thread, NULL, read_late, &server), 0);
	close(client);
	CHECK_WAITED(start, 500);
	CHECK(now_ms() - start < 15000);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void linger_waits_no_longer_than_told(void)
{
	int client, server;
	long long start;

	sock_pair(&client, &server);
	stuff(client, 4096, 1);
	set_linger(client, true, 1);
	start = now_ms();
	close(client);
	CHECK_WAITED(start, 1000);
	CHECK(now_ms() - start < 10000);
}

static void close_without_linger_returns_at_once(void)
{
	int client, server;
	long long start;

	sock_pair(&client, &server);
	stuff(client, 4096, 1);
	start = now_ms();
	close(client);
	CHECK(now_ms() - start < 5000);
}

static void hold(void *arg)
{
	(void)arg;
	sleep_ms(600000);
}

static void killed_process_closes_its_sockets(void)
{
	int client, server, status;
	pid_t pid;

	sock_pair(&client, &server);
	pid = spawn(hold, NULL);
	close(client);
	CHECK_EQ(wait_for(server, POLLIN, 200), 0);
	OK(kill(pid, SIGKILL));
	OK(waitpid(pid, &status, 0));
	CHECK(wait_for(server, POLLIN, SOON_MS) & POLLIN);
	recv_eof(server);
}

static void *reset_soon(void *arg)
{
	int fd = *(int *)arg;

	sleep_ms(300);
	set_linger(fd, true, 0);
	close(fd);
	return NULL;
}

static void reset_wakes_a_writer(void)
{
	int client, server;
	pthread_t thread;

	sock_pair(&client, &server);
	stuff(client, 4096, 1);
	CHECK_EQ(pthread_create(&thread, NULL, reset_soon, &server), 0);
	CHECK_EQ(write_until_error(client), ECONNRESET);
	CHECK_ERR(send(client, "x", 1, MSG_NOSIGNAL), EPIPE);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void closed_listener_resets_those_in_its_queue(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 3);
	int first = sock_connect(&addr);
	int second = sock_connect(&addr);
	char byte;

	close(listener);
	CHECK(wait_for(first, POLLIN, SOON_MS) & (POLLIN | POLLERR));
	CHECK_ERR(recv(first, &byte, 1, 0), ECONNRESET);
	CHECK(wait_for(second, POLLIN, SOON_MS) & (POLLIN | POLLERR));
	CHECK_ERR(recv(second, &byte, 1, 0), ECONNRESET);
}

static void both_ends_may_close_at_once(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	int client, server, i;

	for (i = 0; i < 30; i++) {
		client = sock_connect(&addr);
		server = OK(accept(listener, NULL, NULL));
		send_pattern(client, 100, 1, 0);
		recv_pattern(server, 100, 1, 0);
		close(i % 2 ? client : server);
		close(i % 2 ? server : client);
	}
}

static void client_gone_before_accept(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 4);
	int client = sock_connect(&addr);
	int server;

	send_pattern(client, 100, 1, 0);
	close(client);
	sleep_ms(100);
	server = OK(accept(listener, NULL, NULL));
	recv_pattern(server, 100, 1, 0);
	recv_eof(server);

	client = sock_connect(&addr);
	set_linger(client, true, 0);
	close(client);
	sleep_ms(200);
	client = sock_connect(&addr);
	send_pattern(client, 10, 2, 0);
	set_nonblock(listener, true);
	/* The one that was reset may come first, alone, or not at all. */
	for (;;) {
		CHECK(wait_for(listener, POLLIN, SOON_MS) & POLLIN);
		server = OK(accept(listener, NULL, NULL));
		if (wait_for(server, POLLIN, SOON_MS) == POLLIN)
			break;
		close(server);
	}
	recv_pattern(server, 10, 2, 0);
}

static void close_while_connecting(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 64);
	int fd, i;

	for (i = 0; i < 30; i++) {
		fd = sock_new(CLIENT);
		set_nonblock(fd, true);
		CHECK_ERR(connect(fd, &addr.sa, addr.len), EINPROGRESS);
		if (i % 3 == 0)
			sleep_ms(1);
		close(fd);
	}
	set_nonblock(listener, true);
	while ((fd = accept(listener, NULL, NULL)) >= 0)
		close(fd);
	CHECK_EQ(errno, EAGAIN);
	fd = sock_connect(&addr);
	send_pattern(fd, 10, 1, 0);
}

static void *accept_and_close(void *arg)
{
	int listener = *(int *)arg;
	int fd;

	while ((fd = accept(listener, NULL, NULL)) >= 0)
		close(fd);
	CHECK_EQ(errno, EINVAL);
	return NULL;
}

static void accept_races_with_close(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 8);
	pthread_t threads[2];
	int i, fd;

	for (i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, accept_and_close,
					&listener), 0);
	for (i = 0; i < 100; i++) {
		fd = sock_connect(&addr);
		if (i % 2)
			set_linger(fd, true, 0);
		close(fd);
	}
	OK(shutdown(listener, SHUT_RD));
	for (i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static void *send_for_ever(void *arg)
{
	static char buf[8192];

	while (send(*(int *)arg, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
	return NULL;
}

static void reset_races_with_traffic(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 2);
	int client, server, i, j;
	pthread_t thread;
	char buf[4096];

	for (i = 0; i < 15; i++) {
		client = sock_connect(&addr);
		server = OK(accept(listener, NULL, NULL));
		CHECK_EQ(pthread_create(&thread, NULL, send_for_ever, &client),
			 0);
		for (j = 0; j < i; j++)
			OK(recv(server, buf, sizeof(buf), 0));
		set_linger(server, true, 0);
		close(server);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		close(client);
	}
}

/* Its window is full, so that nothing in band reaches it. */
static void reset_reaches_a_sleeping_reader(void)
{
	struct timeval limit = { .tv_sec = 60 };
	char buf[4096];
	int client, server;

	sock_pair(&client, &server);
	stuff(client, 4096, 1);
	set_linger(client, true, 0);
	close(client);
	sleep_ms(9000);
	OK(setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	while (recv(server, buf, sizeof(buf), 0) > 0)
		continue;
	CHECK_EQ(errno, ECONNRESET);
}

static void listening_port_is_usable_at_once_with_reuseaddr(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	int client, server, one = 1;

	OK(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	client = sock_connect(&addr);
	server = OK(accept(listener, NULL, NULL));
	close(server);
	close(listener);
	recv_eof(client);
	close(client);
	listener = sock_new(SERVER);
	OK(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	sock_connect(&addr);
}

const struct sock_test sock_close_tests[] = {
#define TEST(name, on) { #name, name, on }
	TEST(close_gives_the_peer_end_of_file, ON_BOTH),
	TEST(half_closed_connection_works_the_other_way,
	     ON_BOTH | ON_NOT_SCTP),
	TEST(write_after_shutdown_breaks_the_pipe, ON_BOTH | ON_NOT_SCTP),
	TEST(shutdown_twice_is_fine, ON_BOTH | ON_NOT_SCTP),
	TEST(shutdown_of_an_unconnected_socket_fails, ON_BOTH),
	TEST(shutdown_checks_its_argument, ON_BOTH),
	TEST(shut_rd_reads_end_of_file_and_still_writes,
	     ON_BOTH | ON_NOT_SCTP),
	TEST(shutdown_wakes_a_reader, ON_BOTH | ON_NOT_SCTP),
	TEST(shutdown_wakes_a_writer, ON_BOTH | ON_NOT_SCTP),
	TEST(shutdown_of_a_listener_wakes_accept, ON_BOTH | ON_NOT_SCTP),
	TEST(close_with_unread_data_resets, ON_BOTH | ON_NOT_SCTP),
	TEST(linger_zero_resets, ON_BOTH | ON_NOT_SCTP),
	TEST(so_error_tells_a_reset_once, ON_BOTH | ON_NOT_SCTP),
	TEST(write_to_a_closed_peer_ends_in_an_error, ON_BOTH),
	TEST(sigpipe_kills_by_default, ON_BOTH | ON_NOT_SCTP),
	TEST(data_sent_before_close_arrives, ON_BOTH),
	TEST(linger_waits_for_the_data, ON_BOTH | ON_NOT_SCTP),
	TEST(linger_waits_no_longer_than_told, ON_BOTH | ON_NOT_SCTP),
	TEST(close_without_linger_returns_at_once, ON_BOTH),
	TEST(killed_process_closes_its_sockets, ON_BOTH),
	TEST(reset_wakes_a_writer, ON_BOTH | ON_NOT_SCTP),
	TEST(closed_listener_resets_those_in_its_queue,
	     ON_BOTH | ON_NOT_SCTP),
	TEST(both_ends_may_close_at_once, ON_BOTH),
	TEST(client_gone_before_accept, ON_BOTH | ON_NOT_SCTP),
	TEST(close_while_connecting, ON_BOTH),
	TEST(accept_races_with_close, ON_BOTH | ON_NOT_SCTP),
	TEST(reset_races_with_traffic, ON_BOTH),
	TEST(reset_reaches_a_sleeping_reader, ON_BOTH | ON_NOT_SCTP),
	TEST(listening_port_is_usable_at_once_with_reuseaddr, ON_BOTH),
	{ }
};
