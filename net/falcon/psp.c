// SPDX-License-Identifier: GPL-2.0
/*
 * PSP security associations as a connection uses them: what a new one looks
 * like, the IVs that packets take as they depart, and the place where a packet
 * is sealed and opened.
 *
 * The IV is the transmit time in picoseconds and is never used twice (DESIGN:
 * strictly increasing for an SA), which AES-GCM depends on. Version 15 has no
 * ICV: sealing is then writing the IV. A version that encrypts does it in the
 * same two functions, on the same packets, at the same moment. NICs call
 * falcon_nic_iv() and falcon_psp_seal() at departure, conn.c calls
 * falcon_psp_open() after the acceptance checks.
 */
#include <linux/export.h>
#include <linux/random.h>
#include <linux/udp.h>
#include "core/wire.h"
#include "falcon.h"

/**
 * falcon_psp_sa_init - a new receiving association
 * @sa:		written whole
 * @version:	FALCON_PSP_VER_*
 *
 * SPI and PCID are random: in every mode they are what a stranger has to guess
 * before a packet of his moves any state. An SPI is never 0 (9.2.2.3), its top
 * bit names the device key, of which there is one: 0.
 *
 * Context: any.
 */
void falcon_psp_sa_init(struct falcon_psp_sa *sa, u8 version)
{
	memset(sa, 0, sizeof(*sa));
	do {
		sa->spi = get_random_u32() & ~BIT(31);
	} while (!sa->spi);
	sa->prev_spi = sa->spi;
	sa->version = version;
	sa->pcid = get_random_u64();
}

/**
 * falcon_psp_reserve - take IVs for packets that depart now
 * @last:	newest IV of the association
 * @now_ps:	the time of its connection, picoseconds
 * @nr:		IVs wanted, at least 1
 *
 * Two callers that read the same time get different IVs: the later one gets
 * numbers a few picoseconds in the future. Comparison is modulo 2^64.
 *
 * Context: any.
 * Return: the first of @nr consecutive IVs.
 */
u64 falcon_psp_reserve(atomic64_t *last, u64 now_ps, unsigned int nr)
{
	s64 old = atomic64_read(last);
	u64 iv;

	do {
		iv = (u64)old + 1;
		if ((s64)(now_ps - iv) > 0)
			iv = now_ps;
	} while (!atomic64_try_cmpxchg(last, &old, iv + nr - 1));
	return iv;
}

/**
 * falcon_psp_seal - finish the PSP packets of a train as they depart
 * @skb:	as given to the xmit op of a NIC
 * @iv:		first of falcon_nic_cb::nr_pkts IVs from falcon_nic_iv()
 *
 * Context: any; @skb is not shared.
 * Return: 0, or -EFAULT if @skb is not what its control block says.
 */
int falcon_psp_seal(struct sk_buff *skb, u64 iv)
{
	const struct falcon_nic_cb *cb = falcon_nic_cb(skb);
	unsigned int off = skb_transport_offset(skb) + sizeof(struct udphdr) +
			   offsetof(struct falcon_psp_hdr, iv);
	unsigned int i;
	int err;

	for (i = 0; i < cb->nr_pkts; i++, off += cb->stride) {
		__be64 v = cpu_to_be64(iv + i);

		err = skb_store_bits(skb, off, &v, sizeof(v));
		if (err)
			return err;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(falcon_psp_seal);

/**
 * falcon_psp_open - authenticate and decrypt a received packet
 * @conn:	its connection; @conn->rx_sa.version is the packet's
 * @skb:	from the PSP header on
 * @psp:	that header, parsed
 *
 * Context: softirq, without the connection lock.
 * Return: 0, or a negative errno: the packet is to be dropped (9.2.2.1).
 */
int falcon_psp_open(struct falcon_conn *conn, struct sk_buff *skb,
		    const struct falcon_psp_info *psp)
{
	return psp->version == FALCON_PSP_VER_NONE ? 0 : -EOPNOTSUPP;
}
