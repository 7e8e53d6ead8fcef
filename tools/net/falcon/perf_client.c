// SPDX-License-Identifier: GPL-2.0
/*
 * The client of falcon-perf: connections in parallel, a thread each, and what
 * comes of them together as text or JSON.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/falcon.h>
#include "perf.h"

/* One connection of the client. */
struct client {
	pthread_t thread;
	int fd;
	int err;		/* errno that ended it */
	u64 seed;
	u64 bytes;			/* so far, for interval lines */
	struct result res;
	struct hist *hist;
	u64 retx;
	u32 rtt_us;
};

static int connect_to(void)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *ai;
	int fd = -1, one = 1, err;

	err = getaddrinfo(opt.host, opt.port, &hints, &list);
	if (err)
		die("%s: %s", opt.host, gai_strerror(err));
	for (ai = list; ai; ai = ai->ai_next) {
		fd = socket(ai->ai_family, opt.proto->type, opt.proto->proto);
		if (fd < 0)
			continue;
		set_buffers(fd);
		if (opt.proto->proto == IPPROTO_TCP)
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one,
				   sizeof(one));
		else if (opt.congestion &&
			 setsockopt(fd, SOL_FALCON, FALCON_CONGESTION,
				    opt.congestion, strlen(opt.congestion)))
			die("%s: %s", opt.congestion, strerror(errno));
		if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
			break;
		err = errno;
		close(fd);
		fd = -1;
		errno = err;
	}
	if (fd < 0)
		die("%s: %s: %s", opt.host, opt.proto->name, strerror(errno));
	freeaddrinfo(list);
	return fd;
}

/*
 * What the protocol itself says of the connection, while there is one: read
 * again at the end, which knows all retransmissions but may have none.
 */
static void read_info(struct client *c)
{
	struct falcon_info fi = { 0 };
	struct tcp_info ti = { 0 };
	socklen_t len;

	if (opt.proto->proto == IPPROTO_TCP) {
		len = sizeof(ti);
		getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &ti, &len);
		fi.rtt_us = ti.tcpi_rtt;
		fi.retx = ti.tcpi_total_retrans;
	} else {
		len = sizeof(fi);
		getsockopt(c->fd, SOL_FALCON, FALCON_INFO, &fi, &len);
	}
	if (fi.rtt_us)
		c->rtt_us = fi.rtt_us;
	if (fi.retx > c->retx)
		c->retx = fi.retx;
}

/* The end must come where the sender made it. */
static void note_end(struct result *r, u64 sent)
{
	if (r->mismatch || r->bytes == sent)
		return;
	r->mismatch = true;
	r->bad_offset = r->bytes;
}

static int run_mode(struct client *c, const struct perf_hello *h)
{
	int err;

	switch (h->mode) {
	case PERF_SEND:
		err = send_data(c->fd, h, &c->bytes);
		if (err)
			return err;
		read_info(c);
		err = recv_report(c->fd, &c->res);
		read_info(c);
		note_end(&c->res, c->bytes);
		return err;
	case PERF_REVERSE:
		err = recv_data(c->fd, h, &c->res, &c->bytes);
		if (h->max_bytes && !h->max_ns)
			note_end(&c->res, h->max_bytes);
		break;
	default:
		err = ping(c->fd, h, &c->res, c->hist);
		break;
	}
	read_info(c);
	return err;
}

static void *client_thread(void *arg)
{
	struct client *c = arg;
	struct perf_hello h = {
		.mode		= opt.mode,
		.verify		= opt.verify,
		.len		= opt.len,
		.max_bytes	= opt.max_bytes,
		.max_ns		= opt.max_ns,
		.seed		= c->seed,
	};
	int err;

	err = send_hello(c->fd, &h);
	if (!err)
		err = run_mode(c, &h);
	c->err = -err;
	close(c->fd);
	return NULL;
}

static const char *mode_name(void)
{
	return opt.mode == PERF_SEND ? "send" :
	       opt.mode == PERF_REVERSE ? "receive" : "ping-pong";
}

static void print_text(const struct result *r, const struct hist *h,
		       u64 retx, u32 rtt_us)
{
	double s = r->ns / 1e9;

	printf("%s %s: %llu bytes in %.3f s, %.3f Mbit/s\n", opt.proto->name,
	       mode_name(), r->bytes, s, s > 0 ? r->bytes * 8 / s / 1e6 : 0);
	if (h->n)
		printf("round trips %llu: min %.1f mean %.1f p50 %.1f", h->n,
		       h->min / 1e3, h->sum / h->n / 1e3,
		       hist_percentile(h, 50) / 1e3);
	if (h->n)
		printf(" p99 %.1f p99.9 %.1f max %.1f us\n",
		       hist_percentile(h, 99) / 1e3,
		       hist_percentile(h, 99.9) / 1e3, h->max / 1e3);
	printf("retransmissions %llu, rtt %u us%s\n", retx, rtt_us,
	       opt.verify && !r->mismatch ? ", every byte verified" : "");
}

