// SPDX-License-Identifier: GPL-2.0
/*
 * falcon_cm: messages of the connection manager that no honest peer sends.
 *
 * "probe" sends one INIT, right or wrong in a chosen way, and prints what comes
 * back. "flood" sends many from forged addresses. "connect" sets up many real
 * connections at the same time, "time" one after the other. The bytes are laid
 * out here by hand, from Documentation/networking/falcon/connection-manager.rst,
 * so that they also hold the kernel to that page.
 *
 * Requests come from the connection manager's port, which the kernel has: raw
 * sockets send from it all the same, and hear what comes back, as the kernel does.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/falcon.h>

#define INIT_LEN	256
#define COOKIE_LEN	20	/* of its TLV */
#define MAX_LEN		(INIT_LEN + 64)

static const char help[] =
	"usage: falcon_cm probe [-k KIND] [-s SERVICE] [-u PROTOCOL] [-p PORT] IPV4\n"
	"       falcon_cm flood [-k KIND] [-s SERVICE] [-p PORT] [-n NUMBER]\n"
	"                       -f NET IPV4      from 65534 addresses\n"
	"       falcon_cm flood ... -f ADDRESS -o IPV4      from that one\n"
	"                       -R RATE: so many a second at most\n"
	"       falcon_cm connect [-s SERVICE] [-n NUMBER] [-t SECONDS] HOST\n"
	"       falcon_cm time [-s SERVICE] [-n NUMBER] HOST\n"
	"                       microseconds of p50 and p99, and how many failed\n"
	"KIND: init, version, unknown, optional, missing, value, short, order,\n"
	"      forged (a cookie), moved (a cookie made for another request),\n"
	"      port (from one that is anybody's), twice (accept, asked for\n"
	"      again), wait (accept, and what comes then), spend (asked for 500\n"
	"      times a second), noise (flood only)\n";

static const char *kind = "init";
static __u32 service = 7000, protocol = 4;	/* sockets */
static __u16 port = 4795;
static long number = 1;
static long rate;
static const char *forge;
static bool one_source;
static int seconds = 60;

