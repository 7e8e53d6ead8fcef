// SPDX-License-Identifier: GPL-2.0
/*
 * Sending and receiving: order, boundaries, flags, time-outs, threads, and the
 * ways around send() and recv().
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <fcntl.h>
#include "sock_test.h"

/* One recvmsg(), with the flags it brought. */
static long receive(int fd, void *buf, size_t len, int flags, int *msg_flags)
{
	struct iovec iov = { buf, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	long got = recvmsg(fd, &msg, flags);

	*msg_flags = msg.msg_flags;
	return got;
}

static void bytes_arrive_in_order(void)
{
	int client, server, i;

	sock_pair(&client, &server);
	for (i = 0; i < 50; i++) {
		send_pattern(client, 1 + i * 37, 1, i * 10000);
		recv_pattern(server, 1 + i * 37, 1, i * 10000);
	}
}

struct pump {
	int fd;
	unsigned int seed;
	size_t bytes;
};

static void *pump_out(void *arg)
{
	struct pump *pump = arg;

	send_pattern(pump->fd, pump->bytes, pump->seed, 0);
	return NULL;
}

static void *pump_in(void *arg)
{
	struct pump *pump = arg;

	recv_pattern(pump->fd, pump->bytes, pump->seed, 0);
	return NULL;
}

static void both_directions_at_once(void)
{
	enum { BYTES = 4 << 20 };
	pthread_t threads[4];
	int client, server;
	size_t i;

	sock_pair(&client, &server);

	struct pump pumps[4] = {
		{ client, 1, BYTES }, { server, 1, BYTES },
		{ server, 2, BYTES }, { client, 2, BYTES },
	};

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_create(&threads[i], NULL,
					i % 2 ? pump_in : pump_out, &pumps[i]),
			 0);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static void one_send_larger_than_all_buffers(void)
{
	enum { BYTES = 12 << 20 };
	int client, server;
	char *buf = malloc(BYTES);
	pthread_t thread;

	CHECK(buf);
	sock_pair(&client, &server);

	struct pump pump = { server, 5, BYTES };

	CHECK_EQ(pthread_create(&thread, NULL, pump_in, &pump), 0);
	fill_pattern(buf, BYTES, 5, 0);
	CHECK_EQ(OK(send(client, buf, BYTES, 0)), BYTES);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

#define GREETINGS	60

static void *greet(void *listener)
{
	int i, fd;

	for (i = 0; i < GREETINGS; i++) {
		fd = OK(accept(*(int *)listener, NULL, NULL));
		send_pattern(fd, 3000, 1, 0);
		recv_eof(fd);
		close(fd);
	}
	return NULL;
}

/*
 * What comes while connect() is not done yet is kept, and what that took is given
 * back as it was taken: a small message of later connections gets through.
 */
static void who_accepts_may_speak_first(void)
{
	int listener, client, server, i;
	struct addr addr;
	pthread_t thread;

	listener = sock_listen(&addr, 8);
	CHECK_EQ(pthread_create(&thread, NULL, greet, &listener), 0);
	for (i = 0; i < GREETINGS; i++) {
		client = sock_connect(&addr);
		recv_pattern(client, 3000, 1, 0);
		close(client);
	}
	CHECK_EQ(pthread_join(thread, NULL), 0);
	sock_pair(&client, &server);
	send_pattern(client, 1, 1, 0);
	CHECK_EQ(wait_for(server, POLLIN, 20000), POLLIN);
	send_pattern(server, 1, 1, 0);
	CHECK_EQ(wait_for(client, POLLIN, 20000), POLLIN);
}

static void stream_has_no_boundaries(void)
{
	int client, server, i;
	char buf[200];

	sock_pair(&client, &server);
	for (i = 0; i < 20; i++)
		send_pattern(client, 10, 1, i * 10);
	CHECK_EQ(OK(recv(server, buf, 200, MSG_WAITALL)), 200);
	check_pattern(buf, 200, 1, 0);
}

static void message_boundaries_are_kept(void)
{
	static const size_t sizes[] = {
		1, 2, 7, 8, 100, 1023, 1400, 1500, 4096, 8192, 9000, 20000,
		65536, 3,
	};
	static __u8 buf[70000];
	int client, server, flags;
	size_t i;

	sock_pair(&client, &server);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill_pattern(buf, sizes[i], i, 0);
		CHECK_EQ(OK(send(client, buf, sizes[i], 0)), (long)sizes[i]);
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		CHECK_EQ(OK(receive(server, buf, sizeof(buf), 0, &flags)),
			 (long)sizes[i]);
		CHECK(flags & MSG_EOR);
		check_pattern(buf, sizes[i], i, 0);
	}
}

static void short_read_leaves_the_rest_of_the_message(void)
{
	int client, server, flags;
	char buf[100];

	sock_pair(&client, &server);
	send_pattern(client, 100, 1, 0);
	send_pattern(client, 10, 2, 0);
	CHECK_EQ(OK(receive(server, buf, 30, 0, &flags)), 30);
	CHECK(!(flags & MSG_EOR));
	check_pattern(buf, 30, 1, 0);
	CHECK_EQ(OK(receive(server, buf, 100, 0, &flags)), 70);
	CHECK(flags & MSG_EOR);
	check_pattern(buf, 70, 1, 30);
	CHECK_EQ(OK(receive(server, buf, 100, 0, &flags)), 10);
	CHECK(flags & MSG_EOR);
	check_pattern(buf, 10, 2, 0);
}

static void empty_message_is_a_message(void)
{
	int client, server, flags;
	char buf[10];

	sock_pair(&client, &server);
	CHECK_EQ(OK(send(client, "", 0, 0)), 0);
	send_pattern(client, 5, 1, 0);
	CHECK_EQ(OK(receive(server, buf, sizeof(buf), 0, &flags)), 0);
	CHECK(flags & MSG_EOR);
	CHECK_EQ(OK(receive(server, buf, sizeof(buf), 0, &flags)), 5);
	CHECK(flags & MSG_EOR);
}

static void empty_write_to_a_stream_is_nothing(void)
{
	int client, server;

	sock_pair(&client, &server);
	CHECK_EQ(OK(send(client, "", 0, 0)), 0);
	CHECK_EQ(wait_for(server, POLLIN, 200), 0);
	send_pattern(client, 5, 1, 0);
	recv_pattern(server, 5, 1, 0);
}

static void *send_one_message(void *arg)
{
	struct pump *pump = arg;
	__u8 *buf = malloc(pump->bytes);

	CHECK(buf);
	fill_pattern(buf, pump->bytes, pump->seed, 0);
	CHECK_EQ(OK(send(pump->fd, buf, pump->bytes, 0)), (long)pump->bytes);
	free(buf);
	return NULL;
}

/* The parts arrive in order; the last one, and only that, has MSG_EOR. */
static void message_beyond_the_receive_buffer_comes_in_parts(void)
{
	enum { BYTES = 200000 };
	int client, server, flags = 0;
	static __u8 buf[BYTES];
	pthread_t thread;
	size_t got = 0;
	long part;

	sock_pair_buffers(&client, &server, 2 * BYTES, 16384);

	struct pump pump = { client, 7, BYTES };

	CHECK_EQ(pthread_create(&thread, NULL, send_one_message, &pump), 0);
	while (got < BYTES) {
		CHECK(!(flags & MSG_EOR));
		part = OK(receive(server, buf, sizeof(buf), 0, &flags));
		CHECK(part > 0);
		check_pattern(buf, part, 7, got);
		got += part;
	}
	CHECK_EQ(got, BYTES);
	CHECK(flags & MSG_EOR);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	send_pattern(client, 10, 8, 0);
	CHECK_EQ(OK(receive(server, buf, sizeof(buf), 0, &flags)), 10);
	CHECK(flags & MSG_EOR);
}

static void message_beyond_the_send_buffer_is_too_long(void)
{
	static __u8 buf[1 << 20];
	int client, server;

	sock_pair_buffers(&client, &server, 65536, 0);
	CHECK_ERR(send(client, buf, sizeof(buf), 0), EMSGSIZE);
	send_pattern(client, 10, 8, 0);
	recv_pattern(server, 10, 8, 0);
}

static void peek_does_not_consume(void)
{
	int client, server;
	char buf[50];

	sock_pair(&client, &server);
	send_pattern(client, 50, 1, 0);
	CHECK_EQ(OK(recv(server, buf, 20, MSG_PEEK)), 20);
	check_pattern(buf, 20, 1, 0);
	CHECK_EQ(OK(recv(server, buf, 50, MSG_PEEK)), 50);
	check_pattern(buf, 50, 1, 0);
	recv_pattern(server, 50, 1, 0);
	CHECK_ERR(recv(server, buf, 1, MSG_PEEK | MSG_DONTWAIT), EAGAIN);
}

static void stream_peek_spans_segments(void)
{
	int client, server;
	char buf[60];

	sock_pair(&client, &server);
	send_pattern(client, 30, 1, 0);
	send_pattern(client, 30, 1, 30);
	CHECK_EQ(OK(recv(server, buf, 60, MSG_PEEK | MSG_WAITALL)), 60);
	check_pattern(buf, 60, 1, 0);
	recv_pattern(server, 60, 1, 0);
}

static void dontwait_and_nonblock_return_at_once(void)
{
	int client, server;
	char byte;

	sock_pair(&client, &server);
	CHECK_ERR(recv(server, &byte, 1, MSG_DONTWAIT), EAGAIN);
	set_nonblock(server, true);
	CHECK_ERR(recv(server, &byte, 1, 0), EAGAIN);
	stuff(client, 4096, 1);
	CHECK_ERR(send(client, &byte, 1, MSG_DONTWAIT), EAGAIN);
	set_nonblock(client, true);
	CHECK_ERR(send(client, &byte, 1, 0), EAGAIN);
}

static void send_late(void *arg)
{
	int fd = *(int *)arg;

	sleep_ms(200);
	send_pattern(fd, 50, 1, 50);
}

static void waitall_waits_for_all(void)
{
	int client, server;
	char buf[100];
	pid_t pid;

	sock_pair(&client, &server);
	send_pattern(client, 50, 1, 0);
	pid = spawn(send_late, &client);
	CHECK_EQ(OK(recv(server, buf, 100, MSG_WAITALL)), 100);
	check_pattern(buf, 100, 1, 0);
	reap(pid);
}

static void waitall_ends_with_the_stream(void)
{
	int client, server;
	char buf[100];

	sock_pair(&client, &server);
	send_pattern(client, 50, 1, 0);
	OK(shutdown(client, SHUT_WR));
	CHECK_EQ(OK(recv(server, buf, 100, MSG_WAITALL)), 50);
	recv_eof(server);
}

static void rcvlowat_holds_reads_and_poll_back(void)
{
	int client, server, lowat = 100;
	char buf[200];

	sock_pair(&client, &server);
	OK(setsockopt(server, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat)));
	send_pattern(client, 50, 1, 0);
	CHECK_EQ(wait_for(server, POLLIN, 300), 0);
	send_pattern(client, 50, 1, 50);
	CHECK(wait_for(server, POLLIN, 10000) & POLLIN);
	CHECK_EQ(OK(recv(server, buf, sizeof(buf), 0)), 100);
	check_pattern(buf, 100, 1, 0);
}

