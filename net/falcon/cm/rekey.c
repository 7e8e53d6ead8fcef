// SPDX-License-Identifier: GPL-2.0
/*
 * New keys for a connection that lives: REKEY says by which association its
 * sender wants to receive from now on, REKEY_ACK that the peer sends by it.
 *
 * A receiver that wants to move makes an association, accepts packets of both,
 * and says so until it is acknowledged; no packet is lost, because the peer
 * moves between two packets and the old association goes only when packets of
 * the new one have come (psp/key.c). Both ends may do so at the same time.
 *
 * Keys are made and installed by a work of the connection, messages come in
 * softirq. falcon_cm_rekey() is called when the device key was replaced.
 */
#include <linux/slab.h>

#include "cm/cm.h"
#include "psp/psp.h"

#define CM_REKEY_MAX_SHIFT	8	/* of the first RTO */
/*
 * Between two REKEYs of a connection that are taken, jiffies. A peer that rotates
 * its keys waits longer, for the old association to retire.
 */
#define CM_REKEY_GAP		(FALCON_PSP_RETIRE_NS / 2 / (NSEC_PER_SEC / HZ))

/* With a reference of the connection, and one of the CM, while it is queued */
static void cm_rekey_work(struct work_struct *work);

/**
 * falcon_cm_rekey_setup() - the part of the secrets that rekeys
 * @sec:	new
 */
void falcon_cm_rekey_setup(struct falcon_cm_sec *sec)
{
	INIT_LIST_HEAD(&sec->node);
	INIT_DELAYED_WORK(&sec->work, cm_rekey_work);
	sec->next_rekey = jiffies;
}

/* Makes the work run; false if the namespace goes away. */
static bool cm_rekey_kick(struct falcon_cm_sec *sec)
{
	struct falcon_conn *conn = sec->conn;
	struct falcon_cm *cm = READ_ONCE(conn->fn->cm);
	bool alive;

	lockdep_assert_held(&sec->lock);
	if (!cm)
		return false;
	if (sec->working) {
		mod_delayed_work(cm->rekey_wq, &sec->work, 0);
		return true;
	}
	spin_lock(&cm->lock);
	alive = !cm->dead && falcon_conn_get(conn);
	if (alive) {
		atomic_inc(&cm->nr_users);
		list_add(&sec->node, &cm->rekeys);
		sec->working = true;
		queue_delayed_work(cm->rekey_wq, &sec->work, 0);
	}
	spin_unlock(&cm->lock);
	return alive;
}

/**
 * falcon_cm_rekey() - receive by a new association from now on
 * @conn:	established connection, not locked
 *
 * If one is on its way already, another follows it: it may have been made
 * before whatever the caller has done.
 *
 * Context: Process or softirq.
 * Return: 0; -EOPNOTSUPP: the connection is not encrypted; -ENOTCONN: it is not
 * established; -ENETDOWN: the namespace goes away.
 */
int falcon_cm_rekey(struct falcon_conn *conn)
{
	struct falcon_cm_sec *sec = READ_ONCE(conn->cm_sec);
	int err = 0;

	if (!sec)
		return -EOPNOTSUPP;
	if (READ_ONCE(conn->state) != FALCON_CONN_ESTABLISHED)
		return -ENOTCONN;
	spin_lock_bh(&sec->lock);
	sec->wanted = true;
	if (!cm_rekey_kick(sec))
		err = -ENETDOWN;
	spin_unlock_bh(&sec->lock);
	return err;
}

/**
 * falcon_cm_rekey_end() - a connection is no more
 * @conn:	connection, dead
 *
 * Context: Any but hard interrupts, the connection may be locked.
 */
void falcon_cm_rekey_end(struct falcon_conn *conn)
{
	struct falcon_cm_sec *sec = READ_ONCE(conn->cm_sec);

	if (!sec)
		return;
	spin_lock_bh(&sec->lock);
	if (sec->working)
		mod_delayed_work(conn->fn->cm->rekey_wq, &sec->work, 0);
	spin_unlock_bh(&sec->lock);
}

static void cm_rekey_ack(struct falcon_cm_sec *sec, u32 spi)
{
	struct falcon_conn *conn = sec->conn;
	struct falcon_cm_msg m = {
		.type = FALCON_CM_REKEY_ACK,
		.present = FALCON_CM_HAS_ECHO | FALCON_CM_HAS_SPI,
		.nonce = sec->nonce,
		.echo_cid = sec->peer_cid,
		.echo_pcid = conn->tx_sa.pcid,
		.rekey_spi = spi,
	};

	falcon_cm_send_signed(conn->fn->cm, &sec->peer, conn, &m, NULL);
}

