// SPDX-License-Identifier: GPL-2.0
/*
 * falcon conn: show the connections of the namespace, and kill them.
 *
 * The kernel filters; a connection is a line of text (-d and -s add lines) or
 * an object of JSON, which always has everything. `falcon monitor` prints its
 * events with the same functions.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/falcon.h>
#include "cli.h"

#define CID_MAX		0xffffff
#define PROTO_SOCK	4
#define NR_STATES	(FALCON_NL_STATE_DEAD + 1)

/* Names of small numbers; those that have none are printed as they are. */
#define MAX_NAMES	8

struct names {
	const char *name[MAX_NAMES];
};

static const struct names states = { .name = {
	[FALCON_NL_STATE_SETUP]		= "setup",
	[FALCON_NL_STATE_ESTABLISHED]	= "established",
	[FALCON_NL_STATE_CLOSING]	= "closing",
	[FALCON_NL_STATE_DEAD]		= "dead",
} };

static const struct names events = { .name = {
	[FALCON_NL_EVENT_ESTABLISHED]	= "established",
	[FALCON_NL_EVENT_CLOSED]	= "closed",
	[FALCON_NL_EVENT_ABORTED]	= "aborted",
	[FALCON_NL_EVENT_FAILED]	= "failed",
} };

static const struct names protos = { .name = {
	[2]		= "rdma",
	[3]		= "nvme",
	[PROTO_SOCK]	= "sock",
} };

static const char * const loss_names[] = { "ooo", "own", "rack", "tlp" };

static const char * const counter_names[] = {
	[FALCON_A_COUNTER_TX_PKTS]	= "tx_pkts",
	[FALCON_A_COUNTER_TX_BYTES]	= "tx_bytes",
	[FALCON_A_COUNTER_RX_PKTS]	= "rx_pkts",
	[FALCON_A_COUNTER_RX_BYTES]	= "rx_bytes",
	[FALCON_A_COUNTER_TX_ACKS]	= "tx_acks",
	[FALCON_A_COUNTER_TX_EACKS]	= "tx_eacks",
	[FALCON_A_COUNTER_TX_NACKS]	= "tx_nacks",
	[FALCON_A_COUNTER_RX_ACKS]	= "rx_acks",
	[FALCON_A_COUNTER_RX_EACKS]	= "rx_eacks",
	[FALCON_A_COUNTER_RX_NACKS]	= "rx_nacks",
	[FALCON_A_COUNTER_TX_RESYNCS]	= "tx_resyncs",
	[FALCON_A_COUNTER_RX_RESYNCS]	= "rx_resyncs",
	[FALCON_A_COUNTER_RETX_OOO]	= "retx_ooo",
	[FALCON_A_COUNTER_RETX_OWN]	= "retx_own",
	[FALCON_A_COUNTER_RETX_RACK]	= "retx_rack",
	[FALCON_A_COUNTER_RETX_TLP]	= "retx_tlp",
	[FALCON_A_COUNTER_RETX_RTO]	= "retx_rto",
	[FALCON_A_COUNTER_RETX_RNR]	= "retx_rnr",
	[FALCON_A_COUNTER_SPURIOUS]	= "spurious",
	[FALCON_A_COUNTER_RX_DUP]	= "rx_dup",
	[FALCON_A_COUNTER_RX_OUT_OF_WINDOW]	= "rx_out_of_window",
	[FALCON_A_COUNTER_RX_NO_RESOURCE]	= "rx_no_resource",
	[FALCON_A_COUNTER_RX_BAD_ACK]	= "rx_bad_ack",
	[FALCON_A_COUNTER_RX_BAD_PKT]	= "rx_bad_pkt",
	[FALCON_A_COUNTER_RTT_SAMPLES]	= "rtt_samples",
	[FALCON_A_COUNTER_RELABELS]	= "relabels",
};

static const char *name_of(const struct names *names, u32 i)
{
	static char number[16];

	if (i < MAX_NAMES && names->name[i])
		return names->name[i];
	snprintf(number, sizeof(number), "%u", i);
	return number;
}

static const char *sock_type(u32 service)
{
	return service & FALCON_NL_SERVICE_SEQPACKET ? "seqpacket" : "stream";
}