static void rcvtimeo_ends_a_read(void)
{
	int client, server;
	long long start;
	char byte;

	sock_pair(&client, &server);
	set_timeout(server, SO_RCVTIMEO, 200);
	start = now_ms();
	CHECK_ERR(recv(server, &byte, 1, 0), EAGAIN);
	CHECK_WAITED(start, 200);
}

static void sndtimeo_ends_a_write(void)
{
	int client, server;
	long long start;

	sock_pair(&client, &server);
	stuff(client, 4096, 1);
	set_timeout(client, SO_SNDTIMEO, 200);
	start = now_ms();
	CHECK_EQ(write_until_error(client), EAGAIN);
	CHECK_WAITED(start, 200);
}

static void signal_interrupts_a_read(void)
{
	struct itimerval soon = { .it_value = { 0, 200000 } };
	int client, server;
	char byte;

	sock_pair(&client, &server);
	count_signal(SIGALRM);
	OK(setitimer(ITIMER_REAL, &soon, NULL));
	CHECK_ERR(recv(server, &byte, 1, 0), EINTR);
	CHECK_EQ(signals_seen(), 1);
	send_pattern(client, 1, 1, 0);
	recv_pattern(server, 1, 1, 0);
}

static void signal_interrupts_a_write(void)
{
	struct itimerval soon = { .it_value = { 0, 200000 } };
	int client, server;

	sock_pair(&client, &server);
	stuff(client, 4096, 1);
	count_signal(SIGALRM);
	OK(setitimer(ITIMER_REAL, &soon, NULL));
	CHECK_EQ(write_until_error(client), EINTR);
}

