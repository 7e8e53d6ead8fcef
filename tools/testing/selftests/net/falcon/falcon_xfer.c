// SPDX-License-Identifier: GPL-2.0
/*
 * falcon_xfer: moves bytes through one connection and knows whether they
 * arrived.
 *
 * The sender sends a file, or a pattern that tells the place of every byte;
 * the receiver stores what comes, or compares it on the fly with a file or the
 * pattern.  At the end the receiver answers with what it counted, so that the
 * sender's exit status and time cover the whole way.  Falcon streams, Falcon
 * messages, TCP and TCP under kernel TLS are spoken by the same code, for
 * comparison.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <linux/falcon.h>
#include <linux/tls.h>

#define MAX_SAMPLES	65536
#define MAX_REFERENCE	(64U << 20)
#define PATIENCE_NS	30000000000ULL

static struct {
	bool receive;
	int family;
	int type;
	int protocol;
	bool tls;
	const char *host;
	const char *port;
	const char *file;	/* to send, or to compare with */
	const char *store;	/* receiver: where to put it */
	const char *slow;	/* sender: it pauses only while this exists */
	const char *hook;	/* run when all has arrived, before the close */
	const char *congestion;
	__u64 bytes;		/* of the pattern */
	__u64 chunk;		/* bytes a send() or recv() */
	__u64 pause_ms;		/* receiver: sleep after the first bytes */
	__u64 every_us;		/* sender: between two chunks */
	__u64 rate;		/* SO_MAX_PACING_RATE */
	__u64 sndbuf;
	__u64 rcvbuf;
	__u64 flows;
	__u64 pings;		/* ping-pongs instead of a transfer */
} opt = {
	.family = AF_UNSPEC,
	.type = SOCK_STREAM,
	.protocol = IPPROTO_FALCON,
	.port = "7000",
	.bytes = 1 << 20,
	.chunk = 65536,
};

static const char help[] =
	"usage: falcon_xfer [OPTION]... [HOST]     send\n"
	"       falcon_xfer -l [OPTION]... [HOST]  receive once, and exit\n"
	"Who has no HOST listens, and the other one connects.\n"
	"  -P PORT             (7000)\n"
	"  -p falcon|tcp|ktls  protocol; ktls is TCP sealed by the kernel, with\n"
	"                      AES-GCM-128 and a key that everybody knows\n"
	"  -t stream|seqpacket\n"
	"  -4, -6              family\n"
	"  -f FILE             send it; receiver: compare with it\n"
	"  -b BYTES            of a pattern instead, K, M or G may follow\n"
	"  -o FILE             receiver: store there\n"
	"  -m BYTES            a message, or a call (64K)\n"
	"  -x COMMAND          sender: run it before closing\n"
	"  -w MS               receiver: sleep after the first bytes\n"
	"  -e US               sender: wait between two calls\n"
	"  -g FILE             but only while there is such a file\n"
	"  -r BYTES            a second, at most (SO_MAX_PACING_RATE)\n"
	"  -S BYTES, -R BYTES  send and receive buffer\n"
	"  -F N, -C NAME       Falcon: flows, congestion control\n"
	"  -L N                N ping-pongs of -m bytes; both ends need it\n"
	"The sender prints one line of JSON.  Exit status 0: every byte arrived.\n";