static const char *addr_str(const struct nlattr *attr, char *buf, size_t len)
{
	int family = AF_INET6;

	buf[0] = '\0';
	if (!attr)
		return buf;
	if (mnl_attr_get_payload_len(attr) == sizeof(struct in_addr))
		family = AF_INET;
	inet_ntop(family, mnl_attr_get_payload(attr), buf, len);
	return buf;
}

static const char *port_str(u32 proto, u32 service)
{
	static char buf[32];
	struct servent *se = NULL;

	if (proto == PROTO_SOCK) {
		service &= FALCON_NL_SERVICE_PORT;
		if (!opt.numeric)
			se = getservbyport(htons(service), "tcp");
	}
	if (se)
		return se->s_name;
	snprintf(buf, sizeof(buf), "%u", service);
	return buf;
}

static void endpoint(char *out, size_t len, const struct nlattr *addr,
		     u32 proto, const struct nlattr *service)
{
	char buf[INET6_ADDRSTRLEN];

	addr_str(addr, buf, sizeof(buf));
	snprintf(out, len, strchr(buf, ':') ? "[%s]:%s" : "%s:%s", buf,
		 port_str(proto, nl_u32(service)));
}

static unsigned long long retransmissions(const struct nlattr * const *c)
{
	unsigned long long sum = 0;
	unsigned int i;

	for (i = FALCON_A_COUNTER_RETX_OOO; i <= FALCON_A_COUNTER_RETX_RNR; i++)
		sum += nl_u64(c[i]);
	return sum;
}

static void loss_str(char *out, size_t len, u32 loss)
{
	unsigned int i;

	snprintf(out, len, "rto");
	for (i = 0; i < ARRAY_SIZE(loss_names); i++)
		if (loss & (1U << i))
			snprintf(out + strlen(out), len - strlen(out), ",%s",
				 loss_names[i]);
}

/* Text: a column a figure, and its unit with it. */
void conn_print_header(void)
{
	if (!opt.json)
		printf("%-11s %-4s %-28s %-28s %-8s %9s %9s %5s %6s %7s %s\n",
		       "State", "ULP", "Local Address:Port",
		       "Peer Address:Port", "CID", "RTT us", "fcwnd", "ncwnd",
		       "unackd", "retx",
		       "Cipher");
}

static void text_flow(const struct nlattr *nest)
{
	const struct nlattr *f[FALCON_A_FLOW_MAX + 1];

	nl_parse_nested(nest, f, FALCON_A_FLOW_MAX);
	printf("\tflow %u label %#x sport %u fcwnd %.3f unacked %u",
	       nl_u32(f[FALCON_A_FLOW_INDEX]), nl_u32(f[FALCON_A_FLOW_LABEL]),
	       nl_u32(f[FALCON_A_FLOW_SPORT]),
	       nl_u32(f[FALCON_A_FLOW_FCWND_MILLI]) / 1e3,
	       nl_u32(f[FALCON_A_FLOW_UNACKED]));
	printf(" delay %.1fus min_delay %.1fus target %.1fus gap %.1fus\n",
	       nl_u64(f[FALCON_A_FLOW_DELAY_NS]) / 1e3,
	       nl_u64(f[FALCON_A_FLOW_MIN_DELAY_NS]) / 1e3,
	       nl_u64(f[FALCON_A_FLOW_TARGET_NS]) / 1e3,
	       nl_u64(f[FALCON_A_FLOW_GAP_NS]) / 1e3);
}

