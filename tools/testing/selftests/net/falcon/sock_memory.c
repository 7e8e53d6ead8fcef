// SPDX-License-Identifier: GPL-2.0
/*
 * Memory: what a socket may hold is bounded by its buffers, whatever the sizes
 * of the writes and however long nobody reads, and it is all given back.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "sock_test.h"

#ifndef SO_MEMINFO
#define SO_MEMINFO	55
#endif

#define SNDBUF		65536
#define RCVBUF		65536
/* One more skb may come in while the buffer is nearly full. */
#define SLACK		(128 * 1024)
/* Falcon: a full buffer withholds acknowledgements, and what the peer had sent
 * until it knew, a receiver window at most, is kept.
 */
#define WINDOW		128
#define OVERHEAD	2048

static void meminfo(int fd, __u32 *info)
{
	socklen_t len = SK_MEMINFO_VARS * sizeof(*info);

	memset(info, 0, len);
	OK(getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len));
}

static size_t receive_slack(int fd)
{
	struct falcon_info info = { };
	socklen_t len = sizeof(info);

	if (!is_falcon())
		return SLACK;
	OK(getsockopt(fd, SOL_FALCON, FALCON_INFO, &info, &len));
	CHECK(info.mtu > 0);
	return WINDOW * (info.mtu + OVERHEAD);
}

static void check_bounds(int client, int server)
{
	__u32 info[SK_MEMINFO_VARS];

	meminfo(client, info);
	CHECK(info[SK_MEMINFO_WMEM_QUEUED] > 0);
	CHECK(info[SK_MEMINFO_WMEM_QUEUED] <= info[SK_MEMINFO_SNDBUF] + SLACK);
	meminfo(server, info);
	CHECK(info[SK_MEMINFO_RMEM_ALLOC] > 0);
	CHECK(info[SK_MEMINFO_RMEM_ALLOC] <=
	      info[SK_MEMINFO_RCVBUF] + receive_slack(server));
}

static void stuff_with(size_t chunk)
{
	int client, server;
	size_t stuffed;

	sock_pair_buffers(&client, &server, SNDBUF, RCVBUF);
	stuffed = stuff(client, chunk, 1);
	/* The kernel doubles both, to account for its own overhead. */
	CHECK(stuffed <= 2 * (SNDBUF + RCVBUF) + SLACK);
	check_bounds(client, server);
	recv_pattern(server, stuffed, 1, 0);
	CHECK_EQ(wait_for(server, POLLIN, 100), 0);
}

static void large_writes_are_bounded(void)
{
	stuff_with(16000);
}

static void small_writes_are_bounded(void)
{
	stuff_with(100);
}

static void single_bytes_are_bounded(void)
{
	stuff_with(1);
}

static void default_buffers_are_bounded(void)
{
	__u32 info[SK_MEMINFO_VARS];
	int client, server;
	size_t stuffed;

	sock_pair(&client, &server);
	stuffed = stuff(client, 16000, 1);
	CHECK(stuffed >= 16000);
	check_bounds(client, server);
	recv_pattern(server, stuffed, 1, 0);
	meminfo(server, info);
	CHECK(info[SK_MEMINFO_RMEM_ALLOC] <= SLACK);
}

static void buffers_are_set_doubled_and_bounded(void)
{
	int fd = sock_new(CLIENT);
	int size = 30000;
	socklen_t len = sizeof(size);

	OK(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)));
	OK(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, &len));
	CHECK_EQ(size, 60000);
	size = 30000;
	OK(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)));
	OK(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &len));
	CHECK_EQ(size, 60000);
}

/* Of /proc/net/protocols: sockets (of this namespace) and memory (of all). */
static void protocol_use(const char *name, long *sockets, long *memory)
{
	FILE *file = fopen("/proc/net/protocols", "r");
	char line[256], proto[32];

	CHECK(file);
	*sockets = -1;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%31s %*d %ld %ld", proto, sockets, memory) ==
		    3 && !strcmp(proto, name)) {
			fclose(file);
			return;
		}
	}
	fclose(file);
	skip("the protocol is not in /proc/net/protocols");
}

static const char *proto_name(void)
{
	bool six = params.family == AF_INET6;

	switch (params.protocol) {
	case IPPROTO_TCP:
		return six ? "TCPv6" : "TCP";
	case IPPROTO_SCTP:
		return six ? "SCTPv6" : "SCTP";
	default:
		return six ? "FALCONv6" : "FALCON";
	}
}

/*
 * The memory in /proc/net/protocols is that of all namespaces, and counted per
 * CPU: other tests use some. The kernel warns of a socket that kept any.
 */
