// SPDX-License-Identifier: GPL-2.0
/*
 * What leaves an interface, by a packet socket. falcon_attack and falcon_fuzz
 * look at a connection before they forge packets of it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "capture.h"

int capture_open(const char *iface)
{
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(iface),
	};
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));

	if (fd >= 0 && !bind(fd, (struct sockaddr *)&ll, sizeof(ll)))
		return fd;
	fprintf(stderr, "%s: packet socket on %s: %s\n",
		program_invocation_short_name, iface, strerror(errno));
	exit(1);
}

ssize_t capture_next(int fd, void *buf, size_t size, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct sockaddr_ll ll;
	socklen_t len;
	ssize_t n;

	while (poll(&pfd, 1, ms) > 0) {
		len = sizeof(ll);
		n = recvfrom(fd, buf, size, 0, (struct sockaddr *)&ll, &len);
		if (n > 0 && ll.sll_pkttype == PACKET_OUTGOING)
			return n;
	}
	return 0;
}
