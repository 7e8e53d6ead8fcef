// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of a socket. Segments to send wait in sk_write_queue, charged to
 * the socket, until their push transaction completes; those received wait in
 * sk_receive_queue. Acknowledging a transaction is flow control: as long as the
 * receive buffer is full a segment stays unacknowledged, and none is dropped.
 *
 * Everything here runs under the socket lock and calls the connection as
 * sock/sock.h allows.
 */
#include <linux/skbuff.h>
#include <net/dst.h>
#include "core/cm_wire.h"
#include "sock/sock.h"

/* Segments in flight from which on less than a train may wait. */
#define FALCON_TX_BUSY	4u

/* Transmit */

static struct sk_buff *falcon_tx_new(gfp_t gfp)
{
	struct sk_buff *skb;

	skb = alloc_skb(sizeof(struct falcon_seg_txn) + FALCON_SOCK_HDR_LEN,
			gfp);
	if (!skb)
		return NULL;
	skb_reserve(skb, sizeof(struct falcon_seg_txn));
	__skb_put_zero(skb, FALCON_SOCK_HDR_LEN);
	skb->ip_summed = CHECKSUM_PARTIAL;	/* no sum while copying */
	*falcon_seg(skb) = (struct falcon_seg) { .flags = FALCON_SOCK_DATA };
	return skb;
}

/* What a new segment may hold: the path may have shrunk, or grown again. */
void falcon_tx_mss(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);

	if (fs->ep)
		fs->mss = max_t(u16, falcon_mtu(fs->ep->conn),
				FALCON_CM_MTU_MIN) - FALCON_SOCK_HDR_LEN;
}

/* An empty segment of data, charged; NULL: wait for memory. */
struct sk_buff *falcon_tx_alloc(struct sock *sk, gfp_t gfp)
{
	struct sk_buff *skb = falcon_tx_new(gfp);

	if (!skb)
		return NULL;
	if (!sk_wmem_schedule(sk, skb->truesize)) {
		kfree_skb(skb);
		return NULL;
	}
	sk_wmem_queued_add(sk, skb->truesize);
	sk_mem_charge(sk, skb->truesize);
	falcon_seg(skb)->charged = true;
	return skb;
}

/* A FIN, RESET or keepalive: not charged, it must not wait for memory. */
struct sk_buff *falcon_tx_control(u8 flags, u16 code, gfp_t gfp)
{
	struct sk_buff *skb = falcon_tx_new(gfp);

	if (!skb)
		return NULL;
	falcon_seg(skb)->flags = flags;
	((struct falcon_sock_hdr *)skb->data)->code = cpu_to_be16(code);
	return skb;
}

static void falcon_tx_uncharge(struct sock *sk, struct sk_buff *skb)
{
	if (!falcon_seg(skb)->charged)
		return;
	falcon_seg(skb)->charged = false;
	sk_wmem_queued_add(sk, -(int)skb->truesize);
	sk_mem_uncharge(sk, skb->truesize);
}

void falcon_tx_free(struct sock *sk, struct sk_buff *skb)
{
	falcon_tx_uncharge(sk, skb);
	__kfree_skb(skb);
}

static ssize_t falcon_tx_copy(struct sock *sk, struct sk_buff *skb,
			      struct msghdr *msg, size_t max)
{
	struct page_frag *pfrag = sk_page_frag(sk);
	int i = skb_shinfo(skb)->nr_frags;
	bool merge;
	int err;

	if (!sk_page_frag_refill(sk, pfrag))
		return -ENOMEM;
	merge = skb_can_coalesce(skb, i, pfrag->page, pfrag->offset);
	if (!merge && i >= MAX_SKB_FRAGS)
		return 0;
	max = min_t(size_t, max, pfrag->size - pfrag->offset);
	if (!sk_wmem_schedule(sk, max))
		return -ENOMEM;

