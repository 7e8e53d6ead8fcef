// SPDX-License-Identifier: GPL-2.0
/*
 * Readiness: what poll(), select() and epoll report, by level and by edge.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include "sock_test.h"

#define SOON_MS		10000
#define QUIET_MS	300

static void fresh_socket_polls_hung_up(void)
{
	CHECK_EQ(wait_for(sock_new(CLIENT), POLLIN | POLLOUT, 0),
		 POLLOUT | POLLHUP);
}

static void connected_socket_polls_writable(void)
{
	int client, server;

	sock_pair(&client, &server);
	CHECK_EQ(wait_for(client, POLLIN | POLLOUT | POLLRDHUP, 0), POLLOUT);
	CHECK_EQ(wait_for(server, POLLIN | POLLOUT | POLLRDHUP, 0), POLLOUT);
}

static void listener_polls_readable_with_a_client(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);

	CHECK_EQ(wait_for(listener, POLLIN | POLLOUT, 100), 0);
	sock_connect(&addr);
	CHECK_EQ(wait_for(listener, POLLIN | POLLOUT, SOON_MS), POLLIN);
	OK(accept(listener, NULL, NULL));
	CHECK_EQ(wait_for(listener, POLLIN | POLLOUT, 0), 0);
}

static void data_polls_readable_until_read(void)
{
	int client, server;

	sock_pair(&client, &server);
	CHECK_EQ(wait_for(server, POLLIN, 0), 0);
	send_pattern(client, 10, 1, 0);
	CHECK_EQ(wait_for(server, POLLIN | POLLRDNORM, SOON_MS),
		 POLLIN | POLLRDNORM);
	recv_pattern(server, 4, 1, 0);
	CHECK_EQ(wait_for(server, POLLIN, 0), POLLIN);
	recv_pattern(server, 6, 1, 4);
	CHECK_EQ(wait_for(server, POLLIN, 0), 0);
}

static void full_socket_polls_writable_after_a_read(void)
{
	int client, server;
	size_t stuffed;

	sock_pair(&client, &server);
	stuffed = stuff(client, 4096, 1);
	CHECK_EQ(wait_for(client, POLLOUT, QUIET_MS), 0);
	recv_pattern(server, stuffed, 1, 0);
	CHECK_EQ(wait_for(client, POLLOUT, SOON_MS), POLLOUT);
}

static void end_of_file_polls_rdhup(void)
{
	int client, server;

	sock_pair(&client, &server);
	OK(shutdown(client, SHUT_WR));
	CHECK_EQ(wait_for(server, POLLRDHUP, SOON_MS), POLLRDHUP);
	CHECK_EQ(wait_for(server, POLLIN | POLLOUT | POLLRDHUP, 0),
		 POLLIN | POLLOUT | POLLRDHUP);
}

static void both_directions_shut_poll_hup(void)
{
	int client, server, tries, events = 0;

	sock_pair(&client, &server);
	OK(shutdown(client, SHUT_WR));
	OK(shutdown(server, SHUT_WR));
	for (tries = 0; tries < 100 && !(events & POLLHUP); tries++) {
		sleep_ms(20);
		events = wait_for(server, POLLIN | POLLRDHUP, 0);
	}
	CHECK_EQ(events, POLLIN | POLLRDHUP | POLLHUP);
}

static void reset_polls_error_and_hup(void)
{
	int client, server;
	int events;

	sock_pair(&client, &server);
	set_linger(client, true, 0);
	close(client);
	events = wait_for(server, POLLIN | POLLRDHUP, SOON_MS);
	CHECK_EQ(events, POLLIN | POLLRDHUP | POLLERR | POLLHUP);
}

static void select_agrees_with_poll(void)
{
	struct timeval now = { 0, 0 };
	int client, server;
	fd_set in, out;

	sock_pair(&client, &server);
	send_pattern(client, 1, 1, 0);
	CHECK(wait_for(server, POLLIN, SOON_MS) & POLLIN);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(server, &in);
	FD_SET(client, &in);
	FD_SET(client, &out);
	CHECK_EQ(OK(select(FD_SETSIZE, &in, &out, NULL, &now)), 2);
	CHECK(FD_ISSET(server, &in));
	CHECK(!FD_ISSET(client, &in));
	CHECK(FD_ISSET(client, &out));
}

static int watch(int fd, __u32 events)
{
	struct epoll_event ev = { .events = events };
	int epoll = OK(epoll_create1(EPOLL_CLOEXEC));

	OK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev));
	return epoll;
}

static __u32 next_event(int epoll, int timeout_ms)
{
	struct epoll_event ev = { };

	OK(epoll_wait(epoll, &ev, 1, timeout_ms));
	return ev.events;
}

static void level_triggered_epoll_repeats(void)
{
	int client, server, epoll;

	sock_pair(&client, &server);
	epoll = watch(server, EPOLLIN);
	CHECK_EQ(next_event(epoll, 0), 0);
	send_pattern(client, 10, 1, 0);
	CHECK_EQ(next_event(epoll, SOON_MS), EPOLLIN);
	CHECK_EQ(next_event(epoll, 0), EPOLLIN);
	recv_pattern(server, 10, 1, 0);
	CHECK_EQ(next_event(epoll, 0), 0);
}

static void edge_triggered_epoll_tells_new_data_once(void)
{
	int client, server, epoll;

	sock_pair(&client, &server);
	epoll = watch(server, EPOLLIN | EPOLLET);
	send_pattern(client, 10, 1, 0);
	CHECK_EQ(next_event(epoll, SOON_MS), EPOLLIN);
	CHECK_EQ(next_event(epoll, QUIET_MS), 0);
	send_pattern(client, 10, 1, 10);
	CHECK_EQ(next_event(epoll, SOON_MS), EPOLLIN);
	recv_pattern(server, 20, 1, 0);
	CHECK_EQ(next_event(epoll, 0), 0);
}

static void edge_triggered_epoll_tells_room_once(void)
{
	int client, server, epoll;
	size_t stuffed;

	sock_pair(&client, &server);
	epoll = watch(client, EPOLLOUT | EPOLLET);
	CHECK_EQ(next_event(epoll, SOON_MS), EPOLLOUT);
	CHECK_EQ(next_event(epoll, QUIET_MS), 0);
	stuffed = stuff(client, 4096, 1);
	while (next_event(epoll, QUIET_MS))
		;
	recv_pattern(server, stuffed, 1, 0);
	CHECK_EQ(next_event(epoll, SOON_MS), EPOLLOUT);
}

static void edge_triggered_epoll_tells_the_end(void)
{
	int client, server, epoll;

	sock_pair(&client, &server);
	epoll = watch(server, EPOLLIN | EPOLLRDHUP | EPOLLET);
	close(client);
	CHECK_EQ(next_event(epoll, SOON_MS), EPOLLIN | EPOLLRDHUP);
	recv_eof(server);
}

static void oneshot_epoll_is_armed_again_by_hand(void)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT };
	int client, server, epoll;

	sock_pair(&client, &server);
	epoll = watch(server, ev.events);
	send_pattern(client, 10, 1, 0);
	CHECK_EQ(next_event(epoll, SOON_MS), EPOLLIN);
	send_pattern(client, 10, 1, 10);
	CHECK_EQ(next_event(epoll, QUIET_MS), 0);
	OK(epoll_ctl(epoll, EPOLL_CTL_MOD, server, &ev));
	CHECK_EQ(next_event(epoll, SOON_MS), EPOLLIN);
}

static void epoll_tells_a_refusal(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	int fd = sock_new(CLIENT);
	int epoll;

	close(listener);
	set_nonblock(fd, true);
	CHECK_ERR(connect(fd, &addr.sa, addr.len), EINPROGRESS);
	epoll = watch(fd, EPOLLOUT | EPOLLET);
	CHECK(next_event(epoll, SOON_MS) & EPOLLERR);
	CHECK_EQ(sock_error(fd), ECONNREFUSED);
}

static void epoll_tells_an_established_connection(void)
{
	struct addr addr;
	int fd = sock_new(CLIENT);
	int epoll = watch(fd, EPOLLOUT | EPOLLIN | EPOLLET);
	__u32 events;

	sock_listen(&addr, 1);
	CHECK_EQ(next_event(epoll, 0), EPOLLOUT | EPOLLHUP);
	set_nonblock(fd, true);
	CHECK_ERR(connect(fd, &addr.sa, addr.len), EINPROGRESS);
	do {
		events = next_event(epoll, SOON_MS);
	} while (events & EPOLLHUP);
	CHECK_EQ(events, EPOLLOUT);
}

static void owner_is_signalled(void)
{
	int client, server, tries;

	sock_pair(&client, &server);
	count_signal(SIGIO);
	OK(fcntl(server, F_SETOWN, getpid()));
	OK(fcntl(server, F_SETFL, O_ASYNC));
	send_pattern(client, 10, 1, 0);
	for (tries = 0; tries < 100 && !signals_seen(); tries++)
		sleep_ms(50);
	CHECK(signals_seen() > 0);
}

const struct sock_test sock_poll_tests[] = {
#define TEST(name, on) { #name, name, on }
	TEST(fresh_socket_polls_hung_up, ON_BOTH | ON_NOT_SCTP),
	TEST(connected_socket_polls_writable, ON_BOTH),
	TEST(listener_polls_readable_with_a_client, ON_BOTH),
	TEST(data_polls_readable_until_read, ON_BOTH),
	TEST(full_socket_polls_writable_after_a_read, ON_BOTH),
	TEST(end_of_file_polls_rdhup, ON_BOTH | ON_NOT_SCTP),
	TEST(both_directions_shut_poll_hup, ON_BOTH | ON_NOT_SCTP),
	TEST(reset_polls_error_and_hup, ON_BOTH | ON_NOT_SCTP),
	TEST(select_agrees_with_poll, ON_BOTH),
	TEST(level_triggered_epoll_repeats, ON_BOTH),
	TEST(edge_triggered_epoll_tells_new_data_once, ON_BOTH),
	TEST(edge_triggered_epoll_tells_room_once, ON_BOTH),
	TEST(edge_triggered_epoll_tells_the_end, ON_BOTH | ON_NOT_SCTP),
	TEST(oneshot_epoll_is_armed_again_by_hand, ON_BOTH),
	TEST(epoll_tells_a_refusal, ON_BOTH),
	TEST(epoll_tells_an_established_connection, ON_BOTH | ON_NOT_SCTP),
	TEST(owner_is_signalled, ON_BOTH),
	{ }
};
