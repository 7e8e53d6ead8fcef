// SPDX-License-Identifier: GPL-2.0
/*
 * falcon nic: the devices that stamp and pace for this namespace, and what
 * each of them does itself.
 */
#include <stdio.h>
#include <string.h>
#include "cli.h"

static const char * const offload_names[] = {
	"stamp", "conn", "xmit", "level", "key", "arrival",
};

static void offloads(u32 mask)
{
	unsigned int i;

	if (opt.json)
		json_open("offloads", '[');
	for (i = 0; i < ARRAY_SIZE(offload_names); i++) {
		if (!(mask & (1U << i)))
			continue;
		if (opt.json)
			json_str(NULL, offload_names[i]);
		else
			printf(" %s", offload_names[i]);
	}
	if (opt.json)
		json_close();
}

static int nic_one(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *a[FALCON_A_NIC_MAX + 1];
	const char *dev = data, *ifname;

	nl_parse(nlh, a, FALCON_A_NIC_MAX);
	ifname = nl_str(a[FALCON_A_NIC_IFNAME]);
	if (dev && strcmp(dev, ifname))
		return MNL_CB_OK;
	if (!opt.json) {
		printf("%s dev %s", nl_str(a[FALCON_A_NIC_NAME]),
		       *ifname ? ifname : "*");
		if (a[FALCON_A_NIC_USERS])
			printf(" users %u", nl_u32(a[FALCON_A_NIC_USERS]));
		printf(" counter_ps %llu rx_level %u/31 offloads",
		       nl_u64(a[FALCON_A_NIC_COUNTER_PS]),
		       nl_u32(a[FALCON_A_NIC_RX_LEVEL]));
		offloads(nl_u32(a[FALCON_A_NIC_OFFLOADS]));
		putchar('\n');
		return MNL_CB_OK;
	}
	json_open(NULL, '{');
	json_str("name", nl_str(a[FALCON_A_NIC_NAME]));
	if (*ifname) {
		json_u64("ifindex", nl_u32(a[FALCON_A_NIC_IFINDEX]));
		json_str("ifname", ifname);
	}
	if (a[FALCON_A_NIC_USERS])
		json_u64("users", nl_u32(a[FALCON_A_NIC_USERS]));
	json_u64("counter_ps", nl_u64(a[FALCON_A_NIC_COUNTER_PS]));
	json_u64("rx_level", nl_u32(a[FALCON_A_NIC_RX_LEVEL]));
	offloads(nl_u32(a[FALCON_A_NIC_OFFLOADS]));
	json_close();
	return MNL_CB_OK;
}

int do_nic(int argc, char **argv)
{
	struct nl_request req;
	char *dev = NULL;
	int err;

	if (argc && matches(argv[0], "show"))
		argc--, argv++;
	if (argc) {
		if (argc != 2 || strcmp(argv[0], "dev"))
			usage_error("nic show [ dev DEV ]");
		dev = argv[1];
	}
	nl_begin(&req, FALCON_CMD_NIC_GET, true);
	if (opt.json)
		json_open(NULL, '[');
	err = nl_talk(&req, nic_one, dev);
	if (opt.json)
		json_close();
	return err ? EXIT_KERNEL : 0;
}
