// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options: those every socket has, TCP's that unmodified programs set,
 * and Falcon's own.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include "sock_test.h"

static int get_int(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int value = -1;

	OK(getsockopt(fd, level, name, &value, &len));
	return value;
}

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

static void socket_tells_what_it_is(void)
{
	int fd = sock_new(CLIENT);

	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_DOMAIN), params.family);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_TYPE), params.type);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_PROTOCOL), params.protocol);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN), 0);
}

static void listener_tells_that_it_listens(void)
{
	struct addr addr;

	CHECK_EQ(get_int(sock_listen(&addr, 1), SOL_SOCKET, SO_ACCEPTCONN), 1);
}

static void unknown_options_are_refused(void)
{
	int fd = sock_new(CLIENT);
	int level = is_falcon() ? SOL_FALCON : params.protocol;
	socklen_t len = sizeof(int);
	int value = 0;

	CHECK_ERR(set_int(fd, level, 9999, 0), ENOPROTOOPT);
	CHECK_ERR(getsockopt(fd, level, 9999, &value, &len), ENOPROTOOPT);
}

static void nodelay_is_accepted_at_tcp_level(void)
{
	int fd = sock_new(CLIENT);

	OK(set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1));
	CHECK_EQ(get_int(fd, IPPROTO_TCP, TCP_NODELAY), 1);
}

static void flows_are_bounded(void)
{
	int fd = sock_new(CLIENT);

	CHECK_ERR(set_int(fd, SOL_FALCON, FALCON_FLOWS, 0), EINVAL);
	CHECK_ERR(set_int(fd, SOL_FALCON, FALCON_FLOWS, 5), EINVAL);
	OK(set_int(fd, SOL_FALCON, FALCON_FLOWS, 2));
	CHECK_EQ(get_int(fd, SOL_FALCON, FALCON_FLOWS), 2);
}

static void get_info(int fd, struct falcon_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	OK(getsockopt(fd, SOL_FALCON, FALCON_INFO, info, &len));
	CHECK_EQ(len, sizeof(*info));
}

/* The smaller number of both ends, whatever the settings of the namespace say */
static void flows_asked_for_are_used(void)
{
	struct falcon_info info;
	struct addr addr;
	int fd = sock_new(CLIENT);
	int listener = sock_listen(&addr, 1);
	int server;

	OK(set_int(fd, SOL_FALCON, FALCON_FLOWS, 3));
	OK(set_int(listener, SOL_FALCON, FALCON_FLOWS, 4));
	OK(connect(fd, &addr.sa, addr.len));
	server = OK(accept(listener, NULL, NULL));
	get_info(fd, &info);
	CHECK_EQ(info.flows, 3);
	get_info(server, &info);
	CHECK_EQ(info.flows, 3);
	send_pattern(fd, 300000, 1, 0);
	recv_pattern(server, 300000, 1, 0);
}

static void congestion_control_is_chosen_by_name(void)
{
	int fd = sock_new(CLIENT);
	char name[16] = "";
	socklen_t len = sizeof(name);

	CHECK_ERR(setsockopt(fd, SOL_FALCON, FALCON_CONGESTION, "nonesuch", 8),
		  ENOENT);
	OK(setsockopt(fd, SOL_FALCON, FALCON_CONGESTION, "aimd", 4));
	OK(getsockopt(fd, SOL_FALCON, FALCON_CONGESTION, name, &len));
	CHECK_EQ(strcmp(name, "aimd"), 0);
}

static void info_follows_the_connection(void)
{
	int fd = sock_new(CLIENT);
	int client, server, unacked;
	struct falcon_info info, peer;

	get_info(fd, &info);
	CHECK_EQ(info.state, FALCON_STATE_CLOSED);
	sock_pair(&client, &server);
	send_pattern(client, 100000, 1, 0);
	recv_pattern(server, 100000, 1, 0);
	while (!OK(ioctl(client, SIOCOUTQ, &unacked)) && unacked)
		sleep_ms(10);
	get_info(client, &info);
	get_info(server, &peer);
	CHECK_EQ(info.state, FALCON_STATE_ESTABLISHED);
	CHECK_EQ(info.cid, peer.peer_cid);
	CHECK_EQ(info.peer_cid, peer.cid);
	CHECK(info.mtu > 500);
	CHECK(info.tx_bytes >= 100000);
	CHECK(peer.rx_bytes >= 100000);
	CHECK(info.rtt_us > 0);
	CHECK(info.rto_us > 0);
}

static void short_info_buffer_gets_a_prefix(void)
{
	struct falcon_info info = { };
	int client, server;
	socklen_t len = 1;

	sock_pair(&client, &server);
	OK(getsockopt(client, SOL_FALCON, FALCON_INFO, &info, &len));
	CHECK_EQ(len, 1);
	CHECK_EQ(info.state, FALCON_STATE_ESTABLISHED);
	CHECK_EQ(info.flows, 0);
}

static void connection_options_are_fixed_once_connected(void)
{
	int client, server;

	sock_pair(&client, &server);
	CHECK_ERR(set_int(client, SOL_FALCON, FALCON_FLOWS, 2), EISCONN);
}

static void security_is_fixed_once_listening(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	int policy = get_int(listener, SOL_FALCON, FALCON_SECURITY);

	CHECK_ERR(set_int(listener, SOL_FALCON, FALCON_SECURITY,
			  FALCON_SECURITY_PSK), EISCONN);
	CHECK_EQ(get_int(listener, SOL_FALCON, FALCON_SECURITY), policy);
}