static void text_details(const struct nlmsghdr *nlh,
			 const struct nlattr * const *a)
{
	const struct nlattr *attr;
	char loss[32];

	loss_str(loss, sizeof(loss), nl_u32(a[FALCON_A_CONN_LOSS]));
	printf("\t%s peer_cid %#x mtu %u nic %s fae %s loss %s",
	       a[FALCON_A_CONN_ORDERED] ? "ordered" : "unordered",
	       nl_u32(a[FALCON_A_CONN_PEER_CID]),
	       nl_u32(a[FALCON_A_CONN_MTU]), nl_str(a[FALCON_A_CONN_NIC]),
	       nl_str(a[FALCON_A_CONN_FAE]), loss);
	printf(" rto %.0fus uid %u age %.1fs",
	       nl_u64(a[FALCON_A_CONN_RTO_NS]) / 1e3,
	       nl_u32(a[FALCON_A_CONN_UID]),
	       nl_u64(a[FALCON_A_CONN_AGE_MS]) / 1e3);
	if (a[FALCON_A_CONN_IFINDEX])
		printf(" ifindex %u", nl_u32(a[FALCON_A_CONN_IFINDEX]));
	if (a[FALCON_A_CONN_MARK])
		printf(" mark %#x", nl_u32(a[FALCON_A_CONN_MARK]));
	printf("\n\ttx req %u..%u data %u..%u rx req %u data %u\n",
	       nl_u32(a[FALCON_A_CONN_TX_REQ_BASE]),
	       nl_u32(a[FALCON_A_CONN_TX_REQ_NEXT]),
	       nl_u32(a[FALCON_A_CONN_TX_DATA_BASE]),
	       nl_u32(a[FALCON_A_CONN_TX_DATA_NEXT]),
	       nl_u32(a[FALCON_A_CONN_RX_REQ_BASE]),
	       nl_u32(a[FALCON_A_CONN_RX_DATA_BASE]));
	mnl_attr_for_each(attr, nlh, MNL_ALIGN(4))
		if (mnl_attr_get_type(attr) == FALCON_A_CONN_FLOW)
			text_flow(attr);
}

static void text_counters(const struct nlattr * const *c)
{
	const char *sep = "\t";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counter_names); i++) {
		if (!counter_names[i] || !nl_u64(c[i]))
			continue;
		printf("%s%s %llu", sep, counter_names[i], nl_u64(c[i]));
		sep = " ";
	}
	if (*sep == ' ')
		putchar('\n');
}

static void text_conn(const struct nlmsghdr *nlh,
		      const struct nlattr * const *a,
		      const struct nlattr * const *c)
{
	u32 proto = nl_u32(a[FALCON_A_CONN_PROTO]);
	char local[64], peer[64];

	endpoint(local, sizeof(local), a[FALCON_A_CONN_SADDR], proto,
		 a[FALCON_A_CONN_SERVICE]);
	endpoint(peer, sizeof(peer), a[FALCON_A_CONN_DADDR], proto,
		 a[FALCON_A_CONN_PEER_SERVICE]);
	if (a[FALCON_A_CONN_EVENT])
		printf("%-11s ", name_of(&events,
					 nl_u32(a[FALCON_A_CONN_EVENT])));
	else
		printf("%-11s ", name_of(&states,
					 nl_u32(a[FALCON_A_CONN_STATE])));
	printf("%-4s %-28s %-28s %#-8x %9.1f %9.3f %5u %6u %7llu %s",
	       name_of(&protos, proto), local, peer,
	       nl_u32(a[FALCON_A_CONN_CID]),
	       nl_u64(a[FALCON_A_CONN_RTT_NS]) / 1e3,
	       nl_u32(a[FALCON_A_CONN_FCWND_MILLI]) / 1e3,
	       nl_u32(a[FALCON_A_CONN_NCWND]),
	       nl_u32(a[FALCON_A_CONN_UNACKED]), retransmissions(c),
	       cipher_name(nl_u32(a[FALCON_A_CONN_PSP_VERSION])));
	/* "none" says both. */
	if (nl_u32(a[FALCON_A_CONN_SECURITY]) != FALCON_SECURITY_NONE)
		printf(" %s", policy_name(nl_u32(a[FALCON_A_CONN_SECURITY])));
	if (a[FALCON_A_CONN_ERROR])
		printf(" (%s)", strerror(nl_u32(a[FALCON_A_CONN_ERROR])));
	putchar('\n');
	if (opt.details)
		text_details(nlh, a);
	if (opt.stats)
		text_counters(c);
}