static void die(const char *what)
{
	fprintf(stderr, "falcon_cm: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool is(const char *name)
{
	return !strcmp(kind, name);
}

static __u8 *put16(__u8 *p, __u16 v)
{
	*p++ = v >> 8;
	*p++ = v;
	return p;
}

static __u8 *put32(__u8 *p, __u32 v)
{
	return put16(put16(p, v >> 16), v);
}

static __u8 *tlv(__u8 *p, __u16 type, __u16 len)
{
	return put16(put16(p, type), len);
}

static void set_len(__u8 *msg, __u16 len)
{
	put16(msg + 6, len);
}

/* The parameters of a connection; numbers are whatever is allowed. */
static __u8 *put_params(__u8 *p)
{
	p = put32(tlv(p, 0x8001, 20), 0x123456);	/* ENDPOINT: CID */
	p = put32(p, 0x000007);				/* function */
	p = put32(p, 0x1a2b3c4d);			/* SPI */
	p = put32(put32(p, 0xaabbccdd), 0x11223344);	/* PCID */
	p = put32(tlv(p, 0x8003, 12), service);		/* SERVICE */
	/* Datagrams of RDMA have one service, at both ends. */
	p = put32(p, protocol == 4 ? 7001 : service);
	p = put32(p, protocol << 24);
	p = put32(tlv(p, 0x8004, 12), 1000);		/* SEQUENCE */
	p = put32(put32(p, 2000), 3000);
	p = put32(put32(tlv(p, 0x8005, 8), 0), 1);	/* TIME */
	p = put16(put16(tlv(p, 0x8006, 4), 64), 128);	/* WINDOW */
	p = put16(tlv(p, 0x8007, 12), is("value") ? 1 : 1400); /* PATH: MTU */
	*p++ = 64;					/* TTL */
	*p++ = 1;					/* flows */
	memset(p, 0xc0, 8);
	p += 8;
	p = put32(put32(put32(tlv(p, 0x8008, 12), 1000), 250), 100000);
	memset(tlv(p, 0x8009, 12), 0, 12);		/* CREDITS */
	p += 16;
	p = put32(tlv(p, 0x800a, 4), 3);		/* FEATURES: ordered */
	if (is("missing"))
		return p;
	return put32(tlv(p, 0x800b, 1), 15u << 24);	/* SECURITY */
}

static unsigned int build_init(__u8 *msg)
{
	__u8 *p;

	memset(msg, 0, MAX_LEN);
	memcpy(msg, "FLCN", 4);
	msg[4] = is("version") ? 2 : 1;
	msg[5] = 1;					/* INIT */
	if (getrandom(msg + 8, 8, 0) != 8)
		die("getrandom");
	p = put_params(msg + 16);
	if (is("unknown"))
		p = put32(tlv(p, 0x8077, 4), 1);
	if (is("optional"))
		p = put32(tlv(p, 0x0077, 4), 1);
	if (is("order"))
		p = put32(tlv(p, 0x800a, 4), 3);
	tlv(p, 0x7ffd, msg + INIT_LEN - p - 4);		/* PAD */
	if (is("short")) {
		set_len(msg, p - msg);
		return p - msg;
	}
	set_len(msg, INIT_LEN);
	return INIT_LEN;
}

static unsigned int add_cookie(__u8 *msg, const __u8 *cookie)
{
	memcpy(tlv(msg + INIT_LEN, 0xfffe, 16), cookie, 16);
	set_len(msg, INIT_LEN + COOKIE_LEN);
	return INIT_LEN + COOKIE_LEN;
}

/* What is sent and heard is what UDP carries, or for raw sockets UDP itself. */
static int open_socket(const struct sockaddr_in *to)
{
	int fd = is("port") ? socket(AF_INET, SOCK_DGRAM, 0) :
			      socket(AF_INET, SOCK_RAW, IPPROTO_UDP);

	if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		die("socket");
	return fd;
}

static void send_msg(int fd, const __u8 *msg, unsigned int len)
{
	__u8 buf[sizeof(struct udphdr) + MAX_LEN], *p = buf;

	if (!is("port")) {
		p = put16(put16(p, port), port);
		p = put16(put16(p, sizeof(struct udphdr) + len), 0);
	}
	memcpy(p, msg, len);
	len += p - buf;
	if (send(fd, buf, len, 0) != (ssize_t)len)
		die("send");
}

/* From IP on: the message in it, if it has come from the port to the port */
static ssize_t strip(__u8 *buf, ssize_t n)
{
	const struct iphdr *ip = (const void *)buf;
	const struct udphdr *udp = (const void *)(buf + ip->ihl * 4);
	ssize_t headers = ip->ihl * 4 + sizeof(*udp);

	if (n < headers || udp->source != htons(port) ||
	    udp->dest != htons(port))
		return 0;
	memmove(buf, buf + headers, n - headers);
	return n - headers;
}

/*
 * The next message of the set-up of @msg, but for @msg itself that somebody sends
 * back; 0: nothing within that time
 */
static unsigned int hear(int fd, const __u8 *msg, int ms, __u8 *answer)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	ssize_t n;

	while (poll(&pfd, 1, ms) > 0) {
		n = recv(fd, answer, 2048, 0);
		if (n < 0 && errno == ECONNREFUSED)
			return 0;
		if (n > 0 && !is("port"))
			n = strip(answer, n);
		if (n >= 24 && !memcmp(answer, "FLCN\1", 5) &&
		    answer[5] != msg[5] && !memcmp(answer + 8, msg + 8, 8))
			return n;
	}
	return 0;
}

static unsigned int ask(int fd, const __u8 *msg, unsigned int len,
			__u8 *answer)
{
	send_msg(fd, msg, len);
	return hear(fd, msg, 2000, answer);
}

/* type, length, and of a REFUSE the reason and its detail in hex */
static void report(const __u8 *answer, unsigned int len)
{
	static const char * const types[] = {
		"?", "init", "cookie", "accept", "confirm", "refuse", "reset",
	};

	if (!len) {
		puts("silence");
		return;
	}
	printf("%s %u", answer[5] < 7 ? types[answer[5]] : "?", len);
	/* REASON stands at the end of both. */
	if (answer[5] == 5 || answer[5] == 6)
		printf(" %u %02x%02x", answer[len - 4] << 8 | answer[len - 3],
		       answer[len - 2], answer[len - 1]);
	puts("");
	fflush(stdout);
}

/* What comes after an ACCEPT that is never confirmed, ACCEPTs aside */
static void wait_for_more(int fd, const __u8 *msg)
{
	__u8 answer[2048];
	unsigned int n;

	do {
		n = hear(fd, msg, seconds * 1000, answer);
	} while (n && answer[5] == 3);
	report(answer, n);
}

static void spend(int fd, const __u8 *msg, unsigned int len)
{
	int i;

	for (i = 0; i < seconds * 500; i++) {
		send_msg(fd, msg, len);
		usleep(2000);
	}
}

static void probe(const struct sockaddr_in *to)
{
	static const __u8 forged[16] = { 0, 0, 0, 1 };
	__u8 msg[MAX_LEN], answer[2048], again[2048];
	unsigned int len = build_init(msg), n;
	int fd = open_socket(to);

	if (is("forged"))
		len = add_cookie(msg, forged);
	n = ask(fd, msg, len, answer);
	if ((is("moved") || is("twice") || is("wait") || is("spend")) && n) {
		if (is("moved"))
			build_init(msg);
		len = add_cookie(msg, answer + 20);
		n = ask(fd, msg, len, answer);
	}
	report(answer, n);
	if (is("wait"))
		wait_for_more(fd, msg);
	if (is("spend"))
		spend(fd, msg, len);
	if (is("twice")) {
		n = ask(fd, msg, len, again);
		puts(n && !memcmp(answer, again, n) ? "same" : "other");
	}
}

/* A datagram as a raw socket takes it; the kernel fills in the checksum of IP,
 * that of UDP may be left out.
 */
struct forged {
	unsigned int len;
	__u8 bytes[sizeof(struct iphdr) + sizeof(struct udphdr) + MAX_LEN];
};

static void forge_headers(struct forged *f, const struct sockaddr_in *to,
			  unsigned int payload)
{
	struct iphdr *ip = (void *)f->bytes;
	struct udphdr *udp = (void *)(ip + 1);
	__u32 net = ntohl(inet_addr(forge));

	*ip = (struct iphdr) {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.saddr = htonl(one_source ? net : net + 1 + random() % 65534),
		.daddr = to->sin_addr.s_addr,
	};
	*udp = (struct udphdr) {
		.source = to->sin_port,
		.dest = to->sin_port,
		.len = htons(sizeof(*udp) + payload),
	};
	f->len = sizeof(*ip) + sizeof(*udp) + payload;
}

static void fill(void *p, size_t len)
{
	if (getrandom(p, len, 0) != (ssize_t)len)
		die("getrandom");
}

static void forge_packet(struct forged *f, const struct sockaddr_in *to)
{
	__u8 *msg = f->bytes + sizeof(struct iphdr) + sizeof(struct udphdr);
	unsigned int len = build_init(msg);
	__u8 forged[16];

	if (is("forged")) {
		fill(forged, sizeof(forged));
		len = add_cookie(msg, forged);
	}
	if (is("noise")) {
		len = random() % INIT_LEN;
		fill(msg, len);
		if (len > 4 && random() & 1)
			memcpy(msg, "FLCN", 4);
	}
	forge_headers(f, to, len);
}

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Waits for the time of packet @i after the start. */
static void pace(__u64 start, long i)
{
	__u64 at = start + i * 1000000000.0 / rate;
	struct timespec ts = {
		.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000,
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/*
 * With a rate packets are made before the first of them leaves, so that sending
 * costs little and takes its time evenly; they come by turns, and nobody
 * remembers them. Without one each is new.
 */
#define NR_AHEAD	4096

static struct forged *forge_ahead(const struct sockaddr_in *to, long n)
{
	struct forged *f = calloc(n, sizeof(*f));
	long i;

	if (!f)
		die("memory");
	for (i = 0; i < n; i++)
		forge_packet(&f[i], to);
	return f;
}

static void flood(const struct sockaddr_in *to)
{
	long i, sent = 0, ahead = rate ? NR_AHEAD : 1;
	struct forged *pkts = forge_ahead(to, ahead), *f;
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	__u64 start = now_ns();

	if (fd < 0)
		die("socket");
	for (i = 0; i < number; i++) {
		f = &pkts[i % ahead];
		if (rate)
			pace(start, i);
		else
			forge_packet(f, to);
		if (sendto(fd, f->bytes, f->len, 0,
			   (const struct sockaddr *)to, sizeof(*to)) == f->len)
			sent++;
		else if (errno != ENOBUFS)
			die("sendto");
	}
	printf("sent %ld rate %.0f\n", sent,
	       sent * 1e9 / (now_ns() - start + 1));
	free(pkts);
}

/* Waits for one connection: 0, or why there is none */
static int outcome(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = EINPROGRESS;

	if (poll(&pfd, 1, ms) > 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		die("SO_ERROR");
	return err;
}

static void connect_many(const char *host)
{
	long i, established = 0, refused = 0, timed_out = 0, other = 0;
	struct addrinfo *ai, hints = { .ai_socktype = SOCK_STREAM };
	int *fds = calloc(number, sizeof(*fds));
	time_t end = time(NULL) + seconds;
	char name[8];

	snprintf(name, sizeof(name), "%u", (unsigned int)service);
	if (!fds || getaddrinfo(host, name, &hints, &ai))
		die(host);
	for (i = 0; i < number; i++) {
		fds[i] = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK,
				IPPROTO_FALCON);
		if (fds[i] < 0)
			die("socket");
		if (connect(fds[i], ai->ai_addr, ai->ai_addrlen) &&
		    errno != EINPROGRESS)
			die("connect");
	}
	for (i = 0; i < number; i++) {
		int left = end > time(NULL) ? end - time(NULL) : 0;

		switch (outcome(fds[i], left * 1000)) {
		case 0:
			established++;
			break;
		case ECONNREFUSED:
			refused++;
			break;
		case ETIMEDOUT:
			timed_out++;
			break;
		default:
			other++;
		}
	}
	printf("established %ld refused %ld timed_out %ld other %ld\n",
	       established, refused, timed_out, other);
}

static int by_value(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void time_set_ups(const char *host)
{
	struct addrinfo *ai, hints = { .ai_socktype = SOCK_STREAM };
	__u64 *us = calloc(number, sizeof(*us)), start;
	long i, n = 0;
	char name[8];
	int fd;

	snprintf(name, sizeof(name), "%u", (unsigned int)service);
	if (!us || getaddrinfo(host, name, &hints, &ai))
		die(host);
	for (i = 0; i < number; i++) {
		fd = socket(ai->ai_family, SOCK_STREAM, IPPROTO_FALCON);
		if (fd < 0)
			die("socket");
		start = now_ns();
		if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
			us[n++] = (now_ns() - start) / 1000;
		close(fd);
	}
	if (!n)
		die("connect");
	qsort(us, n, sizeof(*us), by_value);
	printf("p50 %llu p99 %llu failed %ld\n", us[n / 2], us[n * 99 / 100],
	       number - n);
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	const char *command = argc > 1 ? argv[1] : "";
	int c;

	optind = 2;
	while ((c = getopt(argc, argv, "u:k:s:p:n:f:oR:t:h")) != -1) {
		switch (c) {
		case 'k':
			kind = optarg;
			break;
		case 's':
			service = strtoul(optarg, NULL, 0);
			break;
		case 'u':
			protocol = strtoul(optarg, NULL, 0);
			break;
		case 'p':
			port = atoi(optarg);
			break;
		case 'n':
			number = atol(optarg);
			break;
		case 't':
			seconds = atoi(optarg);
			break;
		case 'f':
			forge = optarg;
			break;
		case 'R':
			rate = atol(optarg);
			break;
		case 'o':
			one_source = true;
			break;
		default:
			fputs(help, stderr);
			return 2;
		}
	}
	if (optind == argc - 1 && !strcmp(command, "connect")) {
		connect_many(argv[optind]);
		return 0;
	}
	if (optind == argc - 1 && !strcmp(command, "time")) {
		time_set_ups(argv[optind]);
		return 0;
	}
	to.sin_port = htons(port);
	if (optind == argc - 1 && inet_aton(argv[optind], &to.sin_addr)) {
		if (!strcmp(command, "probe")) {
			probe(&to);
			return 0;
		}
		if (!strcmp(command, "flood") && forge) {
			flood(&to);
			return 0;
		}
	}
	fputs(help, stderr);
	return 2;
}