/* What the peer has granted is installed, and acknowledged. */
static void cm_rekey_install(struct falcon_cm_sec *sec)
{
	struct falcon_psp_grant grant;
	bool granted;
	int err;

	spin_lock_bh(&sec->lock);
	granted = sec->granted;
	grant = sec->grant;
	sec->granted = false;
	memzero_explicit(&sec->grant, sizeof(sec->grant));
	spin_unlock_bh(&sec->lock);

	if (granted) {
		err = falcon_psp_tx_install(sec->conn, &grant);
		/* Unacknowledged, it comes again. */
		if (!err)
			cm_rekey_ack(sec, grant.spi);
	}
	memzero_explicit(&grant, sizeof(grant));
}

/* A new association of our own, unless the one before is not settled yet. */
static void cm_rekey_offer(struct falcon_cm_sec *sec)
{
	struct falcon_psp_grant grant;
	bool make;
	int err;

	spin_lock_bh(&sec->lock);
	make = sec->wanted && !sec->offered.spi;
	if (make)
		sec->wanted = false;
	spin_unlock_bh(&sec->lock);
	if (!make)
		return;

	err = falcon_psp_rx_new(sec->conn, sec->conn->rx_sa.version, &grant);
	if (err) {
		FALCON_INC(sec->conn->fn, CM_REKEY_FAILED);
		return;
	}
	spin_lock_bh(&sec->lock);
	sec->offered.spi = grant.spi;
	sec->offered.version = grant.version;
	memcpy(sec->offered.key, grant.key, sizeof(sec->offered.key));
	sec->tries = 0;
	spin_unlock_bh(&sec->lock);
	memzero_explicit(&grant, sizeof(grant));
}

/*
 * Both ends use the same port, but may have moved to another one since the
 * set-up: by turns it goes where the peer was last heard from, and to the port that
 * is this end's now.
 */
static void cm_rekey_send(struct falcon_cm_sec *sec,
			  const struct falcon_cm_sa *sa, unsigned int tries)
{
	struct falcon_conn *conn = sec->conn;
	struct falcon_cm_peer peer = sec->peer;
	struct falcon_cm_msg m = {
		.type = FALCON_CM_REKEY,
		.present = FALCON_CM_HAS_ECHO | FALCON_CM_HAS_WRAPPED,
		.nonce = sec->nonce,
		.echo_cid = sec->peer_cid,
		.echo_pcid = conn->tx_sa.pcid,
	};

	if (!(tries & 1))
		peer.port = htons(READ_ONCE(conn->fn->sysctl.cm_port));
	falcon_cm_send_signed(conn->fn->cm, &peer, conn, &m, sa);
}

/* Sends what is offered once more, or gives up: the peer goes on with the old
 * association, which is as good as it was, until the next rotation.
 */
static void cm_rekey_try(struct falcon_cm_sec *sec)
{
	struct falcon_net *fn = sec->conn->fn;
	struct falcon_cm_sa sa;
	unsigned int tries;
	bool give_up;

	spin_lock_bh(&sec->lock);
	give_up = sec->offered.spi &&
		  sec->tries > READ_ONCE(fn->sysctl.cm_retries);
	if (give_up)
		memzero_explicit(&sec->offered, sizeof(sec->offered));
	else if (sec->offered.spi)
		sec->tries++;
	sa = sec->offered;
	tries = sec->tries;
	spin_unlock_bh(&sec->lock);

	if (give_up)
		FALCON_INC(fn, CM_REKEY_FAILED);
	else if (sa.spi)
		cm_rekey_send(sec, &sa, tries);
	memzero_explicit(&sa, sizeof(sa));
}

/* Whether there is more to do; if not, the references of the work go. */
static bool cm_rekey_again(struct falcon_cm_sec *sec, bool alive)
{
	struct falcon_cm *cm = sec->conn->fn->cm;
	unsigned long delay = 0;
	bool again;

	spin_lock_bh(&sec->lock);
	spin_lock(&cm->lock);
	again = alive && !cm->dead &&
		(sec->wanted || sec->granted || sec->offered.spi);
	/* Kicked while it ran: it runs once more, to end. */
	if (!again && delayed_work_pending(&sec->work)) {
		again = true;
	} else if (!again) {
		list_del_init(&sec->node);
		sec->working = false;
		memzero_explicit(&sec->offered, sizeof(sec->offered));
	} else if (sec->offered.spi && !sec->granted) {
		delay = msecs_to_jiffies(READ_ONCE(cm->fn->sysctl.cm_rto_ms)) <<
			min_t(u8, sec->tries - 1, CM_REKEY_MAX_SHIFT);
	}
	/* Whoever kicked it in the meantime has queued it earlier than that. */
	if (again)
		queue_delayed_work(cm->rekey_wq, &sec->work, delay);
	spin_unlock(&cm->lock);
	spin_unlock_bh(&sec->lock);
	return again;
}