static void json_flow(const struct nlattr *nest)
{
	const struct nlattr *f[FALCON_A_FLOW_MAX + 1];

	nl_parse_nested(nest, f, FALCON_A_FLOW_MAX);
	json_open(NULL, '{');
	json_u64("index", nl_u32(f[FALCON_A_FLOW_INDEX]));
	json_u64("label", nl_u32(f[FALCON_A_FLOW_LABEL]));
	json_u64("sport", nl_u32(f[FALCON_A_FLOW_SPORT]));
	json_u64("fcwnd_milli", nl_u32(f[FALCON_A_FLOW_FCWND_MILLI]));
	json_u64("unacked", nl_u32(f[FALCON_A_FLOW_UNACKED]));
	json_u64("delay_ns", nl_u64(f[FALCON_A_FLOW_DELAY_NS]));
	json_u64("min_delay_ns", nl_u64(f[FALCON_A_FLOW_MIN_DELAY_NS]));
	json_u64("target_ns", nl_u64(f[FALCON_A_FLOW_TARGET_NS]));
	json_u64("gap_ns", nl_u64(f[FALCON_A_FLOW_GAP_NS]));
	json_close();
}

static void json_identity(const struct nlattr * const *a)
{
	u32 proto = nl_u32(a[FALCON_A_CONN_PROTO]);
	u32 service = nl_u32(a[FALCON_A_CONN_SERVICE]);
	u32 peer_service = nl_u32(a[FALCON_A_CONN_PEER_SERVICE]);
	char buf[INET6_ADDRSTRLEN];

	if (a[FALCON_A_CONN_EVENT])
		json_str("event", name_of(&events,
					  nl_u32(a[FALCON_A_CONN_EVENT])));
	json_u64("cid", nl_u32(a[FALCON_A_CONN_CID]));
	json_u64("peer_cid", nl_u32(a[FALCON_A_CONN_PEER_CID]));
	json_str("state", name_of(&states, nl_u32(a[FALCON_A_CONN_STATE])));
	if (a[FALCON_A_CONN_ERROR]) {
		json_u64("errno", nl_u32(a[FALCON_A_CONN_ERROR]));
		json_str("error", strerror(nl_u32(a[FALCON_A_CONN_ERROR])));
	}
	json_str("ulp", name_of(&protos, proto));
	json_str("saddr", addr_str(a[FALCON_A_CONN_SADDR], buf, sizeof(buf)));
	json_str("daddr", addr_str(a[FALCON_A_CONN_DADDR], buf, sizeof(buf)));
	if (proto == PROTO_SOCK) {
		json_str("type", sock_type(service | peer_service));
		service &= FALCON_NL_SERVICE_PORT;
		peer_service &= FALCON_NL_SERVICE_PORT;
	}
	json_u64("sport", service);
	json_u64("dport", peer_service);
	if (a[FALCON_A_CONN_IFINDEX])
		json_u64("ifindex", nl_u32(a[FALCON_A_CONN_IFINDEX]));
	if (a[FALCON_A_CONN_MARK])
		json_u64("mark", nl_u32(a[FALCON_A_CONN_MARK]));
	json_u64("uid", nl_u32(a[FALCON_A_CONN_UID]));
}

static void json_keys(const struct nlattr * const *a)
{
	if (!a[FALCON_A_CONN_RX_SPI])
		return;
	json_u64("rx_spi", nl_u32(a[FALCON_A_CONN_RX_SPI]));
	if (a[FALCON_A_CONN_RX_PREV_SPI])
		json_u64("rx_prev_spi", nl_u32(a[FALCON_A_CONN_RX_PREV_SPI]));
	json_u64("rx_gen", nl_u32(a[FALCON_A_CONN_RX_GEN]));
	json_u64("tx_spi", nl_u32(a[FALCON_A_CONN_TX_SPI]));
}