	err = skb_copy_to_page_nocache(sk, &msg->msg_iter, skb, pfrag->page,
				       pfrag->offset, max);
	if (err)
		return err;
	if (merge) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], max);
	} else {
		skb_fill_page_desc(skb, i, pfrag->page, pfrag->offset, max);
		get_page(pfrag->page);
	}
	pfrag->offset += max;
	return max;
}

/* The pages themselves become the payload: sendfile(), splice(). */
static ssize_t falcon_tx_splice(struct sock *sk, struct sk_buff *skb,
				struct msghdr *msg, size_t max)
{
	ssize_t n;

	if (!sk_wmem_schedule(sk, max))
		return -ENOMEM;
	n = falcon_splice_from_iter(skb, &msg->msg_iter, max,
				    sk->sk_allocation);
	if (n == -EMSGSIZE)
		return 0;
	if (n <= 0)
		return n;
	/* They stay somebody else's: nobody may write to them in place. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	sk_wmem_queued_add(sk, n);
	sk_mem_charge(sk, n);
	return n;
}

/**
 * falcon_tx_fill - move bytes of a message into a segment
 * @sk:		socket, locked
 * @skb:	segment from falcon_tx_alloc(), not pushed
 * @msg:	where from
 * @max:	bytes at most, more than 0
 *
 * Context: process, may sleep in a page fault.
 * Return: bytes moved; 0 if the segment takes no more fragments; -ENOMEM to
 * wait for memory; -EFAULT.
 */
ssize_t falcon_tx_fill(struct sock *sk, struct sk_buff *skb,
		       struct msghdr *msg, size_t max)
{
	if (msg->msg_flags & FALCON_SPLICE_PAGES)
		return falcon_tx_splice(sk, skb, msg, max);
	return falcon_tx_copy(sk, skb, msg, max);
}

void falcon_tx_queue(struct sock *sk, struct sk_buff *skb)
{
	struct falcon_sock *fs = falcon_sk(sk);
	u32 bytes = falcon_seg_bytes(skb);

	__skb_queue_tail(&sk->sk_write_queue, skb);
	if (!fs->send_head)
		fs->send_head = skb;
	WRITE_ONCE(fs->tx_bytes, fs->tx_bytes + bytes);
	fs->tx_unsent += bytes;
}

/*
 * The last segment of a stream is kept back while it can grow: MSG_MORE asks
 * for it, or the connection has packets that it may not transmit yet, so that
 * one more would gain nothing. The next completion, write or time-out looks
 * again.
 */
static bool falcon_tx_hold(struct sock *sk, struct sk_buff *skb, bool cork)
{
	struct falcon_sock *fs = falcon_sk(sk);
	u32 bytes = falcon_seg_bytes(skb);

	if (sk->sk_type != SOCK_STREAM ||
	    falcon_seg(skb)->flags != FALCON_SOCK_DATA ||
	    !falcon_seg(skb)->charged ||
	    !skb_queue_is_last(&sk->sk_write_queue, skb))
		return false;
	if (!bytes)
		return true;
	if (bytes >= fs->mss)
		return false;
	if (cork)
		return true;
	return !test_bit(FALCON_SK_NODELAY, &fs->flags) &&
	       !list_empty(&fs->ep->conn->core.sched[0]);
}

/*
 * Packets leave in trains, and what is less than one costs as much. While a
 * train of a stream is unacknowledged, what fills no further one waits for the
 * next write, or for the acknowledgement that is on its way: Nagle's rule, with
 * trains for segments. Less than a train in flight holds nothing back.
 *
 * Return: the bytes that wait.
 */
static u32 falcon_tx_keep(struct sock *sk)
{
	struct sk_buff *tail = skb_peek_tail(&sk->sk_write_queue);
	struct falcon_sock *fs = falcon_sk(sk);
	u32 burst = fs->ep->conn->core.cfg.flow_burst;

	if (sk->sk_type != SOCK_STREAM || !burst ||
	    test_bit(FALCON_SK_NODELAY, &fs->flags) ||
	    fs->ep->inflight < max(burst, FALCON_TX_BUSY))
		return 0;
	if (!tail || falcon_seg(tail)->flags != FALCON_SOCK_DATA ||
	    !falcon_seg(tail)->charged)
		return 0;
	return fs->tx_unsent % (burst * fs->mss);
}

static int falcon_tx_push_one(struct sock *sk, struct sk_buff *skb)
{
	struct falcon_seg_txn *st = falcon_seg_txn(skb);
	struct falcon_sock *fs = falcon_sk(sk);
	struct falcon_ep *ep = fs->ep;
	int err;

	memset(st, 0, sizeof(*st));
	st->skb = skb;
	((struct falcon_sock_hdr *)skb->data)->flags = falcon_seg(skb)->flags;
	err = falcon_push_more(ep->conn, &st->txn, skb);
	if (err)
		return err;
	ep->inflight++;
	falcon_seg(skb)->pushed = true;
	fs->tx_unsent -= falcon_seg_bytes(skb);
	fs->send_head = skb_queue_is_last(&sk->sk_write_queue, skb) ?
			NULL : skb_queue_next(&sk->sk_write_queue, skb);
	return 0;
}

/* SO_MAX_PACING_RATE: the socket layer keeps it, and tells nobody. */
static void falcon_tx_pace(struct sock *sk)
{
	unsigned long rate = READ_ONCE(sk->sk_max_pacing_rate);
	struct falcon_ep *ep = falcon_sk(sk)->ep;

	if (rate == ~0UL)
		rate = 0;
	if (rate == ep->rate)
		return;
	ep->rate = rate;
	falcon_set_rate(ep->conn, rate);
}

/**
 * falcon_tx_push - hand what waits to the connection
 * @sk:		socket, locked
 * @cork:	more is coming: keep a short last segment back for a while
 *
 * A refusal for lack of resources ends in FALCON_EV_TX_SPACE, one by a dead
 * connection in FALCON_EV_ABORTED: both come back here or to the end.
 */
void falcon_tx_push(struct sock *sk, bool cork)
{
	struct falcon_sock *fs = falcon_sk(sk);
	bool pushed = false;
	u32 keep;

	if (!fs->ep || !fs->mss)
		return;
	falcon_tx_pace(sk);
	keep = falcon_tx_keep(sk);
	while (fs->send_head && (!keep || fs->tx_unsent > keep)) {
		if (falcon_tx_hold(sk, fs->send_head, cork))
			break;
		if (falcon_tx_push_one(sk, fs->send_head))
			break;
		pushed = true;
	}
	if (pushed)
		falcon_flush(fs->ep->conn);
	if (fs->send_head && cork) {
		if (!fs->cork_at) {
			fs->cork_at = falcon_at(FALCON_CORK_TIME);
			falcon_sock_arm(sk);
		}
	} else {
		fs->cork_at = 0;
	}
}

/* A push completed: its bytes are in the peer's socket. */
void falcon_tx_done(struct sock *sk, struct falcon_txn *txn)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct sk_buff *skb = falcon_txn_skb(txn);

