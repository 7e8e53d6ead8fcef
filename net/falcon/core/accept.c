// SPDX-License-Identifier: GPL-2.0
/*
 * Packet acceptance checks (9.2.2): SPI and PCID, replay protection, sliding
 * window. Functions of what the packet says and what the connection knows. The
 * receive path (conn/rx.c) calls the first two before it believes a packet, and
 * falcon_accept_commit() when PSP has verified it; pdl_rx.c calls the third.
 */
#include "accept.h"
#include "window.h"

#define SPI_MSB		0x80000000u	/* names the device key */

/**
 * falcon_accept_spi() - SPI and PCID check (9.2.2.3)
 * @conn:	SPIs of the connection
 * @global:	generations of the device keys
 * @spi:	of the packet
 * @cookie:	virtualization cookie of the packet
 *
 * The most significant bit of an SPI names one of two device keys, so a
 * previous SPI with the same bit is of the current generation, and one with
 * the other bit of the generation before.
 *
 * Return: true if the packet passes. Otherwise no ACK or NACK may answer it.
 */
bool falcon_accept_spi(const struct falcon_spi_state *conn,
		       const struct falcon_spi_global *global,
		       u32 spi, u64 cookie)
{
	bool gen_ok;

	if (!conn->cur_spi)
		return false;
	if (global->pcid_match && cookie != conn->pcid)
		return false;

	gen_ok = conn->cur_gen == global->cur_gen ||
		 (global->allow_prev_gen &&
		  conn->cur_gen == global->cur_gen - 1);
	if (spi == conn->cur_spi && gen_ok)
		return true;
	if (!conn->prev_spi || spi != conn->prev_spi)
		return false;

	if ((conn->cur_spi ^ conn->prev_spi) & SPI_MSB)
		return global->allow_prev_gen &&
		       conn->cur_gen == global->cur_gen;
	return gen_ok;
}

/**
 * falcon_accept_time() - replay protection (9.2.2.2)
 * @remote_time: estimate of the transmitter's time, picoseconds
 * @margin_ps:	Replay Protection Margin, picoseconds
 * @iv:		PSP IV of the packet, picoseconds
 *
 * Nothing moves: the packet has yet to be authenticated.
 *
 * Return: true if the packet is newer than @remote_time - @margin_ps in modulo
 * arithmetic. Otherwise no ACK or NACK may answer it.
 */
bool falcon_accept_time(u64 remote_time, u64 margin_ps, u64 iv)
{
	return (s64)(iv - (remote_time - margin_ps)) > 0;
}

/**
 * falcon_accept_commit() - an authentic packet moves Remote Time (9.2.1)
 * @remote_time: estimate of the transmitter's time, picoseconds
 * @iv:		PSP IV of a packet that passed all checks, its ICV among them
 *
 * Forward only, in modulo arithmetic. Anybody can write an IV far ahead: were
 * it believed before the ICV is verified, one forged packet would make all
 * that the peer sends look like replays.
 */
void falcon_accept_commit(u64 *remote_time, u64 iv)
{
	if ((s64)(iv - *remote_time) > 0)
		*remote_time = iv;
}

/**
 * falcon_accept_psn() - sliding window check (9.2.2.4)
 * @w:		receiver window that the packet's type belongs to
 * @psn:	of the packet
 *
 * Return: what the packet is to the window.
 */
enum falcon_accept falcon_accept_psn(const struct falcon_rxwin *w, u32 psn)
{
	if (falcon_before(psn, w->base))
		return FALCON_ACCEPT_OLD;
	if (psn - w->base >= w->size)
		return FALCON_ACCEPT_BEYOND;
	if (!falcon_before(psn, w->top))
		return FALCON_ACCEPT_NEW;
	if (falcon_ring_test(w->ack, FALCON_RX_WIN_MAX, psn))
		return FALCON_ACCEPT_ACKED;
	if (falcon_ring_test(w->rx, FALCON_RX_WIN_MAX, psn))
		return FALCON_ACCEPT_RECEIVED;
	return FALCON_ACCEPT_NEW;
}