static void json_state(const struct nlattr * const *a)
{
	char loss[32];

	loss_str(loss, sizeof(loss), nl_u32(a[FALCON_A_CONN_LOSS]));
	json_bool("ordered", a[FALCON_A_CONN_ORDERED]);
	json_u64("psp_version", nl_u32(a[FALCON_A_CONN_PSP_VERSION]));
	json_str("cipher", cipher_name(nl_u32(a[FALCON_A_CONN_PSP_VERSION])));
	json_str("security", policy_name(nl_u32(a[FALCON_A_CONN_SECURITY])));
	json_keys(a);
	json_u64("mtu", nl_u32(a[FALCON_A_CONN_MTU]));
	json_str("fae", nl_str(a[FALCON_A_CONN_FAE]));
	json_str("nic", nl_str(a[FALCON_A_CONN_NIC]));
	json_str("loss", loss);
	json_u64("age_ms", nl_u64(a[FALCON_A_CONN_AGE_MS]));
	json_u64("rtt_ns", nl_u64(a[FALCON_A_CONN_RTT_NS]));
	json_u64("rto_ns", nl_u64(a[FALCON_A_CONN_RTO_NS]));
	json_u64("fcwnd_milli", nl_u32(a[FALCON_A_CONN_FCWND_MILLI]));
	json_u64("ncwnd", nl_u32(a[FALCON_A_CONN_NCWND]));
	json_u64("unacked", nl_u32(a[FALCON_A_CONN_UNACKED]));
	json_u64("tx_req_base", nl_u32(a[FALCON_A_CONN_TX_REQ_BASE]));
	json_u64("tx_req_next", nl_u32(a[FALCON_A_CONN_TX_REQ_NEXT]));
	json_u64("tx_data_base", nl_u32(a[FALCON_A_CONN_TX_DATA_BASE]));
	json_u64("tx_data_next", nl_u32(a[FALCON_A_CONN_TX_DATA_NEXT]));
	json_u64("rx_req_base", nl_u32(a[FALCON_A_CONN_RX_REQ_BASE]));
	json_u64("rx_data_base", nl_u32(a[FALCON_A_CONN_RX_DATA_BASE]));
}

static void json_conn(const struct nlmsghdr *nlh,
		      const struct nlattr * const *a,
		      const struct nlattr * const *c)
{
	const struct nlattr *attr;
	unsigned int i;

	json_open(NULL, '{');
	json_identity(a);
	json_state(a);
	json_u64("retx", retransmissions(c));
	json_open("flows", '[');
	mnl_attr_for_each(attr, nlh, MNL_ALIGN(4))
		if (mnl_attr_get_type(attr) == FALCON_A_CONN_FLOW)
			json_flow(attr);
	json_close();
	json_open("counters", '{');
	for (i = 0; i < ARRAY_SIZE(counter_names); i++)
		if (counter_names[i])
			json_u64(counter_names[i], nl_u64(c[i]));
	json_close();
	json_close();
}

void conn_print(const struct nlmsghdr *nlh)
{
	const struct nlattr *c[FALCON_A_COUNTER_MAX + 1] = { NULL };
	const struct nlattr *a[FALCON_A_CONN_MAX + 1];

	nl_parse(nlh, a, FALCON_A_CONN_MAX);
	if (a[FALCON_A_CONN_COUNTERS])
		nl_parse_nested(a[FALCON_A_CONN_COUNTERS], c,
				FALCON_A_COUNTER_MAX);
	if (opt.json)
		json_conn(nlh, a, c);
	else
		text_conn(nlh, a, c);
}

static int show_one(const struct nlmsghdr *nlh, void *data)
{
	(void)data;
	conn_print(nlh);
	return MNL_CB_OK;
}

/* ADDR, ADDR/LEN, ADDR:PORT, [ADDR6]:PORT or :PORT */
struct where {
	unsigned char addr[16];
	size_t addr_len;
	int prefix;		/* -1: the whole address */
	int port;		/* -1: any */
};

static void parse_where(struct where *w, const char *what, const char *arg)
{
	char buf[128], *port = NULL, *slash, *addr = buf, *end;

	w->prefix = -1;
	w->port = -1;
	w->addr_len = 0;
	if (strlen(arg) >= sizeof(buf))
		usage_error("%s: \"%s\" is too long", what, arg);
	strcpy(buf, arg);
	if (buf[0] == '[') {
		addr++;
		end = strchr(addr, ']');
		if (!end)
			usage_error("%s: \"%s\" lacks a ]", what, arg);
		*end = '\0';
		if (end[1] == ':')
			port = end + 2;
	} else if (strchr(buf, ':') == strrchr(buf, ':') && strchr(buf, ':')) {
		port = strchr(buf, ':');
		*port++ = '\0';
	}
	if (port && *port && strcmp(port, "*"))
		w->port = parse_u32(what, port, 65535);
	slash = strchr(addr, '/');
	if (slash) {
		*slash = '\0';
		w->prefix = parse_u32(what, slash + 1, 128);
	}
	if (!*addr || !strcmp(addr, "*"))
		return;
	if (inet_pton(AF_INET, addr, w->addr) == 1)
		w->addr_len = 4;
	else if (inet_pton(AF_INET6, addr, w->addr) == 1)
		w->addr_len = 16;
	else
		usage_error("%s: \"%s\" is not an address", what, arg);
}