	if (txn->cmpl != FALCON_CMPL_ACK)
		falcon_conn_abort(fs->ep->conn, -EPIPE);
	else if (falcon_seg(skb)->flags & FALCON_SOCK_FIN)
		fs->fin_acked = true;
	fs->ep->inflight--;
	if (fs->orphan_at)
		fs->orphan_at = falcon_at(FALCON_ORPHAN_TIME);
	WRITE_ONCE(fs->tx_bytes, fs->tx_bytes - falcon_seg_bytes(skb));
	__skb_unlink(skb, &sk->sk_write_queue);
	falcon_tx_free(sk, skb);
}

/*
 * The socket lets go of everything to send. What was pushed stays with the
 * connection and is freed by the endpoint when it completes.
 */
void falcon_tx_purge(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&sk->sk_write_queue))) {
		falcon_tx_uncharge(sk, skb);
		if (!falcon_seg(skb)->pushed)
			__kfree_skb(skb);
	}
	fs->send_head = NULL;
	WRITE_ONCE(fs->tx_bytes, 0);
	fs->tx_unsent = 0;
	fs->cork_at = 0;
}

/* sk_write_space: wakes writers when a third of the buffer is free. */
void falcon_write_space(struct sock *sk)
{
	struct socket *sock;
	struct socket_wq *wq;

	rcu_read_lock();
	sock = READ_ONCE(sk->sk_socket);
	if (__sk_stream_is_writeable(sk, 1) && sock) {
		clear_bit(SOCK_NOSPACE, &sock->flags);
		wq = rcu_dereference(sk->sk_wq);
		if (skwq_has_sleeper(wq))
			wake_up_interruptible_poll(&wq->wait, EPOLLOUT |
						   EPOLLWRNORM | EPOLLWRBAND);
		if (wq && !(sk->sk_shutdown & SEND_SHUTDOWN))
			sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
	}
	rcu_read_unlock();
}