static void die(const char *what)
{
	fprintf(stderr, "falcon_xfer: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void refuse(const char *what)
{
	fprintf(stderr, "falcon_xfer: %s\n", what);
	exit(2);
}

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void pause_us(unsigned int us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000L };

	nanosleep(&ts, NULL);
}

/*
 * The pattern: 64-bit words that tell their own place, mixed so that no two
 * places of one transfer look alike.
 */
static __u64 word_at(__u64 index)
{
	return (index + 1) * 0x9e3779b97f4a7c15ULL;
}

static void pattern_fill(unsigned char *buf, size_t len, __u64 offset)
{
	__u64 word;
	size_t n;

	while (len) {
		word = word_at(offset / 8);
		n = 8 - offset % 8;
		if (n > len)
			n = len;
		memcpy(buf, (char *)&word + offset % 8, n);
		buf += n;
		offset += n;
		len -= n;
	}
}

/*
 * What is to arrive: a file or a pattern in memory, ready before the clock
 * starts, or a pattern too long for that, made as it goes.
 */
static const unsigned char *reference;
static unsigned char *scratch;

static void load_pattern(void)
{
	size_t len = opt.bytes <= MAX_REFERENCE ? opt.bytes : opt.chunk;

	scratch = malloc(len);
	if (!scratch)
		die("malloc");
	if (opt.bytes > MAX_REFERENCE)
		return;
	pattern_fill(scratch, len, 0);
	reference = scratch;
}

static void load_reference(void)
{
	struct stat st;
	int fd;

	if (!opt.file) {
		load_pattern();
		return;
	}
	fd = open(opt.file, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		die(opt.file);
	opt.bytes = st.st_size;
	reference = mmap(NULL, opt.bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
			 fd, 0);
	if (reference == MAP_FAILED)
		die("mmap");
	close(fd);
}

static const void *expected(size_t len, __u64 offset)
{
	if (reference)
		return reference + offset;
	pattern_fill(scratch, len, offset);
	return scratch;
}

static void set_int(int fd, int level, int name, int value)
{
	if (value && setsockopt(fd, level, name, &value, sizeof(value)) < 0)
		die("setsockopt");
}

/* Root has what it asks for, whatever net.core.?mem_max is. */
static void set_buffer(int fd, int name, int force, int value)
{
	if (value &&
	    setsockopt(fd, SOL_SOCKET, force, &value, sizeof(value)) < 0)
		set_int(fd, SOL_SOCKET, name, value);
}

static int new_socket(int family)
{
	int fd = socket(family, opt.type, opt.protocol);

	if (fd < 0)
		die("socket");
	set_buffer(fd, SO_SNDBUF, SO_SNDBUFFORCE, opt.sndbuf);
	set_buffer(fd, SO_RCVBUF, SO_RCVBUFFORCE, opt.rcvbuf);
	set_int(fd, SOL_SOCKET, SO_MAX_PACING_RATE, opt.rate);
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, !opt.host);
	if (opt.protocol != IPPROTO_FALCON) {
		set_int(fd, IPPROTO_TCP, TCP_NODELAY, opt.pings);
		return fd;
	}
	set_int(fd, SOL_FALCON, FALCON_FLOWS, opt.flows);
	if (opt.congestion &&
	    setsockopt(fd, SOL_FALCON, FALCON_CONGESTION, opt.congestion,
		       strlen(opt.congestion)) < 0)
		die("FALCON_CONGESTION");
	return fd;
}

/* What a handshake would end with, had there been one. */
static void start_tls(int fd)
{
	struct tls12_crypto_info_aes_gcm_128 info = {
		.info.version = TLS_1_2_VERSION,
		.info.cipher_type = TLS_CIPHER_AES_GCM_128,
		.key = "no secret",
	};

	if (!opt.tls)
		return;
	if (setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) < 0)
		die("TCP_ULP");
	if (setsockopt(fd, SOL_TLS, TLS_TX, &info, sizeof(info)) < 0)
		die("TLS_TX");
	if (setsockopt(fd, SOL_TLS, TLS_RX, &info, sizeof(info)) < 0)
		die("TLS_RX");
}

static struct addrinfo *resolve(const char *host)
{
	struct addrinfo hints = {
		.ai_family = opt.family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = host ? 0 : AI_PASSIVE,
	};
	struct addrinfo *ai;
	int err;

	if (!host && opt.family == AF_UNSPEC)
		hints.ai_family = AF_INET6;
	err = getaddrinfo(host, opt.port, &hints, &ai);
	if (err)
		refuse(gai_strerror(err));
	return ai;
}

static int accept_one(void)
{
	struct addrinfo *ai = resolve(NULL);
	int listener = new_socket(ai->ai_family);
	int fd;

	if (bind(listener, ai->ai_addr, ai->ai_addrlen) < 0)
		die("bind");
	if (listen(listener, 1) < 0)
		die("listen");
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accept");
	close(listener);
	start_tls(fd);
	return fd;
}

/* The listener may have been started a moment ago: patience. */
static int connect_to(const char *host)
{
	struct addrinfo *ai = resolve(host);
	__u64 limit = now_ns() + PATIENCE_NS;
	int fd;

	for (;;) {
		fd = new_socket(ai->ai_family);
		if (!connect(fd, ai->ai_addr, ai->ai_addrlen)) {
			start_tls(fd);
			return fd;
		}
		if (errno != ECONNREFUSED || now_ns() > limit)
			die("connect");
		close(fd);
		pause_us(50000);
	}
}

/* Smoothed round-trip times of the transport, in microseconds. */
static __u32 samples[MAX_SAMPLES];
static size_t nr_samples;

static void sample_rtt(int fd)
{
	struct falcon_info falcon = { };
	struct tcp_info tcp = { };
	socklen_t len;
	__u32 rtt;

	if (nr_samples == MAX_SAMPLES)
		return;
	if (opt.protocol == IPPROTO_FALCON) {
		len = sizeof(falcon);
		getsockopt(fd, SOL_FALCON, FALCON_INFO, &falcon, &len);
		rtt = falcon.rtt_us;
	} else {
		len = sizeof(tcp);
		getsockopt(fd, IPPROTO_TCP, TCP_INFO, &tcp, &len);
		rtt = tcp.tcpi_rtt;
	}
	if (rtt)
		samples[nr_samples++] = rtt;
}

