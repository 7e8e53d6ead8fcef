// SPDX-License-Identifier: GPL-2.0
/*
 * falcon key: which keys the connections of this namespace use, and new ones.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <linux/falcon.h>
#include "cli.h"

#define RETRY_MS	50

const char *cipher_name(u32 psp_version)
{
	static const char * const names[] = {
		"aes-gcm-128", "aes-gcm-256", "aes-gmac-128", "aes-gmac-256",
	};

	if (psp_version < ARRAY_SIZE(names))
		return names[psp_version];
	return "none";
}

/* What a connection was set up with: FALCON_SECURITY_* */
const char *policy_name(u32 security)
{
	static const char * const names[] = {
		[FALCON_SECURITY_NONE]		= "none",
		[FALCON_SECURITY_OPPORTUNISTIC]	= "opportunistic",
		[FALCON_SECURITY_PSK]		= "psk",
	};

	if (security < ARRAY_SIZE(names) && names[security])
		return names[security];
	return "?";
}

static void text_key(const struct nlattr * const *a)
{
	printf("cid %#x %s rx spi %#010x gen %u", nl_u32(a[FALCON_A_CONN_CID]),
	       cipher_name(nl_u32(a[FALCON_A_CONN_PSP_VERSION])),
	       nl_u32(a[FALCON_A_CONN_RX_SPI]),
	       nl_u32(a[FALCON_A_CONN_RX_GEN]));
	if (a[FALCON_A_CONN_RX_PREV_SPI])
		printf(" previous %#010x",
		       nl_u32(a[FALCON_A_CONN_RX_PREV_SPI]));
	printf(" tx spi %#010x\n", nl_u32(a[FALCON_A_CONN_TX_SPI]));
}

static int key_one(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *a[FALCON_A_CONN_MAX + 1];

	(void)data;
	nl_parse(nlh, a, FALCON_A_CONN_MAX);
	if (!a[FALCON_A_CONN_RX_SPI])
		return MNL_CB_OK;
	if (!opt.json) {
		text_key(a);
		return MNL_CB_OK;
	}
	json_open(NULL, '{');
	json_u64("cid", nl_u32(a[FALCON_A_CONN_CID]));
	json_str("cipher", cipher_name(nl_u32(a[FALCON_A_CONN_PSP_VERSION])));
	json_u64("rx_spi", nl_u32(a[FALCON_A_CONN_RX_SPI]));
	json_u64("rx_gen", nl_u32(a[FALCON_A_CONN_RX_GEN]));
	if (a[FALCON_A_CONN_RX_PREV_SPI])
		json_u64("rx_prev_spi", nl_u32(a[FALCON_A_CONN_RX_PREV_SPI]));
	json_u64("tx_spi", nl_u32(a[FALCON_A_CONN_TX_SPI]));
	json_close();
	return MNL_CB_OK;
}

static int key_list(void)
{
	struct nl_request req;
	int err;

	nl_begin(&req, FALCON_CMD_CONN_GET, true);
	if (opt.json)
		json_open(NULL, '[');
	err = nl_talk(&req, key_one, NULL);
	if (opt.json)
		json_close();
	return err ? EXIT_KERNEL : 0;
}

/* While peers are moving to the keys before, there are no new ones. */
static int key_rotate(u32 wait_s)
{
	const struct timespec pause = { .tv_nsec = RETRY_MS * 1000000 };
	u32 tries = wait_s * (1000 / RETRY_MS);
	struct nl_request req;
	int err;

	for (;; tries--) {
		nl_begin(&req, FALCON_CMD_KEY_ROTATE, false);
		req.expected = tries ? EBUSY : 0;
		err = nl_talk(&req, NULL, NULL);
		if (err != -EBUSY || !tries)
			return err ? EXIT_KERNEL : 0;
		nanosleep(&pause, NULL);
	}
}

int do_key(int argc, char **argv)
{
	u32 wait_s = 0;

	if (!argc || (argc == 1 && matches(argv[0], "list")))
		return key_list();
	if (!matches(argv[0], "rotate") || argc == 2 || argc > 3)
		usage_error("key { [ list ] | rotate [ wait SECONDS ] }");
	if (argc == 3) {
		if (!matches(argv[1], "wait"))
			usage_error("key rotate: \"%s\" is not understood",
				    argv[1]);
		wait_s = parse_u32("wait", argv[2], 3600);
	}
	return key_rotate(wait_s);
}
