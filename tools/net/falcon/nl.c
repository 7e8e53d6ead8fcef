// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to the generic netlink family "falcon", and what the kernel says
 * when it refuses: the text of its extended ACK beside the errno.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include "cli.h"

static struct {
	struct mnl_socket *sock;
	u16 family;
	u32 group;
	u32 seq;
	int expected;
} nl;

static void nl_die(const char *what)
{
	fprintf(stderr, "falcon: %s: %s\n", what, strerror(errno));
	exit(EXIT_KERNEL);
}

/* "Error: TEXT." as other netlink tools print it, else the errno's name. */
static void nl_complain(int err, const struct nlattr *attrs, size_t len)
{
	const struct nlattr *attr;
	const char *msg = NULL;

	if (err == nl.expected)
		return;
	mnl_attr_for_each_payload((void *)attrs, len)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			msg = mnl_attr_get_str(attr);
	fprintf(stderr, "falcon: %s%s%s\n", msg ?: "", msg ? ": " : "",
		strerror(err));
}

static int nl_on_error(const struct nlmsghdr *nlh, void *data)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	size_t off = sizeof(*e), len = mnl_nlmsg_get_payload_len(nlh);

	(void)data;
	if (!e->error)
		return MNL_CB_STOP;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		off += MNL_ALIGN(e->msg.nlmsg_len) - sizeof(e->msg);
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || off > len)
		off = len;
	nl_complain(-e->error, (void *)((char *)e + off), len - off);
	errno = -e->error;
	return MNL_CB_ERROR;
}

/* The end of a dump carries an errno and extended ACK of its own. */
static int nl_on_done(const struct nlmsghdr *nlh, void *data)
{
	const int *err = mnl_nlmsg_get_payload(nlh);
	size_t len = mnl_nlmsg_get_payload_len(nlh);

	(void)data;
	if (len < sizeof(*err) || *err >= 0)
		return MNL_CB_STOP;
	len -= sizeof(*err);
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		len = 0;
	nl_complain(-*err, (void *)(err + 1), len);
	errno = -*err;
	return MNL_CB_ERROR;
}

static mnl_cb_t nl_control[] = {
	[NLMSG_ERROR]	= nl_on_error,
	[NLMSG_DONE]	= nl_on_done,
};

static void nl_find_group(const struct nlattr *groups)
{
	const struct nlattr *group, *attr;

	mnl_attr_for_each_nested(group, groups) {
		const char *name = NULL;
		u32 id = 0;

		mnl_attr_for_each_nested(attr, group) {
			if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
				name = mnl_attr_get_str(attr);
			if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID)
				id = mnl_attr_get_u32(attr);
		}
		if (name && !strcmp(name, FALCON_GENL_MCGRP_CONN))
			nl.group = id;
	}
}

static int nl_on_family(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;

	(void)data;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			nl.family = mnl_attr_get_u16(attr);
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GROUPS)
			nl_find_group(attr);
	}
	return MNL_CB_OK;
}