static void cm_rekey_work(struct work_struct *work)
{
	struct falcon_cm_sec *sec = container_of(to_delayed_work(work),
						 struct falcon_cm_sec, work);
	struct falcon_conn *conn = sec->conn;
	struct falcon_cm *cm = conn->fn->cm;
	bool alive = READ_ONCE(conn->state) == FALCON_CONN_ESTABLISHED ||
		     READ_ONCE(conn->state) == FALCON_CONN_CLOSING;

	if (alive) {
		cm_rekey_install(sec);
		cm_rekey_offer(sec);
		cm_rekey_try(sec);
	}
	if (cm_rekey_again(sec, alive))
		return;
	falcon_conn_put(conn);
	falcon_cm_put_user(cm);
}

/*
 * A REKEY costs two ciphers. What a connection may ask for is its own matter:
 * out of an account of the host others would empty it, who need no key for that.
 */
static bool cm_rekey_due(struct falcon_cm_sec *sec)
{
	bool due;

	spin_lock_bh(&sec->lock);
	due = time_after_eq(jiffies, sec->next_rekey);
	if (due)
		sec->next_rekey = jiffies + CM_REKEY_GAP;
	spin_unlock_bh(&sec->lock);
	return due;
}

/**
 * falcon_cm_rx_rekey() - the peer wants to receive by another association
 * @cm:		connection manager
 * @peer:	who sent it
 * @m:		REKEY
 * @buf:	its bytes
 *
 * Context: Softirq.
 */
void falcon_cm_rx_rekey(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
			const struct falcon_cm_msg *m, const void *buf)
{
	struct falcon_conn *conn = falcon_cm_find_conn(cm, peer, m);
	struct falcon_psp_grant grant = {};
	struct falcon_cm_sec *sec;
	u64 counter;

	if (!conn || !conn->cm_sec) {
		FALCON_INC(cm->fn, CM_BAD_NONCE);
		goto out;
	}
	sec = conn->cm_sec;
	if (!falcon_cm_proven(conn, buf, m, &counter))
		goto out;
	if (!cm_rekey_due(sec)) {
		/* The peer sends it again. */
		FALCON_INC(cm->fn, CM_REKEY_EARLY);
		goto out;
	}
	if (!falcon_cm_sec_rekeyed(conn, m, counter, &grant)) {
		FALCON_INC(cm->fn, CM_BAD_AUTH);
		goto out;
	}
	spin_lock_bh(&sec->lock);
	WRITE_ONCE(sec->peer.port, peer->port);
	sec->grant = grant;
	sec->granted = true;
	cm_rekey_kick(sec);
	spin_unlock_bh(&sec->lock);
out:
	memzero_explicit(&grant, sizeof(grant));
	if (conn)
		falcon_conn_put(conn);
}

/**
 * falcon_cm_rx_rekey_ack() - the peer sends by the association it was granted
 * @cm:		connection manager
 * @peer:	who sent it
 * @m:		REKEY_ACK
 * @buf:	its bytes
 *
 * Context: Softirq.
 */
void falcon_cm_rx_rekey_ack(struct falcon_cm *cm,
			    const struct falcon_cm_peer *peer,
			    const struct falcon_cm_msg *m, const void *buf)
{
	struct falcon_conn *conn = falcon_cm_find_conn(cm, peer, m);
	struct falcon_cm_sec *sec;
	bool moved;

	if (!conn || !conn->cm_sec) {
		FALCON_INC(cm->fn, CM_BAD_NONCE);
		goto out;
	}
	sec = conn->cm_sec;
	if (!falcon_cm_proven(conn, buf, m, NULL))
		goto out;
	spin_lock_bh(&sec->lock);
	WRITE_ONCE(sec->peer.port, peer->port);
	moved = sec->offered.spi == m->rekey_spi;
	if (moved) {
		memzero_explicit(&sec->offered, sizeof(sec->offered));
		/* The work has its end, or the next one to begin. */
		cm_rekey_kick(sec);
	}
	spin_unlock_bh(&sec->lock);
	if (moved) {
		FALCON_INC(cm->fn, CM_REKEYED);
		falcon_psp_rx_confirmed(conn);
	}
out:
	if (conn)
		falcon_conn_put(conn);
}

/**
 * falcon_cm_drop_rekeys() - the netns goes away: no more rekeying
 * @cm:	connection manager, dead
 *
 * Their works end soon; falcon_cm_put_user() tells when.
 */
void falcon_cm_drop_rekeys(struct falcon_cm *cm)
{
	struct falcon_cm_sec *sec;

	spin_lock_bh(&cm->lock);
	list_for_each_entry(sec, &cm->rekeys, node)
		mod_delayed_work(cm->rekey_wq, &sec->work, 0);
	spin_unlock_bh(&cm->lock);
}
