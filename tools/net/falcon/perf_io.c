// SPDX-License-Identifier: GPL-2.0
/*
 * What goes over a connection of falcon-perf: the hello, bulk data in one
 * direction and the report of who received it, or one message forth and one
 * back. Client and server call the same functions.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "perf.h"

#define RX_CHUNK	(256u << 10)

static int sock_type(int fd)
{
	socklen_t len = sizeof(int);
	int type = SOCK_STREAM;

	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len);
	return type;
}

int send_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	for (; len; len -= n, p += n) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n < 0)
			return -errno;
	}
	return 0;
}

/* A whole message of known length: 1, 0 at the end of data, or an error. */
int recv_all(int fd, void *buf, size_t len)
{
	char *p = buf;
	size_t left = len;
	ssize_t n;

	for (; left; left -= n, p += n) {
		n = recv(fd, p, left, 0);
		if (n < 0)
			return -errno;
		if (!n)
			return left == len ? 0 : -EPROTO;
	}
	return 1;
}

void set_buffers(int fd)
{
	if (!opt.buf)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &opt.buf, sizeof(opt.buf));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &opt.buf, sizeof(opt.buf));
}

int send_hello(int fd, const struct perf_hello *h)
{
	struct perf_hello w = *h;

	w.magic = htobe32(PERF_MAGIC);
	w.version = PERF_VERSION;
	w.len = htobe32(h->len);
	w.max_bytes = htobe64(h->max_bytes);
	w.max_ns = htobe64(h->max_ns);
	w.seed = htobe64(h->seed);
	return send_all(fd, &w, sizeof(w));
}

int recv_hello(int fd, struct perf_hello *h)
{
	int err = recv_all(fd, h, sizeof(*h));

	if (err <= 0)
		return err ?: -EPIPE;
	h->len = be32toh(h->len);
	h->max_bytes = be64toh(h->max_bytes);
	h->max_ns = be64toh(h->max_ns);
	h->seed = be64toh(h->seed);
	if (be32toh(h->magic) != PERF_MAGIC || h->version != PERF_VERSION ||
	    !h->len || h->len > PERF_MAX_LEN)
		return -EPROTO;
	return 0;
}

int send_data(int fd, const struct perf_hello *h, u64 *progress)
{
	u64 start = now_ns(), bytes = 0;
	char *buf = xalloc(h->len);
	size_t len;
	int err = 0;

	memset(buf, 'F', h->len);
	while (!stop && !err) {
		len = h->len;
		if (h->max_bytes && h->max_bytes - bytes < len)
			len = h->max_bytes - bytes;
		if (!len || (h->max_ns && now_ns() - start >= h->max_ns))
			break;
		if (h->verify)
			pattern_fill(h->seed, bytes, buf, len);
		err = send_all(fd, buf, len);
		bytes += len;
		if (progress)
			__atomic_store_n(progress, bytes, __ATOMIC_RELAXED);
	}
	free(buf);
	if (!err && shutdown(fd, SHUT_WR))
		err = -errno;
	return err;
}

/* A message may come in parts; only the last is shorter than @len. */
static void note_boundary(struct result *r, const struct perf_hello *h,
			  u64 msg_bytes, bool *short_seen)
{
	r->msgs++;
	if (h->verify && (*short_seen || msg_bytes > h->len) && !r->mismatch) {
		r->mismatch = true;
		r->bad_offset = r->bytes;
	}
	*short_seen = msg_bytes != h->len;
}

int recv_data(int fd, const struct perf_hello *h, struct result *r,
	      u64 *progress)
{
	bool packets = sock_type(fd) == SOCK_SEQPACKET, short_seen = false;
	u64 start = 0, msg_bytes = 0;
	char *buf = xalloc(RX_CHUNK);
	long long bad;
	ssize_t n;

	for (;;) {
		struct iovec iov = { .iov_base = buf, .iov_len = RX_CHUNK };
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

		n = recvmsg(fd, &msg, 0);
		if (!start)
			start = now_ns();
		if (n <= 0)
			break;
		bad = h->verify && !r->mismatch ?
			pattern_check(h->seed, r->bytes, buf, n) : -1;
		if (bad >= 0) {
			r->mismatch = true;
			r->bad_offset = r->bytes + bad;
		}
		r->bytes += n;
		if (progress)
			__atomic_store_n(progress, r->bytes, __ATOMIC_RELAXED);
		msg_bytes += n;
		if (packets && (msg.msg_flags & MSG_EOR)) {
			note_boundary(r, h, msg_bytes, &short_seen);
			msg_bytes = 0;
		}
	}
	r->ns = now_ns() - start;
	free(buf);
	return n < 0 ? -errno : 0;
}

int send_report(int fd, const struct result *r)
{
	struct perf_report w = {
		.magic		= htobe32(PERF_MAGIC),
		.mismatch	= htobe32(r->mismatch),
		.bytes		= htobe64(r->bytes),
		.msgs		= htobe64(r->msgs),
		.ns		= htobe64(r->ns),
		.bad_offset	= htobe64(r->bad_offset),
	};

	return send_all(fd, &w, sizeof(w));
}

int recv_report(int fd, struct result *r)
{
	struct perf_report w;
	int err = recv_all(fd, &w, sizeof(w));

	if (err <= 0)
		return err ?: -EPIPE;
	if (be32toh(w.magic) != PERF_MAGIC)
		return -EPROTO;
	r->mismatch = be32toh(w.mismatch);
	r->bytes = be64toh(w.bytes);
	r->msgs = be64toh(w.msgs);
	r->ns = be64toh(w.ns);
	r->bad_offset = be64toh(w.bad_offset);
	return 0;
}

/* Ping-pong: the client times, the server echoes. */
int ping(int fd, const struct perf_hello *h, struct result *r,
	 struct hist *hist)
{
	u64 start = now_ns(), t, rounds = 0, max;
	char *out = xalloc(h->len), *in = xalloc(h->len);
	int err = 0;

	max = h->max_bytes / h->len;
	while (!stop && (!max || rounds < max)) {
		t = now_ns();
		if (h->max_ns && t - start >= h->max_ns)
			break;
		if (h->verify)
			pattern_fill(h->seed, rounds * h->len, out, h->len);
		t = now_ns();
		err = send_all(fd, out, h->len);
		if (err)
			break;
		err = recv_all(fd, in, h->len);
		if (err <= 0) {
			err = err ?: -EPIPE;
			break;
		}
		hist_add(hist, now_ns() - t);
		err = 0;
		if (h->verify && memcmp(in, out, h->len)) {
			r->mismatch = true;
			r->bad_offset = rounds * h->len;
			break;
		}
		rounds++;
	}
	r->bytes = rounds * h->len;
	r->msgs = rounds;
	r->ns = now_ns() - start;
	free(out);
	free(in);
	return err;
}

int pong(int fd, const struct perf_hello *h)
{
	char *buf = xalloc(h->len);
	int err;

	for (;;) {
		err = recv_all(fd, buf, h->len);
		if (err <= 0)
			break;
		err = send_all(fd, buf, h->len);
		if (err)
			break;
	}
	free(buf);
	return err;
}
