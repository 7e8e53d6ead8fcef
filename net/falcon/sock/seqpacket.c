// SPDX-License-Identifier: GPL-2.0
/*
 * SOCK_SEQPACKET: messages. One is sent as a whole or not at all; its segments
 * are marked MSG_START and MSG_END. It is received as a whole, unless it is
 * larger than the receive buffer, which must be emptied in parts then, or than
 * the reader's: MSG_EOR says that the end of the message was reached, and what
 * did not fit stays for the next call, as SCTP has it.
 *
 * Called by sock.c with the socket locked.
 */
#include "sock/sock.h"

static int falcon_msg_send_ready(struct sock *sk, long *timeo)
{
	int err;

	if ((1 << sk->sk_state) & ~(TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) {
		err = sk_stream_wait_connect(sk, timeo);
		if (err)
			return err;
	}
	/* A message enters when any space is free, as poll() promises. */
	while (!(sk->sk_err || sk->sk_shutdown & SEND_SHUTDOWN)) {
		if (sk_stream_memory_free(sk))
			return 0;
		err = sk_stream_wait_memory(sk, timeo);
		if (err)
			return err;
	}
	return -EPIPE;
}

/*
 * Waits for memory, of which no wait brings back what the message itself has, nor
 * what others have that are being written: something must be under way.
 */
static int falcon_msg_wait(struct sock *sk, const struct sk_buff_head *list,
			   long *timeo)
{
	const struct sk_buff *skb;
	u32 own = 0;

	skb_queue_walk(list, skb)
		own += skb->truesize;
	if (own >= READ_ONCE(sk->sk_sndbuf) ||
	    (skb_queue_empty(&sk->sk_write_queue) &&
	     !sk_stream_memory_free(sk)))
		return -ENOBUFS;
	return sk_stream_wait_memory(sk, timeo);
}

/* Fill one segment; -ENOMEM if memory is short even after waiting for it. */
static int falcon_msg_segment(struct sock *sk, struct msghdr *msg,
			      struct sk_buff_head *list, long *timeo)
{
	u32 mss = falcon_sk(sk)->mss;
	struct sk_buff *skb;
	size_t max;
	ssize_t n;
	int err;

	while (!(skb = falcon_tx_alloc(sk, sk->sk_allocation))) {
		err = falcon_msg_wait(sk, list, timeo);
		if (err)
			return err;
	}
	__skb_queue_tail(list, skb);
	while (msg_data_left(msg) && falcon_seg_bytes(skb) < mss) {
		max = min_t(size_t, msg_data_left(msg),
			    mss - falcon_seg_bytes(skb));
		n = falcon_tx_fill(sk, skb, msg, max);
		if (!n)
			break;
		if (n == -ENOMEM)
			n = falcon_msg_wait(sk, list, timeo);
		if (n < 0)
			return n;
	}
	return 0;
}

int falcon_seqpacket_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	int flags = msg->msg_flags;
	long timeo = sock_sndtimeo(sk, flags & MSG_DONTWAIT);
	struct sk_buff_head list;
	struct sk_buff *skb;
	int err;

	if (len > READ_ONCE(sk->sk_sndbuf))
		return -EMSGSIZE;
	__skb_queue_head_init(&list);
	sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	err = falcon_msg_send_ready(sk, &timeo);
	if (err)
		goto out;
	falcon_tx_mss(sk);
	do {
		err = falcon_msg_segment(sk, msg, &list, &timeo);
		if (!err && (sk->sk_err || sk->sk_shutdown & SEND_SHUTDOWN))
			err = -EPIPE;
		if (err)
			goto out;
	} while (msg_data_left(msg));

	falcon_seg(skb_peek(&list))->flags |= FALCON_SOCK_MSG_START;
	falcon_seg(skb_peek_tail(&list))->flags |= FALCON_SOCK_MSG_END;
	while ((skb = __skb_dequeue(&list)))
		falcon_tx_queue(sk, skb);
	falcon_tx_push(sk, false);
	return len;

out:
	while ((skb = __skb_dequeue(&list)))
		falcon_tx_free(sk, skb);
	return sk_stream_error(sk, flags, err);
}

/*
 * Something to hand out: a whole message, more of one that was begun, or a part
 * because the buffer takes no more of it.
 */
bool falcon_seqpacket_readable(const struct sock *sk)
{
	const struct falcon_sock *fs = falcon_sk(sk);

	if (READ_ONCE(fs->rx_msgs))
		return true;
	return !skb_queue_empty_lockless(&sk->sk_receive_queue) &&
	       (READ_ONCE(fs->rx_partial) || READ_ONCE(fs->rx_held));
}

/*
 * Copy from the first message what is there and fits. Peeking walks on without
 * consuming.
 */
static int falcon_msg_take(struct sock *sk, struct msghdr *msg, size_t len,
			   bool peek)
{
	struct falcon_sock *fs = falcon_sk(sk);
	u32 offset = fs->rx_off;
	struct sk_buff *skb, *next, *last = NULL;
	size_t copied = 0;
	bool end = false;
	u32 n;

	skb_queue_walk_safe(&sk->sk_receive_queue, skb, next) {
		u32 left = falcon_seg_bytes(skb) - offset;

		n = min_t(size_t, left, len - copied);
		if (skb_copy_datagram_msg(skb, offset + FALCON_SOCK_HDR_LEN,
					  msg, n)) {
			falcon_rx_tell_stamps(sk, msg, last);
			return copied ? : -EFAULT;
		}
		copied += n;
		end = n == left && falcon_rx_flags(skb) & FALCON_SOCK_MSG_END;
		if (!peek) {
			falcon_rx_note_stamps(sk, skb, &last);
			if (n || end)
				WRITE_ONCE(fs->rx_partial, !end);
			falcon_rx_consume(sk, n);
		}
		if (end || n < left)
			break;
		offset = 0;
	}
	falcon_rx_tell_stamps(sk, msg, last);
	if (end)
		msg->msg_flags |= MSG_EOR;
	return copied;
}

int falcon_seqpacket_recvmsg(struct sock *sk, struct msghdr *msg, size_t len,
			     int flags)
{
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	int err;

	while (!falcon_seqpacket_readable(sk)) {
		if (test_bit(FALCON_SK_PENDING, &falcon_sk(sk)->flags)) {
			falcon_sock_flush(sk);
			continue;
		}
		err = falcon_rx_wait_error(sk, timeo);
		if (err)
			return min(err, 0);
		sk_wait_data(sk, &timeo, skb_peek_tail(&sk->sk_receive_queue));
	}
	return falcon_msg_take(sk, msg, len, flags & MSG_PEEK);
}