static int compare(const void *a, const void *b)
{
	__u32 x = *(const __u32 *)a, y = *(const __u32 *)b;

	return x < y ? -1 : x > y;
}

/* @percent of the samples are not above it. */
static __u32 percentile(unsigned int percent)
{
	if (!nr_samples)
		return 0;
	return samples[(nr_samples - 1) * percent / 100];
}

static void send_all(int fd, const unsigned char *buf, size_t len)
{
	ssize_t n;

	while (len) {
		n = send(fd, buf, len, MSG_NOSIGNAL);
		if (n < 0)
			die("send");
		buf += n;
		len -= n;
	}
}

/* True if all came; false at the end of the stream. */
static bool recv_all(int fd, void *buf, size_t len)
{
	ssize_t n;

	while (len) {
		n = recv(fd, buf, len, 0);
		if (n < 0)
			die("recv");
		if (!n)
			return false;
		buf = (char *)buf + n;
		len -= n;
	}
	return true;
}

static void print_info(int fd)
{
	struct falcon_info info = { };
	socklen_t len = sizeof(info);

	if (opt.protocol != IPPROTO_FALCON ||
	    getsockopt(fd, SOL_FALCON, FALCON_INFO, &info, &len) < 0)
		return;
	printf(", \"cid\": %u, \"flows\": %u, \"mtu\": %u, \"rto_us\": %u",
	       info.cid, info.flows, info.mtu, info.rto_us);
	printf(", \"fcwnd\": %.3f, \"ncwnd\": %u", info.fcwnd_milli / 1000.0,
	       info.ncwnd);
	printf(", \"tx_pkts\": %llu, \"retx\": %llu, \"spurious\": %llu",
	       (unsigned long long)info.tx_pkts, (unsigned long long)info.retx,
	       (unsigned long long)info.spurious);
}