static void user_timeout_is_kept(void)
{
	int fd = sock_new(CLIENT);

	OK(set_int(fd, SOL_FALCON, FALCON_USER_TIMEOUT, 1234));
	CHECK_EQ(get_int(fd, SOL_FALCON, FALCON_USER_TIMEOUT), 1234);
	CHECK_ERR(set_int(fd, SOL_FALCON, FALCON_USER_TIMEOUT, -1), EINVAL);
}

static void user_timeout_may_change_at_any_time(void)
{
	int client, server;

	sock_pair(&client, &server);
	OK(set_int(client, IPPROTO_TCP, TCP_USER_TIMEOUT, 4321));
	CHECK_EQ(get_int(client, IPPROTO_TCP, TCP_USER_TIMEOUT), 4321);
	send_pattern(client, 1000, 1, 0);
	recv_pattern(server, 1000, 1, 0);
	OK(set_int(server, IPPROTO_TCP, TCP_USER_TIMEOUT, 0));
}

static void weight_may_change_at_any_time(void)
{
	int client, server;

	sock_pair(&client, &server);
	OK(set_int(client, SOL_FALCON, FALCON_WEIGHT, 255));
	CHECK_EQ(get_int(client, SOL_FALCON, FALCON_WEIGHT), 255);
	OK(set_int(client, SOL_FALCON, FALCON_WEIGHT, 1));
	CHECK_EQ(get_int(client, SOL_FALCON, FALCON_WEIGHT), 1);
	CHECK_ERR(set_int(client, SOL_FALCON, FALCON_WEIGHT, 0), EINVAL);
	CHECK_ERR(set_int(client, SOL_FALCON, FALCON_WEIGHT, 256), EINVAL);
}

/* The number of time stamps that one recvmsg() of several packets tells. */
static int stamps_of_a_call(int fd)
{
	static char data[16384];
	char control[1024];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	int stamps = 0;

	CHECK_EQ(recvmsg(fd, &msg, MSG_WAITALL), 16384);
	CHECK(!(msg.msg_flags & MSG_CTRUNC));
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		stamps += c->cmsg_level == SOL_SOCKET &&
			  c->cmsg_type == SCM_TIMESTAMP;
	return stamps;
}

/*
 * That of the last packet read, however many a call reads (socket(7)). The kernel
 * begins to stamp packets some time after the option has been set.
 */
static void stamped(int client, int server)
{
	int stamps = 0, tries;

	for (tries = 0; !stamps && tries < 200; tries++) {
		send_pattern(client, 16384, 1, 0);
		stamps = stamps_of_a_call(server);
		sleep_ms(20);
	}
	CHECK_EQ(stamps, 1);
}

static void time_stamp_comes_once_a_call(void)
{
	int client, server;

	sock_pair(&client, &server);
	OK(set_int(server, SOL_SOCKET, SO_TIMESTAMP, 1));
	stamped(client, server);
}

static void accepted_socket_inherits_time_stamps(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1), client = sock_new(CLIENT);
	int server;

	OK(set_int(listener, SOL_SOCKET, SO_TIMESTAMP, 1));
	OK(connect(client, &addr.sa, addr.len));
	server = OK(accept(listener, NULL, NULL));
	CHECK_EQ(get_int(server, SOL_SOCKET, SO_TIMESTAMP), 1);
	close(listener);
	stamped(client, server);
}

static void datagram_sockets_do_not_exist(void)
{
	CHECK_ERR(socket(params.family, SOCK_DGRAM, IPPROTO_FALCON),
		  EPROTONOSUPPORT);
}

const struct sock_test sock_option_tests[] = {
#define TEST(name, on) { #name, name, on }
	TEST(socket_tells_what_it_is, ON_BOTH),
	TEST(listener_tells_that_it_listens, ON_BOTH),
	TEST(unknown_options_are_refused, ON_BOTH),
	TEST(nodelay_is_accepted_at_tcp_level, ON_BOTH | ON_NOT_SCTP),
	TEST(flows_are_bounded, ON_BOTH | ON_FALCON),
	TEST(flows_asked_for_are_used, ON_BOTH | ON_FALCON),
	TEST(congestion_control_is_chosen_by_name, ON_BOTH | ON_FALCON),
	TEST(info_follows_the_connection, ON_BOTH | ON_FALCON),
	TEST(short_info_buffer_gets_a_prefix, ON_BOTH | ON_FALCON),
	TEST(connection_options_are_fixed_once_connected,
	     ON_BOTH | ON_FALCON),
	TEST(security_is_fixed_once_listening, ON_BOTH | ON_FALCON),
	TEST(user_timeout_is_kept, ON_BOTH | ON_FALCON),
	TEST(user_timeout_may_change_at_any_time, ON_BOTH | ON_NOT_SCTP),
	TEST(weight_may_change_at_any_time, ON_BOTH | ON_FALCON),
	TEST(time_stamp_comes_once_a_call, ON_BOTH | ON_NOT_SCTP),
	TEST(accepted_socket_inherits_time_stamps, ON_BOTH | ON_NOT_SCTP),
	TEST(datagram_sockets_do_not_exist, ON_BOTH | ON_FALCON),
	{ }
};