/* Receive */

static void falcon_rx_drop(struct falcon_ep *ep, struct falcon_rxpkt *rx)
{
	falcon_target_ack(ep->conn, rx);
	kfree_skb(falcon_rx_skb(rx));
}

/* Keepalive: data of no bytes that is no message either. */
static bool falcon_rx_is_question(u8 flags, u32 bytes)
{
	return !bytes &&
	       !(flags & (FALCON_SOCK_MSG_START | FALCON_SOCK_MSG_END));
}

/* Message boundaries: in order on SEQPACKET, absent on STREAM. */
static bool falcon_rx_framing_ok(struct sock *sk, u8 flags, u32 bytes)
{
	bool start = flags & FALCON_SOCK_MSG_START;
	bool end = flags & FALCON_SOCK_MSG_END;

	if (falcon_rx_is_question(flags, bytes))
		return true;
	if (sk->sk_type == SOCK_STREAM)
		return !start && !end;
	return start != falcon_sk(sk)->rx_in_msg;
}

/*
 * The kind of a segment, or 0 if it breaks the rules. Each is a push: core
 * acknowledges a pull itself, whether there is room in the receive buffer or not.
 */
static u8 falcon_rx_kind(struct sock *sk, struct falcon_rxpkt *rx,
			 struct falcon_sock_hdr *hdr)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct sk_buff *skb = falcon_rx_skb(rx);
	u32 bytes = falcon_seg_bytes(skb);

	if (rx->type != FALCON_PKT_PUSH_DATA ||
	    skb_copy_bits(skb, 0, hdr, sizeof(*hdr)) || hdr->reserved ||
	    hdr->reserved2)
		return 0;
	switch (hdr->flags & ~(FALCON_SOCK_MSG_START | FALCON_SOCK_MSG_END)) {
	case FALCON_SOCK_RESET:
		return FALCON_SOCK_RESET;
	case FALCON_SOCK_FIN:
		if (bytes || fs->fin_rcvd || fs->rx_in_msg ||
		    hdr->flags != FALCON_SOCK_FIN)
			return 0;
		return FALCON_SOCK_FIN;
	case FALCON_SOCK_DATA:
		if (!falcon_rx_framing_ok(sk, hdr->flags, bytes))
			return 0;
		/* A peer that only reads may still ask whether we are there. */
		if (fs->fin_rcvd && !falcon_rx_is_question(hdr->flags, bytes))
			return 0;
		return FALCON_SOCK_DATA;
	}
	return 0;
}