static void closed_sockets_are_given_back(void)
{
	long before, sockets, memory = 0, tries;
	int client[10], server[10];
	size_t i;

	fresh_net();
	protocol_use(proto_name(), &before, &memory);
	CHECK_EQ(before, 0);
	for (i = 0; i < ARRAY_SIZE(client); i++) {
		sock_pair(&client[i], &server[i]);
		send_pattern(client[i], 5000, 1, 0);
	}
	stuff(client[0], 4096, 1);
	protocol_use(proto_name(), &sockets, &memory);
	CHECK_EQ(sockets, 20);
	for (i = 0; i < ARRAY_SIZE(client); i++) {
		set_linger(client[i], true, 0);
		close(client[i]);
		close(server[i]);
	}
	for (tries = 0; tries < 200; tries++) {
		protocol_use(proto_name(), &sockets, &memory);
		if (!sockets)
			return;
		sleep_ms(50);
	}
	printf("# %ld sockets and %ld pages left\n", sockets, memory);
	CHECK_EQ(sockets, 0);
}

static void churn_leaves_nothing(void)
{
	long sockets, memory, tries;
	struct addr addr;
	int listener, client, server, i;

	fresh_net();
	listener = sock_listen(&addr, 4);
	for (i = 0; i < 100; i++) {
		client = sock_connect(&addr);
		server = OK(accept(listener, NULL, NULL));
		send_pattern(client, 500, i, 0);
		if (i % 3)
			recv_pattern(server, 500, i, 0);
		if (i % 5 == 0)
			set_linger(client, true, 0);
		close(i % 2 ? client : server);
		close(i % 2 ? server : client);
	}
	close(listener);
	for (tries = 0; tries < 200; tries++) {
		protocol_use(proto_name(), &sockets, &memory);
		if (!sockets)
			return;
		sleep_ms(50);
	}
	CHECK_EQ(sockets, 0);
}

#define CGROUPS		"/sys/fs/cgroup"

static bool write_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file)
		return false;
	ok = fputs(text, file) >= 0;
	return !fclose(file) && ok;
}

/* This process is alone in a control group that counts memory. */
static void own_cgroup(char *dir, size_t len)
{
	snprintf(dir, len, CGROUPS "/falcon-sock-%d", getpid());
	if (!write_file(CGROUPS, "cgroup.subtree_control", "+memory"))
		skip("memory is not counted by control group");
	OK(mkdir(dir, 0755));
	CHECK(write_file(dir, "cgroup.procs", "0"));
}

static void leave_cgroup(const char *dir)
{
	CHECK(write_file(CGROUPS, "cgroup.procs", "0"));
	OK(rmdir(dir));
}

/* Bytes of socket memory that a control group has to answer for. */
static long long cgroup_sock(const char *dir)
{
	long long bytes = -1;
	char path[256], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/memory.stat", dir);
	file = fopen(path, "r");
	CHECK(file);
	while (bytes < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "sock %lld", &bytes);
	fclose(file);
	return bytes;
}

/* The kernel sums memory.stat up every other second only. */
static void wait_cgroup_sock(const char *dir, long long least, long long most)
{
	long long bytes = -1;
	int tries;

	for (tries = 0; tries < 400; tries++) {
		bytes = cgroup_sock(dir);
		if (bytes >= least && bytes <= most)
			return;
		sleep_ms(50);
	}
	printf("# %lld bytes, not %lld to %lld\n", bytes, least, most);
	CHECK(false);
}

static void sockets_are_on_their_owners_account(void)
{
	int client, server;
	size_t stuffed;
	char dir[64];

	own_cgroup(dir, sizeof(dir));
	sock_pair(&client, &server);
	stuffed = stuff(client, 16000, 1);
	wait_cgroup_sock(dir, stuffed, LLONG_MAX);
	set_linger(client, true, 0);
	close(client);
	close(server);
	wait_cgroup_sock(dir, 0, 0);
	leave_cgroup(dir);
}

const struct sock_test sock_memory_tests[] = {
#define TEST(name, on) { #name, name, on }
	TEST(large_writes_are_bounded, ON_BOTH | ON_NOT_SCTP),
	TEST(small_writes_are_bounded, ON_BOTH | ON_NOT_SCTP),
	TEST(single_bytes_are_bounded, ON_BOTH | ON_NOT_SCTP),
	TEST(default_buffers_are_bounded, ON_BOTH | ON_NOT_SCTP),
	TEST(buffers_are_set_doubled_and_bounded, ON_BOTH),
	TEST(sockets_are_on_their_owners_account, ON_BOTH | ON_NOT_SCTP),
	TEST(closed_sockets_are_given_back, ON_BOTH),
	TEST(churn_leaves_nothing, ON_BOTH),
	{ }
};