static void print_json(const struct result *r, const struct hist *h,
		       u64 retx, u32 rtt_us)
{
	double s = r->ns / 1e9;

	printf("{\"proto\":\"%s\",\"mode\":\"%s\",", opt.proto->name,
	       mode_name());
	printf("\"connections\":%u,\"message_bytes\":%u,", opt.parallel,
	       opt.len);
	printf("\"bytes\":%llu,\"messages\":%llu,", r->bytes, r->msgs);
	printf("\"seconds\":%.6f,\"bits_per_second\":%.0f,", s,
	       s > 0 ? r->bytes * 8 / s : 0);
	if (opt.verify)
		printf("\"verified\":%s,", r->mismatch ? "false" : "true");
	if (h->n) {
		printf("\"round_trips\":%llu,\"min_ns\":%llu,", h->n, h->min);
		printf("\"mean_ns\":%.0f,", h->sum / h->n);
		printf("\"p50_ns\":%llu,", hist_percentile(h, 50));
		printf("\"p99_ns\":%llu,", hist_percentile(h, 99));
		printf("\"p999_ns\":%llu,", hist_percentile(h, 99.9));
		printf("\"max_ns\":%llu,", h->max);
	}
	printf("\"retransmissions\":%llu,\"rtt_us\":%u}\n", retx, rtt_us);
}

static void hist_merge(struct hist *to, const struct hist *from)
{
	unsigned int i;

	if (!from->n)
		return;
	for (i = 0; i < HIST_BUCKETS; i++)
		to->count[i] += from->count[i];
	if (!to->n || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->n += from->n;
	to->sum += from->sum;
}

/* The sum of all connections: bytes, and the time of the slowest. */
static int summarize(struct client *clients)
{
	struct hist *hist = xalloc(sizeof(*hist));
	struct result sum = { 0 };
	u64 retx = 0;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < opt.parallel; i++) {
		struct client *c = &clients[i];

		if (c->err) {
			fprintf(stderr, "falcon-perf: connection %u: %s\n", i,
				strerror(c->err));
			ret = 1;
		}
		if (c->res.mismatch) {
			fprintf(stderr,
				"falcon-perf: connection %u: data differ at byte %llu\n",
				i, c->res.bad_offset);
			sum.mismatch = true;
			ret = 1;
		}
		sum.bytes += c->res.bytes;
		sum.msgs += c->res.msgs;
		if (c->res.ns > sum.ns)
			sum.ns = c->res.ns;
		retx += c->retx;
		hist_merge(hist, c->hist);
	}
	if (opt.json)
		print_json(&sum, hist, retx, clients[0].rtt_us);
	else
		print_text(&sum, hist, retx, clients[0].rtt_us);
	free(hist);
	return ret;
}

/* A line of progress an interval, until the first connection is done. */
static void watch(struct client *clients)
{
	u64 last = 0, bytes, start = now_ns(), t = start, next;
	struct timespec ts;
	unsigned int i;

	for (;;) {
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_sec += opt.interval;
		if (!pthread_timedjoin_np(clients[0].thread, NULL, &ts))
			return;
		for (bytes = 0, i = 0; i < opt.parallel; i++)
			bytes += __atomic_load_n(&clients[i].bytes,
						 __ATOMIC_RELAXED);
		next = now_ns();
		fprintf(stderr, "%6.1f s %10.3f Mbit/s\n", (next - start) / 1e9,
			(bytes - last) * 8e3 / (next - t));
		last = bytes;
		t = next;
	}
}

int run_client(void)
{
	struct client *clients = xalloc(opt.parallel * sizeof(*clients));
	unsigned int i, first = 0;
	int ret;

	for (i = 0; i < opt.parallel; i++) {
		clients[i].fd = connect_to();
		clients[i].seed = now_ns() * 2 + i;
		clients[i].hist = xalloc(sizeof(struct hist));
	}
	for (i = 0; i < opt.parallel; i++)
		if (pthread_create(&clients[i].thread, NULL, client_thread,
				   &clients[i]))
			die("no thread");
	if (opt.interval) {
		watch(clients);
		first = 1;
	}
	for (i = first; i < opt.parallel; i++)
		pthread_join(clients[i].thread, NULL);
	ret = summarize(clients);
	for (i = 0; i < opt.parallel; i++)
		free(clients[i].hist);
	free(clients);
	return ret;
}
