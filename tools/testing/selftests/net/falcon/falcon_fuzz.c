// SPDX-License-Identifier: GPL-2.0
/*
 * falcon_fuzz: throws packets at the PSP port that nobody asked for.
 *
 * Packets are random bytes, or live packets seen on an interface and then
 * mutated.  A blind attacker (-k absent) never has the SPI and the PCID of the
 * connection right, all else may be; one that knows them (-k) has nothing but
 * the mutation against it.  Everything follows from the seed and the packets
 * seen.  Prints how many packets left.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/types.h>
#include "capture.h"

#define PSP_PORT	1000
#define MAX_LEN		1472
#define MAX_TEMPLATES	512
#define BATCH		64
#define CAPTURE_MS	3000

/* Offsets within the UDP payload: PSP header, then Falcon header. */
#define PSP_SPI		4
#define PSP_PCID	16
#define PSP_LEN		24
#define FALCON_HDR	24

struct packet {
	size_t len;
	__u8 data[MAX_LEN];
};

static struct packet templates[MAX_TEMPLATES];
static int nr_templates, max_templates = MAX_TEMPLATES;

static const char *iface;
static const char *host;
static bool knows;
static unsigned long number = 1000;
static __u64 state = 1;

static const char help[] =
	"usage: falcon_fuzz [-s SEED] [-n PACKETS] HOST            random bytes\n"
	"       falcon_fuzz -i IFACE [-k] [-c COUNT] [-s SEED] [-n PACKETS] HOST\n"
	"                   live packets to HOST, mutated, of the COUNT seen\n"
	"                   first (512); -k: with the right SPI and PCID\n";

static void die(const char *what)
{
	fprintf(stderr, "falcon_fuzz: %s: %s\n", what, strerror(errno));
	exit(1);
}

static __u64 rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dULL;
}

static unsigned int below(unsigned int n)
{
	return (rnd() >> 33) % n;
}

/* The UDP payload of a packet to the PSP port, or NULL. */
static const __u8 *psp_of(const __u8 *p, size_t *len)
{
	size_t ip;

	if (*len < 28)
		return NULL;
	if (p[0] >> 4 == 4)
		ip = (p[0] & 15) * 4;
	else
		ip = 40;
	if (*len < ip + 8 + PSP_LEN + FALCON_HDR ||
	    p[ip + 2] != PSP_PORT >> 8 || p[ip + 3] != (PSP_PORT & 255))
		return NULL;
	*len -= ip + 8;
	return p + ip + 8;
}

static void keep(const __u8 *p, size_t len)
{
	struct packet *t = &templates[nr_templates];

	p = psp_of(p, &len);
	if (!p)
		return;
	t->len = len < MAX_LEN ? len : MAX_LEN;
	memcpy(t->data, p, t->len);
	nr_templates++;
}

/* What leaves is addressed to the victim. */
static void capture(void)
{
	int fd = capture_open(iface);
	static __u8 buf[65536];
	ssize_t n;

	while (nr_templates < max_templates &&
	       (n = capture_next(fd, buf, sizeof(buf), CAPTURE_MS)) > 0)
		keep(buf, n);
	close(fd);
	if (nr_templates)
		return;
	fprintf(stderr, "falcon_fuzz: no live packet on %s\n", iface);
	exit(1);
}

static void fill(__u8 *p, size_t len)
{
	while (len--)
		*p++ = rnd() >> 40;
}

static void make_random(struct packet *p)
{
	p->len = below(MAX_LEN + 1);
	fill(p->data, p->len);
}

static void mutate_bytes(struct packet *p, size_t from)
{
	unsigned int n = 1 + below(4);
	size_t at;

	while (n--) {
		at = from + below(p->len - from);
		switch (below(3)) {
		case 0:
			p->data[at] ^= 1 << below(8);
			break;
		case 1:
			p->data[at] = below(2) ? 0xff : 0;
			break;
		default:
			p->data[at] = rnd() >> 40;
		}
	}
}

/* A window or sequence number that is off by a little or by far. */
static void mutate_word(struct packet *p)
{
	size_t at = PSP_LEN + 4 * below(10);
	__u32 word;

	if (at + 4 > p->len)
		return;
	memcpy(&word, p->data + at, 4);
	word = htonl(ntohl(word) + (below(2) ? below(512) - 256 : rnd()));
	memcpy(p->data + at, &word, 4);
}

static void mutate_length(struct packet *p)
{
	size_t len = PSP_LEN + FALCON_HDR + below(MAX_LEN - 100);

	if (len > p->len)
		fill(p->data + p->len, len - p->len);
	p->len = len;
}

static void make_mutated(struct packet *p)
{
	size_t from = knows ? PSP_LEN : 0;

	*p = templates[below(nr_templates)];
	switch (below(4)) {
	case 0:
		break;		/* a replay, but for the blind */
	case 1:
		mutate_word(p);
		break;
	case 2:
		mutate_length(p);
		break;
	default:
		mutate_bytes(p, from);
	}
	if (knows)
		return;
	/* The blind guess: one of the two may be right, never both. */
	if (below(2))
		fill(p->data + PSP_SPI, 4);
	p->data[PSP_PCID + below(8)] ^= 1 + below(255);
}

static int connected(void)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };
	struct addrinfo *ai;
	int fd;

	if (getaddrinfo(host, "1000", &hints, &ai)) {
		fprintf(stderr, "falcon_fuzz: no address %s\n", host);
		exit(2);
	}
	fd = socket(ai->ai_family, SOCK_DGRAM, 0);
	if (fd < 0 || connect(fd, ai->ai_addr, ai->ai_addrlen) < 0)
		die("connect");
	return fd;
}

static unsigned long throw(int fd)
{
	static struct packet packets[BATCH];
	struct mmsghdr msgs[BATCH] = { };
	struct iovec iov[BATCH];
	unsigned long sent = 0;
	int i, n;

	while (sent < number) {
		for (i = 0; i < BATCH; i++) {
			(nr_templates ? make_mutated : make_random)(&packets[i]);
			iov[i].iov_base = packets[i].data;
			iov[i].iov_len = packets[i].len;
			msgs[i].msg_hdr.msg_iov = &iov[i];
			msgs[i].msg_hdr.msg_iovlen = 1;
		}
		n = sendmmsg(fd, msgs, BATCH, 0);
		if (n < 0 && errno != ECONNREFUSED && errno != ENOBUFS)
			die("sendmmsg");
		if (n > 0)
			sent += n;
	}
	return sent;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "c:i:ks:n:h")) != -1) {
		switch (c) {
		case 'c':
			max_templates = atoi(optarg);
			break;
		case 'i':
			iface = optarg;
			break;
		case 'k':
			knows = true;
			break;
		case 's':
			state = strtoull(optarg, NULL, 0) | 1;
			break;
		case 'n':
			number = strtoul(optarg, NULL, 0);
			break;
		default:
			fputs(help, c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	host = argv[optind];
	if (!host || max_templates < 1 || max_templates > MAX_TEMPLATES) {
		fputs(help, stderr);
		return 2;
	}
	if (iface)
		capture();
	printf("%lu\n", throw(connected()));
	return 0;
}