static void falcon_rx_queue(struct sock *sk, struct falcon_rxpkt *rx, u8 flags)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct sk_buff *skb = falcon_rx_skb(rx);
	bool charged;

	skb_orphan(skb);
	skb_dst_drop(skb);
	skb_ext_reset(skb);
	nf_reset_ct(skb);
	skb->dev = NULL;
	skb->mark = flags;

	charged = sk_rmem_schedule(sk, skb, skb->truesize);
	if (charged)
		skb_set_owner_r(skb, sk);
	__skb_queue_tail(&sk->sk_receive_queue, skb);
	WRITE_ONCE(fs->rx_bytes, fs->rx_bytes + falcon_seg_bytes(skb));
	fs->rx_in_msg = sk->sk_type == SOCK_SEQPACKET &&
			!(flags & FALCON_SOCK_MSG_END);
	if (flags & FALCON_SOCK_MSG_END)
		WRITE_ONCE(fs->rx_msgs, fs->rx_msgs + 1);

	if (charged && list_empty(&fs->ep->held) && !falcon_rx_full(sk)) {
		falcon_target_ack_more(fs->ep->conn, rx);
	} else {
		FALCON_INC(falcon_sock_net(sk), SOCK_RX_UNACKED);
		list_add_tail(&rx->node, &fs->ep->held);
		WRITE_ONCE(fs->rx_held, true);
	}
}

/* The peer's reason, of those that mean something to a socket. */
static int falcon_reset_err(u16 code)
{
	switch (code) {
	case ETIMEDOUT:
	case ECONNABORTED:
	case EPROTO:
		return -code;
	default:
		return -ECONNRESET;
	}
}

/**
 * falcon_rx_segment - take one transaction of the peer
 * @sk:		socket with an endpoint, locked
 * @rx:		the transaction; acknowledged here or kept on the held list.
 *		falcon_flush() is due after the last one
 *
 * Context: as sock/sock.h says of calls into the connection. The socket may have
 * no endpoint any more afterwards.
 * Return: true if a reader should be woken.
 */
bool falcon_rx_segment(struct sock *sk, struct falcon_rxpkt *rx)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct sk_buff *skb = falcon_rx_skb(rx);
	struct falcon_sock_hdr hdr;

	switch (falcon_rx_kind(sk, rx, &hdr)) {
	case FALCON_SOCK_DATA:
		if (falcon_rx_is_question(hdr.flags, falcon_seg_bytes(skb))) {
			falcon_rx_drop(fs->ep, rx);
			return false;
		}
		if (sock_flag(sk, SOCK_DEAD)) {
			falcon_rx_drop(fs->ep, rx);
			falcon_sock_reset(sk, ECONNRESET);
			return false;
		}
		falcon_rx_queue(sk, rx, hdr.flags);
		return true;
	case FALCON_SOCK_FIN:
		falcon_rx_drop(fs->ep, rx);
		fs->fin_rcvd = true;
		falcon_sock_fin_progress(sk);
		return true;
	case FALCON_SOCK_RESET:
		falcon_rx_drop(fs->ep, rx);
		falcon_sock_dead(sk, falcon_reset_err(ntohs(hdr.code)));
		return false;
	default:
		FALCON_INC(falcon_sock_net(sk), SOCK_BAD);
		falcon_rx_drop(fs->ep, rx);
		WRITE_ONCE(sk->sk_err, EPROTO);
		falcon_sock_reset(sk, EPROTO);
		return false;
	}
}

/*
 * Is there room for more? Of a stream that was full, when a quarter of its
 * buffer is free: packet by packet the peer would get it back as it is read,
 * and fill it packet by packet, where a train costs as much. A message must not
 * be torn because what was read before it left too little room.
 */
static bool falcon_rx_roomy(const struct sock *sk)
{
	unsigned int size = READ_ONCE(sk->sk_rcvbuf);

	if (sk->sk_type != SOCK_STREAM)
		return !falcon_rx_full(sk);
	return atomic_read(&sk->sk_rmem_alloc) <= size - size / 4;
}

/**
 * falcon_rx_ack_held - acknowledge what a full receive buffer held back
 * @sk:		socket, locked
 * @all:	whether it fits or not
 */
void falcon_rx_ack_held(struct sock *sk, bool all)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct falcon_ep *ep = fs->ep;
	struct falcon_rxpkt *rx;

	if (!ep || !fs->rx_held || (!all && !falcon_rx_roomy(sk)))
		return;
	while (!list_empty(&ep->held) && (all || !falcon_rx_full(sk))) {
		rx = list_first_entry(&ep->held, struct falcon_rxpkt, node);
		list_del(&rx->node);
		falcon_target_ack_more(ep->conn, rx);
	}
	if (list_empty(&ep->held))
		WRITE_ONCE(fs->rx_held, false);
	falcon_flush(ep->conn);
}

