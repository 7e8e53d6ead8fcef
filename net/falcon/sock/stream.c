// SPDX-License-Identifier: GPL-2.0
/*
 * SOCK_STREAM: bytes without boundaries. Every segment of up to one MTU is a
 * push transaction on an ordered connection; sock/queue.c decides when it
 * leaves and when it is acknowledged. Behaves as TCP does, errno for errno.
 *
 * Called by sock.c with the socket locked.
 */
#include <linux/fs.h>
#include <linux/splice.h>
#include "sock/sock.h"

/* Segments that are ready before the connection is told: they make a train. */
#define FALCON_STREAM_BATCH	16

static int falcon_send_ready(struct sock *sk, long *timeo)
{
	int err;

	if ((1 << sk->sk_state) & ~(TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) {
		err = sk_stream_wait_connect(sk, timeo);
		if (err)
			return err;
	}
	return sk->sk_err || sk->sk_shutdown & SEND_SHUTDOWN ? -EPIPE : 0;
}

/*
 * The segment that takes the next bytes of a write of @len bytes, or NULL to
 * wait for memory; a new one if the last is @full. A write that fits into a
 * segment waits before its first byte or not at all: it is not torn by those of
 * other threads.
 */
static struct sk_buff *falcon_stream_segment(struct sock *sk, size_t len,
					     bool begun, bool full)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct sk_buff *skb = skb_peek_tail(&sk->sk_write_queue);

	if (!begun && !sk_stream_memory_free(sk))
		return NULL;
	if (skb && !full && !falcon_seg(skb)->pushed &&
	    falcon_seg(skb)->charged && falcon_seg_bytes(skb) < fs->mss &&
	    skb_shinfo(skb)->nr_frags < MAX_SKB_FRAGS)
		return skb;
	if (len > fs->mss && !sk_stream_memory_free(sk))
		return NULL;
	skb = falcon_tx_alloc(sk, sk->sk_allocation);
	if (skb)
		falcon_tx_queue(sk, skb);
	return skb;
}

/* A segment that got no bytes must not be sent. */
static void falcon_stream_drop_empty(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct sk_buff *skb = skb_peek_tail(&sk->sk_write_queue);

	if (!skb || falcon_seg(skb)->pushed || !falcon_seg(skb)->charged ||
	    falcon_seg_bytes(skb))
		return;
	if (fs->send_head == skb)
		fs->send_head = NULL;
	__skb_unlink(skb, &sk->sk_write_queue);
	falcon_tx_free(sk, skb);
}

static void falcon_stream_wrote(struct sock *sk, u32 bytes)
{
	struct falcon_sock *fs = falcon_sk(sk);

	WRITE_ONCE(fs->tx_bytes, fs->tx_bytes + bytes);
	fs->tx_unsent += bytes;
	if (fs->tx_unsent >= FALCON_STREAM_BATCH * fs->mss) {
		falcon_tx_push(sk, true);
		falcon_sock_flush(sk);
	}
}

static ssize_t falcon_stream_fill(struct sock *sk, struct msghdr *msg,
				  size_t len, bool begun, bool full,
				  long *timeo)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct sk_buff *skb = falcon_stream_segment(sk, len, begun, full);
	ssize_t n = -ENOMEM;

	if (skb)
		n = falcon_tx_fill(sk, skb, msg,
				   min_t(size_t, msg_data_left(msg),
					 fs->mss - falcon_seg_bytes(skb)));
	if (n != -ENOMEM)
		return n;

	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	falcon_stream_drop_empty(sk);
	falcon_tx_push(sk, false);
	return sk_stream_wait_memory(sk, timeo);
}

int falcon_stream_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	int flags = msg->msg_flags;
	long timeo = sock_sndtimeo(sk, flags & MSG_DONTWAIT);
	bool full = false;
	int copied = 0;
	ssize_t n;
	int err;

	sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	err = falcon_send_ready(sk, &timeo);
	if (!err)
		falcon_tx_mss(sk);
	while (!err && msg_data_left(msg)) {
		if (sk->sk_err || sk->sk_shutdown & SEND_SHUTDOWN) {
			err = -EPIPE;
			break;
		}
		n = falcon_stream_fill(sk, msg, len, copied, full, &timeo);
		full = !n;
		if (n < 0) {
			err = n;
		} else if (n) {
			copied += n;
			falcon_stream_wrote(sk, n);
		}
	}
	falcon_stream_drop_empty(sk);
	if (copied) {
		falcon_tx_push(sk, flags & MSG_MORE);
		return copied;
	}
	if (!err)
		return 0;
	err = sk_stream_error(sk, flags, err);
	if (err == -EAGAIN && skb_queue_empty(&sk->sk_write_queue))
		sk->sk_write_space(sk);
	return err;
}

