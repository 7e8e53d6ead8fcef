/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a netns, shown by `falcon stat` under these names (lower case).
 * One line a counter: a name and what it counts. Included by whoever has
 * defined FALCON_MIB() to make of them what he needs: falcon.h an enumeration,
 * netlink.c a table of names.
 */
FALCON_MIB(IN_PKTS, "packets received on the PSP port")
FALCON_MIB(OUT_PKTS, "packets transmitted")
FALCON_MIB(IN_TRAINS, "skbs received that held several packets")
FALCON_MIB(OUT_WAITS, "waits of connections for their turn at a busy device")
FALCON_MIB(OUT_TRAINS, "skbs transmitted that held several packets")
FALCON_MIB(IN_BAD_CSUM, "dropped: wrong UDP checksum")
FALCON_MIB(IN_BAD_PSP, "dropped: malformed PSP header")
FALCON_MIB(IN_BAD_HDR, "dropped: malformed Falcon header")
FALCON_MIB(IN_NO_CONN, "dropped: unknown destination CID")
FALCON_MIB(IN_BAD_ADDR, "dropped: source address not the peer's")
FALCON_MIB(IN_BAD_SPI, "dropped: wrong SPI")
FALCON_MIB(IN_BAD_PCID, "dropped: wrong PCID")
FALCON_MIB(IN_BAD_FN, "dropped: wrong Destination Function")
FALCON_MIB(IN_REPLAY, "dropped: older than the replay margin")
FALCON_MIB(IN_BAD_VERSION, "dropped: PSP version not the negotiated one")
FALCON_MIB(IN_BAD_ICV, "dropped: not authentic")
FALCON_MIB(IN_OPENED, "packets received that were authentic by their ICV")
FALCON_MIB(IN_OPENED_NIC, "of these, opened by a NIC")
FALCON_MIB(IN_EARLY, "dropped: too many before the set-up was confirmed")
FALCON_MIB(IN_NO_MEM, "dropped: no memory")
FALCON_MIB(OUT_NO_ROUTE, "not sent: no route")
FALCON_MIB(OUT_SEALED, "packets transmitted with an ICV")
FALCON_MIB(OUT_SEALED_NIC, "of these, sealed by a NIC")
FALCON_MIB(OUT_NO_KEY, "not sent: no key to seal with")
FALCON_MIB(OUT_KEY_END, "not sent: the key has no IVs left")
FALCON_MIB(OUT_STOPPED, "not sent: the system hibernates")
FALCON_MIB(OUT_ERRORS, "not sent: lower layer refused")
FALCON_MIB(KEY_ROTATIONS, "new device keys")
FALCON_MIB(CM_IN, "connection manager packets received")
FALCON_MIB(CM_OUT, "connection manager packets sent")
FALCON_MIB(CM_BAD, "connection manager packets malformed")
FALCON_MIB(CM_BAD_COOKIE, "connection requests with a stale or forged cookie")
FALCON_MIB(CM_BAD_PORT, "connection requests from a port that is not the kernel's")
FALCON_MIB(CM_BAD_NONCE, "connection manager answers that match nothing asked")
FALCON_MIB(CM_COOKIES, "cookies issued")
FALCON_MIB(CM_REFUSED_OUT, "connection requests refused here")
FALCON_MIB(CM_REFUSED_IN, "own connection requests refused by peers")
FALCON_MIB(CM_BACKLOG, "connection requests dropped: backlog full")
FALCON_MIB(CM_LIMIT, "connection requests dropped: a bound was reached")
FALCON_MIB(CM_PEERS, "connection manager messages dropped: too many peers")
FALCON_MIB(CM_PEER_HALF_OPEN,
	   "connection requests dropped: too many half open of one peer")
FALCON_MIB(CM_PEER_RATE,
	   "connection manager messages dropped: too many of one peer")
FALCON_MIB(CM_PEER_CONNS,
	   "connection requests refused: too many connections of one peer")
FALCON_MIB(CM_TIMEOUT, "connection set-ups that timed out")
FALCON_MIB(CM_NO_SECURITY,
	   "connections not set up: no PSP version in common, or none here only")
FALCON_MIB(CM_KEY_MISSING, "connections not set up: a pre-shared key is required")
FALCON_MIB(CM_KEY_UNKNOWN, "connections not set up: no such pre-shared key")
FALCON_MIB(CM_BAD_KEY, "connections not set up: the ends have not the same keys")
FALCON_MIB(CM_BAD_AUTH, "connection manager messages with a wrong proof, or old")
FALCON_MIB(CM_REKEYED, "associations that peers have moved to")
FALCON_MIB(CM_REKEY_FAILED, "associations that peers have not moved to")
FALCON_MIB(CM_REKEY_EARLY, "new keys of peers dropped: too soon after others")
FALCON_MIB(CM_ESTABLISHED, "connections established")
FALCON_MIB(CONN_ABORTED,
	   "connections that died: retransmissions exhausted, reset, device gone")
FALCON_MIB(CONN_LIMIT, "connections refused: per-netns bound")
FALCON_MIB(FAE_QUEUED, "congestion control events that waited for a batch")
FALCON_MIB(FAE_HELD_BACK, "ACKs that became no event: the queue was too long")
FALCON_MIB(SOCK_RX_UNACKED, "segments held unacknowledged: receive buffer full")
FALCON_MIB(SOCK_ORPHANS, "connections reset: too many outlive their sockets")
FALCON_MIB(SOCK_BAD, "segments of the socket protocol that break its rules")

#undef FALCON_MIB