static void print_tcp_info(int fd)
{
	struct tcp_info info = { };
	socklen_t len = sizeof(info);

	if (opt.protocol != IPPROTO_TCP ||
	    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return;
	printf(", \"mtu\": %u, \"cwnd\": %u, \"retx\": %u", info.tcpi_snd_mss,
	       info.tcpi_snd_cwnd, info.tcpi_total_retrans);
}

static void report(int fd, double seconds)
{
	qsort(samples, nr_samples, sizeof(samples[0]), compare);
	printf("{\"bytes\": %llu, \"seconds\": %.6f, \"mbytes_per_s\": %.3f",
	       (unsigned long long)opt.bytes, seconds,
	       opt.bytes / seconds / 1e6);
	printf(", \"rtt_p50_us\": %u, \"rtt_p99_us\": %u", percentile(50),
	       percentile(99));
	print_info(fd);
	print_tcp_info(fd);
	puts("}");
	fflush(stdout);
}

/* Says how many bytes come, and returns once the receiver has got them. */
static void send_bytes(int fd)
{
	__u64 start = now_ns();
	__u64 offset = 0, answer = 0;
	unsigned int calls = 0;
	size_t n;

	send_all(fd, (unsigned char *)&opt.bytes, sizeof(opt.bytes));
	while (offset < opt.bytes) {
		n = opt.bytes - offset < opt.chunk ? opt.bytes - offset :
			opt.chunk;
		send_all(fd, expected(n, offset), n);
		offset += n;
		if (calls++ % 8 == 0)
			sample_rtt(fd);
		if (opt.every_us && (!opt.slow || !access(opt.slow, F_OK)))
			pause_us(opt.every_us);
	}
	if (!recv_all(fd, &answer, sizeof(answer)))
		refuse("the receiver did not answer");
	report(fd, (now_ns() - start) / 1e9);
	if (answer != opt.bytes)
		refuse("the receiver counts another number of bytes");
}

static void check_or_store(const unsigned char *buf, size_t len,
			   __u64 offset, FILE *store)
{
	const unsigned char *want;
	size_t i = 0;

	if (store) {
		if (fwrite(buf, 1, len, store) != len)
			die(opt.store);
		return;
	}
	want = expected(len, offset);
	if (!memcmp(buf, want, len))
		return;
	while (buf[i] == want[i])
		i++;
	fprintf(stderr, "falcon_xfer: byte %llu is 0x%02x, not 0x%02x\n",
		(unsigned long long)(offset + i), buf[i], want[i]);
	fprintf(stderr, "falcon_xfer: it is one of %zu from %llu on\n",
		len, (unsigned long long)offset);
	exit(1);
}

static void receive_bytes(int fd)
{
	unsigned char *buf = malloc(opt.chunk);
	__u64 offset = 0, bytes = 0;
	FILE *store = NULL;
	ssize_t n = 1;

	if (!buf)
		die("malloc");
	if (opt.store) {
		store = fopen(opt.store, "w");
		if (!store)
			die(opt.store);
	}
	if (!recv_all(fd, &bytes, sizeof(bytes)) ||
	    (!opt.store && bytes != opt.bytes))
		refuse("another number of bytes was to come");
	while (offset < bytes && (n = recv(fd, buf, opt.chunk, 0)) > 0) {
		check_or_store(buf, n, offset, store);
		if (!offset && opt.pause_ms)
			pause_us(opt.pause_ms * 1000);
		offset += n;
	}
	if (n < 0)
		die("recv");
	if (store && fclose(store))
		die(opt.store);
	send_all(fd, (unsigned char *)&offset, sizeof(offset));
	/* The sender closes first: it may want to look at the connection. */
	if (recv(fd, buf, 1, 0) != 0)
		refuse("more bytes after the end");
	if (offset != bytes)
		refuse("the end came early");
}

static void ping(int fd)
{
	unsigned char *buf = calloc(1, opt.chunk);
	__u64 start = now_ns(), sent;
	__u64 i;

	if (!buf)
		die("calloc");
	opt.bytes = 0;
	for (i = 0; i < opt.pings; i++) {
		sent = now_ns();
		send_all(fd, buf, opt.chunk);
		if (!recv_all(fd, buf, opt.chunk))
			refuse("the other end went away");
		if (nr_samples < MAX_SAMPLES)
			samples[nr_samples++] = (now_ns() - sent) / 1000;
		opt.bytes += opt.chunk;
	}
	report(fd, (now_ns() - start) / 1e9);
}

static void pong(int fd)
{
	unsigned char *buf = malloc(opt.chunk);

	if (!buf)
		die("malloc");
	while (recv_all(fd, buf, opt.chunk))
		send_all(fd, buf, opt.chunk);
}

static __u64 size_of(const char *text)
{
	char *end;
	__u64 size = strtoull(text, &end, 10);

	switch (*end) {
	case 'G':
		return size << 30;
	case 'M':
		return size << 20;
	case 'K':
		return size << 10;
	case 0:
		return size;
	default:
		refuse("that is no size");
		return 0;
	}
}

static void choose(const char *name)
{
	opt.tls = opt.tls || !strcmp(name, "ktls");
	if (!strcmp(name, "tcp") || !strcmp(name, "ktls"))
		opt.protocol = IPPROTO_TCP;
	else if (!strcmp(name, "stream"))
		opt.type = SOCK_STREAM;
	else if (!strcmp(name, "seqpacket"))
		opt.type = SOCK_SEQPACKET;
	else if (strcmp(name, "falcon"))
		refuse("no such protocol or type");
}

static const char **text_option(int c)
{
	switch (c) {
	case 'P':
		return &opt.port;
	case 'f':
		return &opt.file;
	case 'o':
		return &opt.store;
	case 'g':
		return &opt.slow;
	case 'x':
		return &opt.hook;
	case 'C':
		return &opt.congestion;
	default:
		return NULL;
	}
}

static __u64 *number_option(int c)
{
	switch (c) {
	case 'b':
		return &opt.bytes;
	case 'm':
		return &opt.chunk;
	case 'w':
		return &opt.pause_ms;
	case 'e':
		return &opt.every_us;
	case 'r':
		return &opt.rate;
	case 'S':
		return &opt.sndbuf;
	case 'R':
		return &opt.rcvbuf;
	case 'F':
		return &opt.flows;
	case 'L':
		return &opt.pings;
	default:
		return NULL;
	}
}

static void take(int c)
{
	if (text_option(c)) {
		*text_option(c) = optarg;
		return;
	}
	if (number_option(c)) {
		*number_option(c) = size_of(optarg);
		return;
	}
	switch (c) {
	case 'l':
		opt.receive = true;
		break;
	case 'p':
	case 't':
		choose(optarg);
		break;
	case '4':
		opt.family = AF_INET;
		break;
	case '6':
		opt.family = AF_INET6;
		break;
	default:
		fputs(help, c == 'h' ? stdout : stderr);
		exit(c == 'h' ? 0 : 2);
	}
}

static void parse(int argc, char **argv)
{
	static const char options[] = "lP:p:t:46f:b:o:m:x:w:e:g:r:S:R:F:C:L:h";
	int c;

	while ((c = getopt(argc, argv, options)) != -1)
		take(c);
	opt.host = argv[optind];
	if (!opt.chunk)
		refuse("-m 0 moves nothing");
}

int main(int argc, char **argv)
{
	int fd;

	parse(argc, argv);
	load_reference();
	fd = opt.host ? connect_to(opt.host) : accept_one();
	if (opt.pings)
		(opt.receive ? pong : ping)(fd);
	else
		(opt.receive ? receive_bytes : send_bytes)(fd);
	if (opt.hook && system(opt.hook))
		refuse("the command failed");
	close(fd);
	return 0;
}