static u32 parse_states(const char *arg)
{
	char buf[128], *word, *save = NULL;
	u32 mask = 0;
	unsigned int i;

	if (strlen(arg) >= sizeof(buf))
		usage_error("state: \"%s\" is too long", arg);
	strcpy(buf, arg);
	for (word = strtok_r(buf, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < NR_STATES; i++)
			if (matches(word, states.name[i]))
				break;
		if (!strcmp(word, "all"))
			mask = (1U << NR_STATES) - 1;
		else if (i == NR_STATES)
			usage_error("\"%s\" is not a state", word);
		else
			mask |= 1U << i;
	}
	return mask;
}

static void put_where(struct nlmsghdr *nlh, const struct where *w, int attr)
{
	int len_attr = attr == FALCON_A_CONN_SADDR ? FALCON_A_CONN_SADDR_LEN :
						     FALCON_A_CONN_DADDR_LEN;

	if (w->addr_len)
		mnl_attr_put(nlh, attr, w->addr_len, w->addr);
	if (w->prefix >= 0)
		mnl_attr_put_u8(nlh, len_attr, w->prefix);
}

struct ports {
	int sport;
	int dport;
};

/* Ports are those of sockets of either type: looked at here. */
struct selection {
	struct ports ports;
	bool some;		/* a filter, or "all", was given */
	bool all;
	mnl_cb_t cb;
};

static bool port_matches(const struct nlattr * const *a, int attr, int port)
{
	u32 service = nl_u32(a[attr]);

	if (port < 0)
		return true;
	if (nl_u32(a[FALCON_A_CONN_PROTO]) == PROTO_SOCK)
		service &= FALCON_NL_SERVICE_PORT;
	return service == (u32)port;
}

static int select_one(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *a[FALCON_A_CONN_MAX + 1];
	struct selection *sel = data;

	nl_parse(nlh, a, FALCON_A_CONN_MAX);
	if (!port_matches(a, FALCON_A_CONN_SERVICE, sel->ports.sport) ||
	    !port_matches(a, FALCON_A_CONN_PEER_SERVICE, sel->ports.dport))
		return MNL_CB_OK;
	return sel->cb(nlh, NULL);
}

static u32 parse_port(const char *what, const char *arg)
{
	struct servent *se = getservbyname(arg, "tcp");

	return se ? ntohs(se->s_port) : parse_u32(what, arg, CID_MAX);
}

static u8 parse_proto(const char *arg)
{
	unsigned int i;

	for (i = 0; i < MAX_NAMES; i++)
		if (protos.name[i] && !strcmp(arg, protos.name[i]))
			return i;
	return parse_u32("ulp", arg, 7);
}

