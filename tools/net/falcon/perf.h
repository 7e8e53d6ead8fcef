/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of falcon-perf share: the two messages that client and server
 * exchange beside the data, the pattern of verified data, and the histogram of
 * round trips.
 */
#ifndef FALCON_PERF_H
#define FALCON_PERF_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;

#define PERF_MAGIC	0x46505246u	/* "FPRF" */
#define PERF_VERSION	1
#define PERF_PORT	5202
#define PERF_MAX_LEN	(64u << 20)

enum perf_mode {
	PERF_SEND,		/* client to server */
	PERF_REVERSE,		/* server to client */
	PERF_PING_PONG,		/* one message forth, one back */
};

/* First message of a connection, from the client. Big endian. */
struct perf_hello {
	u32 magic;
	u8 version;
	u8 mode;
	u8 verify;
	u8 pad;
	u32 len;		/* bytes of a message */
	u32 pad2;
	u64 max_bytes;	/* of the sender; 0 no bound */
	u64 max_ns;	/* of the sender; 0 no bound */
	u64 seed;
};

/* Answer of who received, after the end of the data. Big endian. */
struct perf_report {
	u32 magic;
	u32 mismatch;	/* 1: what came is not what was sent */
	u64 bytes;
	u64 msgs;
	u64 ns;		/* first byte to end of data */
	u64 bad_offset;
};

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define __printf(a, b)	__attribute__((format(printf, a, b)))
#define __noreturn	__attribute__((noreturn))

struct proto {
	const char *name;
	int type;
	int proto;
};

extern const struct proto protos[];
extern const unsigned int nr_protos;

struct options {
	bool server;
	bool one;		/* server: one connection, then exit */
	bool json;
	bool verify;
	const char *host;
	const char *bind;
	const char *congestion;
	const char *port;
	const struct proto *proto;
	enum perf_mode mode;
	unsigned int parallel;
	u32 len;
	u64 max_bytes;
	u64 max_ns;
	int buf;		/* SO_SNDBUF and SO_RCVBUF; 0 the kernel's */
	int interval;
};

extern struct options opt;
extern volatile sig_atomic_t stop;

struct result {
	u64 bytes;
	u64 msgs;
	u64 ns;		/* of who received */
	bool mismatch;
	u64 bad_offset;
};

struct hist;

/* perf.c */
__noreturn __printf(1, 2) void die(const char *fmt, ...);
void *xalloc(size_t len);
u64 now_ns(void);

/* perf_server.c, perf_client.c: the exit status */
int run_server(void);
int run_client(void);

/* perf_io.c: 0 or a negative errno, but for recv_all(): 1, 0 at the end */
int send_all(int fd, const void *buf, size_t len);
int recv_all(int fd, void *buf, size_t len);
void set_buffers(int fd);
int send_hello(int fd, const struct perf_hello *h);
int recv_hello(int fd, struct perf_hello *h);
int send_data(int fd, const struct perf_hello *h, u64 *progress);
int recv_data(int fd, const struct perf_hello *h, struct result *r,
	      u64 *progress);
int send_report(int fd, const struct result *r);
int recv_report(int fd, struct result *r);
int ping(int fd, const struct perf_hello *h, struct result *r,
	 struct hist *hist);
int pong(int fd, const struct perf_hello *h);

/* perf_data.c: byte @offset of the pattern depends on @seed and @offset */
void pattern_fill(u64 seed, u64 offset, void *buf, size_t len);
/* -1, or the index of the first byte that differs */
long long pattern_check(u64 seed, u64 offset, const void *buf,
			size_t len);

/* perf_hist.c: values in ns, to 1/64 of themselves */
#define HIST_SUB	64
#define HIST_BUCKETS	(HIST_SUB * 59)

struct hist {
	u64 n;
	u64 min;
	u64 max;
	double sum;
	u32 count[HIST_BUCKETS];
};

void hist_add(struct hist *h, u64 v);
u64 hist_percentile(const struct hist *h, double percent);

#endif /* FALCON_PERF_H */
