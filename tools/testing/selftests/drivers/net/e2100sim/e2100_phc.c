// SPDX-License-Identifier: GPL-2.0
/*
 * e2100_phc: what a test does to a PHC, and with the stamps of a device.
 *
 *	e2100_phc /dev/ptpN pair /dev/ptpM
 *	e2100_phc /dev/ptpN get | set NS | step NS | freq PPB | wild SECONDS
 *	e2100_phc -s IFNAME PORT [SECONDS]	stamp of a datagram's arrival
 *	e2100_phc -t IFNAME ADDRESS PORT	of its departure
 *	e2100_phc -c IFNAME TX-TYPE RX-FILTER	SIOCSHWTSTAMP
 *
 * wild sets, steps and bends the clock all the time. -s switches stamps
 * on, waits for one datagram on PORT, and prints the stamp of its arrival by
 * the device, which it reads so many seconds late; -t sends one, asks for stamps
 * by software as well, and fails if it gets two. -c takes the numbers of enum hwtstamp_tx_types and
 * hwtstamp_rx_filters, and prints what SIOCGHWTSTAMP says afterwards.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>

#define NSEC_PER_SEC	1000000000LL
#define FD_TO_CLOCKID(fd) ((clockid_t)((((unsigned int)~(fd)) << 3) | 3))

static void die(const char *what)
{
	fprintf(stderr, "e2100_phc: %s: %s\n", what, strerror(errno));
	exit(1);
}

static long long phc_get(clockid_t clk)
{
	struct timespec ts;

	if (clock_gettime(clk, &ts))
		die("clock_gettime");
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static void phc_set(clockid_t clk, long long ns)
{
	struct timespec ts = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };

	if (clock_settime(clk, &ts))
		die("clock_settime");
}

static void phc_step(clockid_t clk, long long ns)
{
	struct timex tx = { .modes = ADJ_SETOFFSET | ADJ_NANO };

	tx.time.tv_sec = ns / NSEC_PER_SEC;
	tx.time.tv_usec = ns % NSEC_PER_SEC;
	if (tx.time.tv_usec < 0) {
		tx.time.tv_sec--;
		tx.time.tv_usec += NSEC_PER_SEC;
	}
	if (clock_adjtime(clk, &tx) < 0)
		die("clock_adjtime");
}

static void phc_freq(clockid_t clk, long long ppb)
{
	struct timex tx = { .modes = ADJ_FREQUENCY };

	tx.freq = ppb * 65536 / 1000;
	if (clock_adjtime(clk, &tx) < 0)
		die("clock_adjtime");
}

static void phc_wild(clockid_t clk, int seconds)
{
	time_t end = time(NULL) + seconds;
	unsigned int i;

	for (i = 1; time(NULL) < end; i++) {
		phc_set(clk, (i * 7919LL % 4000000) * NSEC_PER_SEC);
		phc_step(clk, i % 2 ? 30 * NSEC_PER_SEC : -20 * NSEC_PER_SEC);
		phc_freq(clk, i % 2 ? 90000 : -90000);
		usleep(10000);
	}
	printf("%u\n", i);
}

/* Two clocks at the same time, to a tenth of a millisecond. */
static void phc_pair(clockid_t clk, const char *other)
{
	int fd = open(other, O_RDWR);
	long long a, b, c;

	if (fd < 0)
		die(other);
	do {
		a = phc_get(clk);
		b = phc_get(FD_TO_CLOCKID(fd));
		c = phc_get(clk);
	} while (c - a > 100000);
	printf("%lld %lld\n", a, b);
}

static int do_phc(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR);
	clockid_t clk = FD_TO_CLOCKID(fd);
	long long arg = argc > 3 ? atoll(argv[3]) : 0;

	if (fd < 0)
		die(argv[1]);
	if (!strcmp(argv[2], "pair"))
		phc_pair(clk, argv[3]);
	else if (!strcmp(argv[2], "get"))
		printf("%lld\n", phc_get(clk));
	else if (!strcmp(argv[2], "set"))
		phc_set(clk, arg);
	else if (!strcmp(argv[2], "step"))
		phc_step(clk, arg);
	else if (!strcmp(argv[2], "freq"))
		phc_freq(clk, arg);
	else if (!strcmp(argv[2], "wild"))
		phc_wild(clk, arg);
	else
		return 2;
	return 0;
}