static void parse_filter(struct nlmsghdr *nlh, struct selection *sel, int argc,
			 char **argv)
{
	struct where w;

	sel->ports.sport = -1;
	sel->ports.dport = -1;
	if (opt.family)
		mnl_attr_put_u8(nlh, FALCON_A_CONN_FAMILY, opt.family);
	for (; argc > 0; argc -= 2, argv += 2) {
		const char *key = argv[0], *arg = argv[1];

		sel->some = true;
		if (!strcmp(key, "all")) {
			sel->all = true;
			argc++, argv--;
			continue;
		}
		if (argc < 2)
			usage_error("\"%s\" needs an argument", key);
		if (!strcmp(key, "cid")) {
			mnl_attr_put_u32(nlh, FALCON_A_CONN_CID,
					 parse_u32("cid", arg, CID_MAX));
		} else if (!strcmp(key, "state")) {
			mnl_attr_put_u32(nlh, FALCON_A_CONN_STATES,
					 parse_states(arg));
		} else if (!strcmp(key, "ulp")) {
			mnl_attr_put_u8(nlh, FALCON_A_CONN_PROTO,
					parse_proto(arg));
		} else if (!strcmp(key, "src")) {
			parse_where(&w, "src", arg);
			put_where(nlh, &w, FALCON_A_CONN_SADDR);
			if (w.port >= 0)
				sel->ports.sport = w.port;
		} else if (!strcmp(key, "dst")) {
			parse_where(&w, "dst", arg);
			put_where(nlh, &w, FALCON_A_CONN_DADDR);
			if (w.port >= 0)
				sel->ports.dport = w.port;
		} else if (!strcmp(key, "sport")) {
			sel->ports.sport = parse_port("sport", arg);
		} else if (!strcmp(key, "dport")) {
			sel->ports.dport = parse_port("dport", arg);
		} else {
			usage_error("\"%s\" is not a filter", key);
		}
	}
}

static int conn_show(int argc, char **argv)
{
	struct selection sel = { .cb = show_one };
	struct nl_request req;
	int err;

	nl_begin(&req, FALCON_CMD_CONN_GET, true);
	parse_filter(req.nlh, &sel, argc, argv);
	conn_print_header();
	if (opt.json)
		json_open(NULL, '[');
	err = nl_talk(&req, select_one, &sel);
	if (opt.json)
		json_close();
	return err ? EXIT_KERNEL : 0;
}

/* Connections to kill: a dump is over before the first of them is. */
static struct {
	struct nlmsghdr **conn;
	size_t n;
} doomed;

static int doom_one(const struct nlmsghdr *nlh, void *data)
{
	struct nlmsghdr **more;

	(void)data;
	more = realloc(doomed.conn, (doomed.n + 1) * sizeof(*more));
	if (!more)
		return MNL_CB_ERROR;
	doomed.conn = more;
	more[doomed.n] = malloc(nlh->nlmsg_len);
	if (!more[doomed.n])
		return MNL_CB_ERROR;
	memcpy(more[doomed.n++], nlh, nlh->nlmsg_len);
	return MNL_CB_OK;
}

/* Prints what was killed; what ended by itself meanwhile was not. */
static int kill_one(const struct nlmsghdr *nlh)
{
	const struct nlattr *a[FALCON_A_CONN_MAX + 1];
	struct nl_request req;
	int err;

	nl_parse(nlh, a, FALCON_A_CONN_MAX);
	nl_begin(&req, FALCON_CMD_CONN_KILL, false);
	mnl_attr_put_u32(req.nlh, FALCON_A_CONN_CID,
			 nl_u32(a[FALCON_A_CONN_CID]));
	req.expected = ENOENT;
	err = nl_talk(&req, NULL, NULL);
	if (!err)
		conn_print(nlh);
	return err == -ENOENT ? 0 : err;
}

static int conn_kill(int argc, char **argv)
{
	struct selection sel = { .cb = doom_one };
	struct nl_request req;
	int ret = 0;
	size_t i;

	nl_begin(&req, FALCON_CMD_CONN_GET, true);
	parse_filter(req.nlh, &sel, argc, argv);
	if (!sel.some)
		usage_error("kill what? Give a filter, or \"all\"");
	if (nl_talk(&req, select_one, &sel))
		return EXIT_KERNEL;
	if (!doomed.n && !sel.all) {
		fputs("falcon: no such connection\n", stderr);
		ret = EXIT_KERNEL;
	}
	conn_print_header();
	if (opt.json)
		json_open(NULL, '[');
	for (i = 0; i < doomed.n; i++) {
		if (kill_one(doomed.conn[i]))
			ret = EXIT_KERNEL;
		free(doomed.conn[i]);
	}
	if (opt.json)
		json_close();
	free(doomed.conn);
	return ret;
}

int do_conn(int argc, char **argv)
{
	if (!argc || matches(argv[0], "show") || matches(argv[0], "list"))
		return conn_show(argc - !!argc, argv + !!argc);
	if (matches(argv[0], "kill"))
		return conn_kill(argc - 1, argv + 1);
	return conn_show(argc, argv);
}