static void falcon_rx_eat(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct sk_buff *skb = __skb_dequeue(&sk->sk_receive_queue);
	struct falcon_rxpkt *rx = (struct falcon_rxpkt *)skb->cb;

	if (fs->ep && fs->rx_held &&
	    list_first_entry(&fs->ep->held, struct falcon_rxpkt, node) == rx) {
		list_del(&rx->node);
		falcon_target_ack(fs->ep->conn, rx);
	}
	if (falcon_rx_flags(skb) & FALCON_SOCK_MSG_END)
		WRITE_ONCE(fs->rx_msgs, fs->rx_msgs - 1);
	fs->rx_off = 0;
	/* Its room is free now, though the call may keep it for its stamps. */
	skb_orphan(skb);
	consume_skb(skb);
}

/**
 * falcon_rx_consume - the reader has taken bytes of the first segment
 * @sk:		socket, locked
 * @bytes:	number, may be 0; a segment read to its end goes away
 */
void falcon_rx_consume(struct sock *sk, u32 bytes)
{
	struct falcon_sock *fs = falcon_sk(sk);

	fs->rx_off += bytes;
	WRITE_ONCE(fs->rx_bytes, fs->rx_bytes - bytes);
	if (fs->rx_off < falcon_seg_bytes(skb_peek(&sk->sk_receive_queue)))
		return;
	falcon_rx_eat(sk);
	falcon_rx_ack_held(sk, false);
	falcon_sock_fin_progress(sk);
}

/**
 * falcon_rx_note_stamps - bytes of a segment are being read
 * @sk:		socket, locked
 * @skb:	segment, not consumed yet
 * @last:	the one noted before, or NULL: a call tells the stamps of the last
 *		only, as with TCP
 */
void falcon_rx_note_stamps(struct sock *sk, struct sk_buff *skb,
			   struct sk_buff **last)
{
	if (!sock_flag(sk, SOCK_RCVTSTAMP) && !READ_ONCE(sk->sk_tsflags)) {
		sock_write_timestamp(sk, skb->tstamp);	/* SIOCGSTAMP */
		return;
	}
	kfree_skb(*last);
	*last = skb_get(skb);
}

/**
 * falcon_rx_tell_stamps - a call that read ends
 * @sk:		socket, locked
 * @msg:	of the call
 * @last:	from falcon_rx_note_stamps(), or NULL; let go
 */
void falcon_rx_tell_stamps(struct sock *sk, struct msghdr *msg,
			   struct sk_buff *last)
{
	if (!last)
		return;
	sock_recv_timestamp(msg, sk, last);
	kfree_skb(last);
}

/* Throws unread data away. */
void falcon_rx_purge(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);

	falcon_rx_ack_held(sk, true);
	__skb_queue_purge(&sk->sk_receive_queue);
	WRITE_ONCE(fs->rx_bytes, 0);
	WRITE_ONCE(fs->rx_msgs, 0);
	fs->rx_off = 0;
	fs->rx_partial = false;
}

/**
 * falcon_rx_wait_error - why a reader must not wait for data
 * @sk:		socket, locked, nothing to read
 * @timeo:	what is left of the receive time-out, jiffies
 *
 * Return: 0 to wait; 1 for the end of the stream; or a negative errno.
 */
int falcon_rx_wait_error(struct sock *sk, long timeo)
{
	if (sock_flag(sk, SOCK_DONE))
		return 1;
	if (sk->sk_err)
		return sock_error(sk);
	if (sk->sk_shutdown & RCV_SHUTDOWN)
		return 1;
	if (sk->sk_state == TCP_CLOSE)
		return -ENOTCONN;
	if (!timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(timeo);
	return 0;
}
