// SPDX-License-Identifier: GPL-2.0
/*
 * The PSP header with virtualization cookie around a Falcon packet.
 */
#include <net/falcon/core/core.h>
#include <net/falcon/core/wire.h>

#include "harness.h"

#define CLEAR	4
#define MIN_LEN	(24 + CLEAR + 16)

static const u8 bytes[24] = {
	252, 2,			/* next header Falcon, 3 x 8 bytes in all */
	0x03,			/* crypt offset: cookie and 4 bytes */
	0x87,			/* S 1, D 0, version 0001, V 1, 1 */
	0x9a, 0x34, 0x56, 0x78,
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
};

static const struct falcon_psp_info info = {
	.iv = 0x0102030405060708, .cookie = 0xf1f2f3f4f5f6f7f8,
	.spi = 0x9a345678, .version = FALCON_PSP_VER_GCM256,
	.sample = true, .drop = false,
};

static bool same(const struct falcon_psp_info *a,
		 const struct falcon_psp_info *b)
{
	return a->iv == b->iv && a->cookie == b->cookie && a->spi == b->spi &&
	       a->version == b->version && a->sample == b->sample &&
	       a->drop == b->drop;
}

/* spec: 7.1-1 PSP header with cookie, next header 252, crypt offset 12 bytes */
TEST(psp_bytes)
{
	struct falcon_psp_info got;
	u8 hdr[24];

	ASSERT_EQ(falcon_psp_build(&info, hdr), 24);
	EXPECT_BYTES(hdr, bytes, 24);
	ASSERT_EQ(falcon_psp_parse(bytes, MIN_LEN, &got), 0);
	EXPECT_TRUE(same(&got, &info));
}

static int parse_with(unsigned int at, u8 value)
{
	struct falcon_psp_info got;
	u8 hdr[24];

	memcpy(hdr, bytes, sizeof(hdr));
	hdr[at] = value;
	return falcon_psp_parse(hdr, MIN_LEN, &got);
}

/* spec: 7.1-1 PSP next header is 252 */
TEST(psp_next_header)
{
	unsigned int v;

	for (v = 0; v < 256; v++)
		EXPECT_EQ(parse_with(0, v),
			  v == 252 ? 0 : -FALCON_BAD_PSP_NEXTHDR);
}

/* spec: 7.1+1 PSP header length has room for exactly the cookie */
TEST(psp_header_length)
{
	unsigned int v;

	for (v = 0; v < 256; v++)
		EXPECT_EQ(parse_with(1, v),
			  v == 2 ? 0 : -FALCON_BAD_PSP_EXT_LEN);
}

/* spec: 7.1-3 crypt offset, from the IV on, leaves 4 bytes of Falcon clear */
TEST(psp_crypt_offset)
{
	unsigned int v;

	for (v = 0; v < 256; v++) {
		int want = v == 3 ? 0 : -FALCON_BAD_PSP_CRYPT_OFF;

		EXPECT_EQ(parse_with(2, v), v & 0xc0 ?
			  -FALCON_BAD_RESERVED : want);
	}
}

/* spec: 7.1+1 PSP flags: cookie present, bit 0 always 1, versions 0-3 and 15 */
TEST(psp_flags)
{
	unsigned int v;

	for (v = 0; v < 256; v++) {
		unsigned int version = v >> 2 & 0xf;
		int want = version < 4 || version == 15 ?
			   0 : -FALCON_BAD_PSP_VERSION;

		EXPECT_EQ(parse_with(3, v), (v & 3) != 3 ?
			  -FALCON_BAD_PSP_FLAGS : want);
	}
}

/* spec: 7.1+1 PSP flags S, D and version, both ways */
TEST(psp_flags_round_trip)
{
	static const u8 versions[] = { 0, 1, 2, 3, 15 };
	unsigned int i, sd;

	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		for (sd = 0; sd < 4; sd++) {
			struct falcon_psp_info psp = info, got;
			u8 hdr[24];

			psp.version = versions[i];
			psp.sample = sd & 2;
			psp.drop = sd & 1;
			ASSERT_EQ(falcon_psp_build(&psp, hdr), 24);
			EXPECT_EQ(hdr[3], sd << 6 | versions[i] << 2 | 3);
			ASSERT_EQ(falcon_psp_parse(hdr, MIN_LEN, &got), 0);
			EXPECT_TRUE(same(&got, &psp));
		}
	}
}

static void check_min_len(u8 flags, unsigned int min)
{
	unsigned int len;

	for (len = 0; len <= min + 1; len++) {
		struct falcon_psp_info got;
		u8 *buf = calloc(1, len ?: 1);

		memcpy(buf, bytes, len < 24 ? len : 24);
		if (len > 3)
			buf[3] = flags;
		EXPECT_EQ(falcon_psp_parse(buf, len, &got),
			  len < min ? -FALCON_BAD_SHORT : 0);
		free(buf);
	}
}

/* spec: 7.1+1 header, clear bytes and ICV must be there */
TEST(psp_truncated)
{
	check_min_len(0x07, MIN_LEN);
	check_min_len(0x3f, MIN_LEN - 16);
}

/* spec: 7.1+1 the ICV is 16 bytes; version 15 has none */
TEST(psp_icv_length)
{
	EXPECT_EQ(falcon_psp_icv_len(FALCON_PSP_VER_GCM128), 16);
	EXPECT_EQ(falcon_psp_icv_len(FALCON_PSP_VER_GCM256), 16);
	EXPECT_EQ(falcon_psp_icv_len(FALCON_PSP_VER_GMAC128), 16);
	EXPECT_EQ(falcon_psp_icv_len(FALCON_PSP_VER_GMAC256), 16);
	EXPECT_EQ(falcon_psp_icv_len(FALCON_PSP_VER_NONE), 0);
}

/* spec: 7.7.1-4 10.1-2 t1 and t3 are the IV in units of 131.072 ns */
TEST(iv_is_time)
{
	EXPECT_EQ(falcon_psp_time(131071), 0);
	EXPECT_EQ(falcon_psp_time(131072), 1);
	EXPECT_EQ(falcon_psp_time(131072ULL << 32), 0);
	EXPECT_EQ(falcon_psp_time(~0ULL), 0xffffffff);
}

/* spec: 7.1+1 an unknown PSP version is not built */
TEST(psp_build_of_unknown_version_warns)
{
	struct falcon_psp_info psp = info;
	u8 hdr[24];

	EXPECT_WARN(1);
	psp.version = 4;
	EXPECT_EQ(falcon_psp_build(&psp, hdr), 0);
}

/* spec: 7.1+1 PSP fields survive build and parse */
TEST(psp_random_round_trips)
{
	unsigned int n;

	for (n = 0; n < 100000; n++) {
		struct falcon_psp_info psp = {
			.iv = unit_rand(), .cookie = unit_rand(),
			.spi = unit_rand(), .version = unit_rand() & 3,
			.sample = unit_rand() & 1, .drop = unit_rand() & 1,
		}, got;
		u8 hdr[24];

		ASSERT_EQ(falcon_psp_build(&psp, hdr), 24);
		ASSERT_EQ(falcon_psp_parse(hdr, MIN_LEN, &got), 0);
		ASSERT_TRUE(same(&got, &psp));
	}
}