#ifdef FALCON_HAVE_SENDPAGE
ssize_t falcon_stream_sendpage(struct socket *sock, struct page *page,
			       int offset, size_t size, int flags)
{
	struct bio_vec bvec = {
		.bv_page = page,
		.bv_offset = offset,
		.bv_len = size,
	};
	struct msghdr msg = {
		.msg_flags = (flags & ~MSG_SENDPAGE_NOTLAST) |
			     FALCON_SPLICE_PAGES,
	};
	int ret;

	if (!sendpage_ok(page))
		return sock_no_sendpage(sock, page, offset, size, flags);
	if (flags & MSG_SENDPAGE_NOTLAST)
		msg.msg_flags |= MSG_MORE;
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, &bvec, 1, size);
	lock_sock(sock->sk);
	ret = falcon_stream_sendmsg(sock->sk, &msg, size);
	release_sock(sock->sk);
	return ret;
}
#endif

/* Receive */

bool falcon_stream_readable(const struct sock *sk, int target)
{
	const struct falcon_sock *fs = falcon_sk(sk);
	u32 bytes = READ_ONCE(fs->rx_bytes);

	return bytes && (bytes >= target || READ_ONCE(fs->rx_held));
}

/* The segment at @pos bytes from the first unread one, and the offset in it. */
static struct sk_buff *falcon_stream_at(struct sock *sk, u32 pos, u32 *offset)
{
	struct sk_buff *skb;

	pos += falcon_sk(sk)->rx_off;
	skb_queue_walk(&sk->sk_receive_queue, skb) {
		u32 bytes = falcon_seg_bytes(skb);

		if (pos < bytes) {
			*offset = pos + FALCON_SOCK_HDR_LEN;
			return skb;
		}
		pos -= bytes;
	}
	return NULL;
}

/* Bytes taken at @pos, 0 if there are none, or -EFAULT; @last for its stamps. */
static int falcon_stream_take(struct sock *sk, struct msghdr *msg, u32 pos,
			      size_t len, int flags, struct sk_buff **last)
{
	struct sk_buff *skb;
	u32 offset;
	int n;

	skb = falcon_stream_at(sk, pos, &offset);
	if (!skb)
		return 0;
	n = min_t(size_t, len, skb->len - offset);
	if (!(flags & MSG_TRUNC) &&
	    skb_copy_datagram_msg(skb, offset, msg, n))
		return -EFAULT;
	if (flags & MSG_PEEK)
		return n;
	falcon_rx_note_stamps(sk, skb, last);
	falcon_rx_consume(sk, n);
	return n;
}

static int falcon_stream_read(struct sock *sk, struct msghdr *msg, size_t len,
			      int flags, struct sk_buff **last)
{
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	int target = sock_rcvlowat(sk, flags & MSG_WAITALL, len);
	bool peek = flags & MSG_PEEK;
	size_t copied = 0;
	int n, err;

	while (copied < len) {
		n = falcon_stream_take(sk, msg, peek ? copied : 0, len - copied,
				       flags, last);
		if (n < 0)
			return copied ? : n;
		copied += n;
		if (n)
			continue;
		if (copied >= target)
			break;
		if (test_bit(FALCON_SK_PENDING, &falcon_sk(sk)->flags)) {
			falcon_sock_flush(sk);
			continue;
		}
		/* An error is reported by the call that has nothing else. */
		if (copied && sk->sk_err)
			break;
		err = falcon_rx_wait_error(sk, timeo);
		if (err)
			return copied ? : min(err, 0);
		sk_wait_data(sk, &timeo, skb_peek_tail(&sk->sk_receive_queue));
	}
	return copied;
}

int falcon_stream_recvmsg(struct sock *sk, struct msghdr *msg, size_t len,
			  int flags)
{
	struct sk_buff *last = NULL;
	int ret;

	ret = falcon_stream_read(sk, msg, len, flags, &last);
	falcon_rx_tell_stamps(sk, msg, last);
	return ret;
}

/* The pages that came become those of the pipe. */
ssize_t falcon_stream_splice_read(struct socket *sock, loff_t *ppos,
				  struct pipe_inode_info *pipe, size_t len,
				  unsigned int flags)
{
	bool nonblock = sock->file->f_flags & O_NONBLOCK ||
			flags & SPLICE_F_NONBLOCK;
	struct sock *sk = sock->sk;
	struct sk_buff *skb;
	u32 offset;
	long timeo;
	int ret;

	if (*ppos)
		return -ESPIPE;
	lock_sock(sk);
	timeo = sock_rcvtimeo(sk, nonblock);
	for (;;) {
		ret = -ENOTCONN;
		if (sk->sk_state == TCP_LISTEN)
			break;
		skb = falcon_stream_at(sk, 0, &offset);
		if (skb) {
			ret = skb_splice_bits(skb, sk, offset, pipe,
					      min_t(size_t, len,
						    skb->len - offset), flags);
			if (ret > 0)
				falcon_rx_consume(sk, ret);
			break;
		}
		ret = falcon_rx_wait_error(sk, timeo);
		if (ret) {
			ret = min(ret, 0);
			break;
		}
		sk_wait_data(sk, &timeo, skb_peek_tail(&sk->sk_receive_queue));
	}
	release_sock(sk);
	return ret;
}