/* SIOCSHWTSTAMP or SIOCGHWTSTAMP */
static void hwtstamp(int fd, unsigned long request, const char *ifname,
		     struct hwtstamp_config *cfg)
{
	struct ifreq ifr = { .ifr_data = (void *)cfg };

	strncpy(ifr.ifr_name, ifname, sizeof(ifr.ifr_name) - 1);
	if (ioctl(fd, request, &ifr))
		die(request == SIOCSHWTSTAMP ? "SIOCSHWTSTAMP" :
					       "SIOCGHWTSTAMP");
}

static int do_config(const char *ifname, int tx_type, int rx_filter)
{
	struct hwtstamp_config cfg = {
		.tx_type = tx_type,
		.rx_filter = rx_filter,
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	hwtstamp(fd, SIOCSHWTSTAMP, ifname, &cfg);
	memset(&cfg, 0xff, sizeof(cfg));
	hwtstamp(fd, SIOCGHWTSTAMP, ifname, &cfg);
	printf("%d %d\n", cfg.tx_type, cfg.rx_filter);
	return 0;
}

static int stamping_socket(const char *ifname, int flags)
{
	struct hwtstamp_config cfg = {
		.tx_type = HWTSTAMP_TX_ON,
		.rx_filter = HWTSTAMP_FILTER_ALL,
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	hwtstamp(fd, SIOCSHWTSTAMP, ifname, &cfg);
	flags |= SOF_TIMESTAMPING_RAW_HARDWARE;
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)))
		die("SO_TIMESTAMPING");
	return fd;
}

/* The hardware's stamp of a message received; 0: there is none. */
static long long stamp_of(int fd, int flags)
{
	char data[256], control[512];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;

	if (recvmsg(fd, &msg, flags) < 0)
		die("recvmsg");
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		struct scm_timestamping *ts = (void *)CMSG_DATA(c);

		if (c->cmsg_level == SOL_SOCKET &&
		    c->cmsg_type == SO_TIMESTAMPING)
			return ts->ts[2].tv_sec * NSEC_PER_SEC +
			       ts->ts[2].tv_nsec;
	}
	return 0;
}

static int readable(int fd, int ms)
{
	struct pollfd pfd = { fd, POLLIN, 0 };

	return poll(&pfd, 1, ms) > 0;
}

static int do_receive(const char *ifname, int port, int late_s)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	int fd = stamping_socket(ifname, SOF_TIMESTAMPING_RX_HARDWARE);

	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)))
		die("bind");
	if (!readable(fd, 60000))
		die("no message");
	sleep(late_s);
	printf("%lld\n", stamp_of(fd, 0));
	return 0;
}

static int do_transmit(const char *ifname, const char *to, int port)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	int fd = stamping_socket(ifname, SOF_TIMESTAMPING_TX_HARDWARE |
				 SOF_TIMESTAMPING_TX_SOFTWARE |
				 SOF_TIMESTAMPING_SOFTWARE);

	if (inet_pton(AF_INET, to, &sin.sin_addr) != 1)
		die(to);
	if (sendto(fd, "x", 1, 0, (struct sockaddr *)&sin, sizeof(sin)) != 1)
		die("sendto");
	if (!readable(fd, 60000))
		die("no stamp");
	printf("%lld\n", stamp_of(fd, MSG_ERRQUEUE));
	if (readable(fd, 1000)) {
		fprintf(stderr, "e2100_phc: two stamps of one datagram\n");
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "-s"))
		return do_receive(argv[2], atoi(argv[3]),
				  argc == 5 ? atoi(argv[4]) : 0);
	if (argc == 5 && !strcmp(argv[1], "-t"))
		return do_transmit(argv[2], argv[3], atoi(argv[4]));
	if (argc == 5 && !strcmp(argv[1], "-c"))
		return do_config(argv[2], atoi(argv[3]), atoi(argv[4]));
	if (argc >= 3)
		return do_phc(argc, argv);
	fprintf(stderr, "usage: see the source\n");
	return 2;
}