static void vectors_are_gathered_and_scattered(void)
{
	char out[90], in[90];
	struct iovec from[3] = { { out, 10 }, { out + 10, 0 }, { out + 10, 80 } };
	struct iovec to[2] = { { in, 45 }, { in + 45, 45 } };
	int client, server;

	sock_pair(&client, &server);
	fill_pattern(out, sizeof(out), 1, 0);
	CHECK_EQ(OK(writev(client, from, 3)), 90);
	CHECK_EQ(OK(readv(server, to, 2)), 90);
	check_pattern(in, 90, 1, 0);
}

static void mmsg_calls_move_several(void)
{
	enum { NR = 5 };
	struct mmsghdr msgs[NR] = { };
	struct iovec iov[NR];
	char buf[NR][20];
	int client, server, i;

	sock_pair(&client, &server);
	for (i = 0; i < NR; i++) {
		fill_pattern(buf[i], 20, i, 0);
		iov[i] = (struct iovec){ buf[i], 20 };
		msgs[i].msg_hdr.msg_iov = &iov[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	CHECK_EQ(OK(sendmmsg(client, msgs, NR, 0)), NR);
	memset(buf, 0, sizeof(buf));
	CHECK_EQ(OK(recvmmsg(server, msgs, NR, MSG_WAITALL, NULL)), NR);
	for (i = 0; i < NR; i++) {
		CHECK_EQ(msgs[i].msg_len, 20);
		check_pattern(buf[i], 20, i, 0);
	}
}

/* A file of pattern 1, removed already. */
static int pattern_file(size_t len)
{
	char name[] = "/tmp/falcon_sock_test.XXXXXX";
	int fd = OK(mkstemp(name));
	char *buf = malloc(len);

	CHECK(buf);
	unlink(name);
	fill_pattern(buf, len, 1, 0);
	CHECK_EQ(OK(write(fd, buf, len)), (long)len);
	OK(lseek(fd, 0, SEEK_SET));
	free(buf);
	return fd;
}

struct file_job {
	int file;
	int sock;
	size_t len;
};

static void send_file(void *arg)
{
	struct file_job *job = arg;
	size_t left = job->len;

	while (left)
		left -= OK(sendfile(job->sock, job->file, NULL, left));
	OK(shutdown(job->sock, SHUT_WR));
}

static void sendfile_sends_a_file(void)
{
	enum { BYTES = 3000001 };
	struct file_job job = { .len = BYTES };
	int server;
	pid_t pid;

	sock_pair(&job.sock, &server);
	job.file = pattern_file(BYTES);
	pid = spawn(send_file, &job);
	recv_pattern(server, BYTES, 1, 0);
	close(job.sock);
	recv_eof(server);
	reap(pid);
}

static void splice_out_of_a_socket(void)
{
	enum { BYTES = 50000 };
	int client, server, pipefd[2];
	__u8 buf[4096];
	size_t done = 0;
	long n;

	sock_pair(&client, &server);
	OK(pipe(pipefd));
	send_pattern(client, BYTES, 1, 0);
	while (done < BYTES) {
		n = OK(splice(server, NULL, pipefd[1], NULL, sizeof(buf), 0));
		CHECK(n > 0);
		CHECK_EQ(OK(read(pipefd[0], buf, n)), n);
		check_pattern(buf, n, 1, done);
		done += n;
	}
	OK(shutdown(client, SHUT_WR));
	CHECK_EQ(OK(splice(server, NULL, pipefd[1], NULL, 1, 0)), 0);
}

static void splice_into_a_socket(void)
{
	enum { BYTES = 20000 };
	int client, server, pipefd[2];
	__u8 buf[BYTES];
	size_t left = BYTES;

	sock_pair(&client, &server);
	OK(pipe(pipefd));
	fill_pattern(buf, BYTES, 1, 0);
	CHECK_EQ(OK(write(pipefd[1], buf, BYTES)), BYTES);
	memset(buf, 0, BYTES);
	while (left)
		left -= OK(splice(pipefd[0], NULL, client, NULL, left, 0));
	recv_pattern(server, BYTES, 1, 0);
}

static void duplicated_descriptors_are_one_socket(void)
{
	int client, server, copy;

	sock_pair(&client, &server);
	copy = OK(dup(client));
	send_pattern(client, 10, 1, 0);
	send_pattern(copy, 10, 1, 10);
	close(client);
	CHECK(!(wait_for(server, POLLRDHUP, 200) & POLLRDHUP));
	send_pattern(copy, 10, 1, 20);
	recv_pattern(server, 30, 1, 0);
	close(copy);
	recv_eof(server);
}

struct record {
	__u32 writer;
	__u32 nr;
	__u8 body[1000];
};

enum { RECORDS = 200 };

static void *write_records(void *arg)
{
	struct pump *pump = arg;
	struct record rec = { .writer = pump->seed };

	for (rec.nr = 0; rec.nr < RECORDS; rec.nr++) {
		memset(rec.body, rec.writer * 16 + rec.nr, sizeof(rec.body));
		CHECK_EQ(OK(send(pump->fd, &rec, sizeof(rec), 0)),
			 (long)sizeof(rec));
	}
	return NULL;
}

/* Two threads write to one socket: no record is torn, each keeps its order. */
static void writers_of_one_socket_do_not_mix(void)
{
	__u32 next[2] = { 0, 0 };
	struct record rec;
	pthread_t threads[2];
	int client, server, i;
	size_t j;

	sock_pair(&client, &server);

	struct pump pumps[2] = { { client, 0, 0 }, { client, 1, 0 } };

	for (i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, write_records,
					&pumps[i]), 0);
	for (i = 0; i < 2 * RECORDS; i++) {
		CHECK_EQ(OK(recv(server, &rec, sizeof(rec), MSG_WAITALL)),
			 (long)sizeof(rec));
		CHECK(rec.writer < 2);
		CHECK_EQ(rec.nr, next[rec.writer]++);
		for (j = 0; j < sizeof(rec.body); j++)
			CHECK(rec.body[j] ==
			      (__u8)(rec.writer * 16 + rec.nr));
	}
	for (i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static void *count_messages(void *arg)
{
	struct pump *pump = arg;
	char buf[100];
	long got;

	for (;;) {
		got = OK(recv(pump->fd, buf, sizeof(buf), 0));
		if (!got)
			return NULL;
		CHECK_EQ(got, 10);
		pump->bytes += got;
	}
}

static void readers_of_one_socket_share_the_messages(void)
{
	struct pump pumps[2] = { };
	pthread_t threads[2];
	int client, server, i;

	sock_pair(&client, &server);
	for (i = 0; i < 2; i++) {
		pumps[i].fd = server;
		CHECK_EQ(pthread_create(&threads[i], NULL, count_messages,
					&pumps[i]), 0);
	}
	for (i = 0; i < 300; i++)
		send_pattern(client, 10, 1, 0);
	OK(shutdown(client, SHUT_WR));
	for (i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	CHECK_EQ(pumps[0].bytes + pumps[1].bytes, 3000);
}

static void siocinq_counts_unread_bytes(void)
{
	int client, server, bytes = -1;

	sock_pair(&client, &server);
	OK(ioctl(server, SIOCINQ, &bytes));
	CHECK_EQ(bytes, 0);
	send_pattern(client, 100, 1, 0);
	CHECK(wait_for(server, POLLIN, 10000) & POLLIN);
	OK(ioctl(server, SIOCINQ, &bytes));
	CHECK_EQ(bytes, 100);
	recv_pattern(server, 40, 1, 0);
	OK(ioctl(server, SIOCINQ, &bytes));
	CHECK_EQ(bytes, 60);
}

static void siocoutq_falls_to_zero_once_acknowledged(void)
{
	int client, server, bytes, tries;
	size_t stuffed;

	sock_pair(&client, &server);
	stuffed = stuff(client, 4096, 1);
	OK(ioctl(client, SIOCOUTQ, &bytes));
	CHECK(bytes > 0 && (size_t)bytes <= stuffed);
	recv_pattern(server, stuffed, 1, 0);
	for (tries = 0; tries < 100; tries++) {
		OK(ioctl(client, SIOCOUTQ, &bytes));
		if (!bytes)
			return;
		sleep_ms(50);
	}
	CHECK_EQ(bytes, 0);
}

static void queue_sizes_of_a_listener_are_invalid(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	int bytes;

	CHECK_ERR(ioctl(listener, SIOCINQ, &bytes), EINVAL);
	CHECK_ERR(ioctl(listener, SIOCOUTQ, &bytes), EINVAL);
}

/* A buffer of one good page, followed by one that faults. */
static char *half_a_buffer(size_t *page)
{
	char *map;

	*page = sysconf(_SC_PAGESIZE);
	map = mmap(NULL, 2 * *page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED);
	OK(mprotect(map + *page, *page, PROT_NONE));
	return map;
}

static void bad_buffers_fault_and_do_no_harm(void)
{
	int client, server;
	size_t page;
	char *map = half_a_buffer(&page);

	sock_pair(&client, &server);
	CHECK_ERR(send(client, map + page, 10, 0), EFAULT);
	send_pattern(client, 10, 1, 0);
	CHECK(wait_for(server, POLLIN, 10000) & POLLIN);
	CHECK_ERR(recv(server, map + page, 10, 0), EFAULT);
	recv_pattern(server, 10, 1, 0);
}

static void unconnected_sockets_move_nothing(void)
{
	int fd = sock_new(CLIENT);
	char byte = 0;

	count_signal(SIGPIPE);
	CHECK_ERR(recv(fd, &byte, 1, 0), ENOTCONN);
	CHECK_ERR(send(fd, &byte, 1, 0), EPIPE);
	CHECK_EQ(signals_seen(), 1);
}

static void listener_moves_nothing(void)
{
	struct addr addr;
	int listener = sock_listen(&addr, 1);
	char byte = 0;

	CHECK_ERR(recv(listener, &byte, 1, 0), ENOTCONN);
	CHECK_ERR(send(listener, &byte, 1, MSG_NOSIGNAL), EPIPE);
}

static void out_of_band_data_is_not_supported(void)
{
	int client, server;
	char byte = 0;

	sock_pair(&client, &server);
	CHECK_ERR(send(client, &byte, 1, MSG_OOB), EOPNOTSUPP);
}

static void msg_trunc_drops_bytes_of_a_stream(void)
{
	int client, server;

	sock_pair(&client, &server);
	send_pattern(client, 100, 1, 0);
	CHECK(wait_for(server, POLLIN, 10000) & POLLIN);
	CHECK_EQ(OK(recv(server, NULL, 60, MSG_TRUNC)), 60);
	recv_pattern(server, 40, 1, 60);
}

static void msg_more_loses_nothing(void)
{
	int client, server, i;
	char buf[1001];

	sock_pair(&client, &server);
	for (i = 0; i < 100; i++)
		CHECK_EQ(OK(send(client, "abcdefghij", 10, MSG_MORE)), 10);
	OK(send(client, "z", 1, 0));
	CHECK_EQ(OK(recv(server, buf, sizeof(buf), MSG_WAITALL)), 1001);
	CHECK_EQ(buf[1000], 'z');
	CHECK_EQ(buf[999], 'j');
}

/* Around a segment, a train of them, and more, at any MTU */
static const size_t request_sizes[] = {
	1, 1000, 9000, 30000, 62000, 62400, 65535, 65536, 65537, 70000, 131072,
	200001, 524288,
};

static void answer_requests(void *arg)
{
	int fd = *(int *)arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(request_sizes); i++) {
		recv_pattern(fd, request_sizes[i], i, 0);
		OK(send(fd, "", 1, 0));
	}
}

/* What waits to fill a train does not wait for ever: a peer needs all of it. */
static void requests_of_any_size_are_answered(void)
{
	int client, server;
	char answer;
	size_t i;
	pid_t pid;

	sock_pair(&client, &server);
	pid = spawn(answer_requests, &server);
	for (i = 0; i < ARRAY_SIZE(request_sizes); i++) {
		send_pattern(client, request_sizes[i], i, 0);
		CHECK(wait_for(client, POLLIN, 10000) & POLLIN);
		CHECK_EQ(OK(recv(client, &answer, 1, 0)), 1);
	}
	reap(pid);
}

static void send_and_finish(void *arg)
{
	struct pump *pump = arg;

	send_pattern(pump->fd, pump->bytes, pump->seed, 0);
	OK(shutdown(pump->fd, SHUT_WR));
}

/* The reader sleeps, the window closes, nothing is lost, nobody gives up. */
static void read_after(unsigned int seconds)
{
	struct pump pump = { .seed = 9, .bytes = 6 << 20 };
	int server;
	pid_t pid;

	sock_pair(&pump.fd, &server);
	pid = spawn(send_and_finish, &pump);
	close(pump.fd);
	sleep_ms(seconds * 1000);
	recv_pattern(server, pump.bytes / 2, 9, 0);
	sleep_ms(seconds * 100);
	recv_pattern(server, pump.bytes / 2, 9, pump.bytes / 2);
	recv_eof(server);
	reap(pid);
}

static void reader_that_sleeps_seconds_loses_nothing(void)
{
	read_after(3);
}

static void reader_that_sleeps_a_minute_loses_nothing(void)
{
	read_after(60);
}

static void silent_connection_stays_up(void)
{
	int client, server;

	sock_pair(&client, &server);
	send_pattern(client, 10, 1, 0);
	recv_pattern(server, 10, 1, 0);
	sleep_ms(90000);
	send_pattern(client, 10, 1, 10);
	recv_pattern(server, 10, 1, 10);
}

const struct sock_test sock_io_tests[] = {
#define TEST(name, on) { #name, name, on }
	TEST(bytes_arrive_in_order, ON_BOTH),
	TEST(both_directions_at_once, ON_BOTH),
	TEST(who_accepts_may_speak_first, ON_BOTH | ON_NOT_SCTP),
	TEST(one_send_larger_than_all_buffers, ON_STREAM),
	TEST(stream_has_no_boundaries, ON_STREAM),
	TEST(message_boundaries_are_kept, ON_SEQPACKET),
	TEST(short_read_leaves_the_rest_of_the_message, ON_SEQPACKET),
	TEST(empty_message_is_a_message, ON_SEQPACKET | ON_FALCON),
	TEST(empty_write_to_a_stream_is_nothing, ON_STREAM),
	TEST(message_beyond_the_receive_buffer_comes_in_parts, ON_SEQPACKET),
	TEST(message_beyond_the_send_buffer_is_too_long, ON_SEQPACKET),
	TEST(peek_does_not_consume, ON_BOTH),
	TEST(stream_peek_spans_segments, ON_STREAM),
	TEST(dontwait_and_nonblock_return_at_once, ON_BOTH),
	TEST(waitall_waits_for_all, ON_STREAM),
	TEST(waitall_ends_with_the_stream, ON_STREAM),
	TEST(rcvlowat_holds_reads_and_poll_back, ON_STREAM),
	TEST(rcvtimeo_ends_a_read, ON_BOTH),
	TEST(sndtimeo_ends_a_write, ON_BOTH),
	TEST(signal_interrupts_a_read, ON_BOTH),
	TEST(signal_interrupts_a_write, ON_BOTH),
	TEST(vectors_are_gathered_and_scattered, ON_BOTH),
	TEST(mmsg_calls_move_several, ON_BOTH),
	TEST(sendfile_sends_a_file, ON_STREAM),
	TEST(splice_out_of_a_socket, ON_STREAM),
	TEST(splice_into_a_socket, ON_STREAM),
	TEST(duplicated_descriptors_are_one_socket, ON_BOTH),
	TEST(writers_of_one_socket_do_not_mix, ON_BOTH),
	TEST(readers_of_one_socket_share_the_messages, ON_SEQPACKET),
	TEST(siocinq_counts_unread_bytes, ON_BOTH),
	TEST(siocoutq_falls_to_zero_once_acknowledged, ON_BOTH | ON_NOT_SCTP),
	TEST(queue_sizes_of_a_listener_are_invalid, ON_BOTH | ON_NOT_SCTP),
	TEST(bad_buffers_fault_and_do_no_harm, ON_BOTH | ON_NOT_SCTP),
	TEST(unconnected_sockets_move_nothing, ON_BOTH),
	TEST(listener_moves_nothing, ON_BOTH),
	TEST(out_of_band_data_is_not_supported, ON_BOTH | ON_FALCON),
	TEST(msg_trunc_drops_bytes_of_a_stream, ON_STREAM),
	TEST(msg_more_loses_nothing, ON_STREAM),
	TEST(requests_of_any_size_are_answered, ON_STREAM),
	TEST(reader_that_sleeps_seconds_loses_nothing, ON_BOTH),
	TEST(reader_that_sleeps_a_minute_loses_nothing, ON_BOTH | ON_LONG),
	TEST(silent_connection_stays_up, ON_BOTH | ON_LONG),
	{ }
};