static void nl_start(struct nl_request *req, u16 family, u8 cmd,
		     u8 version, u16 flags)
{
	struct genlmsghdr *genl;

	req->expected = 0;
	req->nlh = mnl_nlmsg_put_header(req->buf);
	req->nlh->nlmsg_type = family;
	req->nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	req->nlh->nlmsg_seq = ++nl.seq;
	genl = mnl_nlmsg_put_extra_header(req->nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
}

static int nl_receive(u32 seq, mnl_cb_t cb, void *data)
{
	static char buf[65536];
	ssize_t len;
	int ret;

	do {
		len = mnl_socket_recvfrom(nl.sock, buf, sizeof(buf));
		if (len < 0)
			nl_die("cannot receive the answer");
		ret = mnl_cb_run2(buf, len, seq,
				  mnl_socket_get_portid(nl.sock), cb, data,
				  nl_control, ARRAY_SIZE(nl_control));
	} while (ret > MNL_CB_STOP);
	return ret == MNL_CB_STOP ? 0 : -errno;
}

int nl_talk(struct nl_request *req, mnl_cb_t cb, void *data)
{
	nl.expected = req->expected;
	if (mnl_socket_sendto(nl.sock, req->nlh, req->nlh->nlmsg_len) < 0)
		nl_die("cannot send the request");
	return nl_receive(req->nlh->nlmsg_seq, cb, data);
}

void nl_open(void)
{
	struct nl_request req;
	int one = 1;

	nl.sock = mnl_socket_open(NETLINK_GENERIC);
	if (!nl.sock || mnl_socket_bind(nl.sock, 0, MNL_SOCKET_AUTOPID) < 0)
		nl_die("cannot open netlink");
	mnl_socket_setsockopt(nl.sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl.sock, NETLINK_CAP_ACK, &one, sizeof(one));

	nl_start(&req, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, NLM_F_ACK);
	mnl_attr_put_strz(req.nlh, CTRL_ATTR_FAMILY_NAME, FALCON_GENL_NAME);
	if (mnl_socket_sendto(nl.sock, req.nlh, req.nlh->nlmsg_len) < 0)
		nl_die("cannot send the request");
	if (nl_receive(req.nlh->nlmsg_seq, nl_on_family, NULL) || !nl.family) {
		fputs("falcon: is the falcon module loaded?\n", stderr);
		exit(EXIT_KERNEL);
	}
}

void nl_close(void)
{
	mnl_socket_close(nl.sock);
}

void nl_begin(struct nl_request *req, u8 cmd, bool dump)
{
	nl_start(req, nl.family, cmd, FALCON_GENL_VERSION,
		 dump ? NLM_F_DUMP : NLM_F_ACK);
}

int nl_listen(mnl_cb_t cb, void *data)
{
	static char buf[65536];
	ssize_t len;

	if (mnl_socket_setsockopt(nl.sock, NETLINK_ADD_MEMBERSHIP, &nl.group,
				  sizeof(nl.group)) < 0)
		nl_die("cannot listen to connection events");
	for (;;) {
		len = mnl_socket_recvfrom(nl.sock, buf, sizeof(buf));
		if (len < 0 && errno == ENOBUFS) {
			fputs("falcon: events were lost\n", stderr);
			continue;
		}
		if (len < 0)
			return -errno;
		if (mnl_cb_run(buf, len, 0, 0, cb, data) < MNL_CB_OK)
			return 0;
	}
}

void nl_parse(const struct nlmsghdr *nlh, const struct nlattr **attrs,
	      unsigned int max)
{
	const struct nlattr *attr;

	memset(attrs, 0, (max + 1) * sizeof(*attrs));
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) <= max)
			attrs[mnl_attr_get_type(attr)] = attr;
}

void nl_parse_nested(const struct nlattr *nest, const struct nlattr **attrs,
		     unsigned int max)
{
	const struct nlattr *attr;

	memset(attrs, 0, (max + 1) * sizeof(*attrs));
	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) <= max)
			attrs[mnl_attr_get_type(attr)] = attr;
}

/* An attribute that an older kernel lacks reads as 0 or as nothing. */
u32 nl_u32(const struct nlattr *attr)
{
	if (!attr)
		return 0;
	switch (mnl_attr_get_payload_len(attr)) {
	case 1:
		return mnl_attr_get_u8(attr);
	case 2:
		return mnl_attr_get_u16(attr);
	case 4:
		return mnl_attr_get_u32(attr);
	}
	return 0;
}

unsigned long long nl_u64(const struct nlattr *attr)
{
	if (!attr || mnl_attr_get_payload_len(attr) != sizeof(uint64_t))
		return 0;
	return mnl_attr_get_u64(attr);
}

const char *nl_str(const struct nlattr *attr)
{
	return attr ? mnl_attr_get_str(attr) : "";
}
