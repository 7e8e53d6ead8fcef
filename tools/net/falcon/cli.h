/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the `falcon` command share: the options, requests over
 * generic netlink (nl.c), JSON (json.c), and one function an object.
 *
 * Exit status as iproute2's: 0, 1 a mistake on the command line, 2 the kernel
 * refused.
 */
#ifndef FALCON_CLI_H
#define FALCON_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <libmnl/libmnl.h>
#include <linux/falcon_netlink.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;

#define EXIT_USAGE	1
#define EXIT_KERNEL	2

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct options {
	bool json;
	bool pretty;
	bool numeric;
	bool details;
	bool stats;
	bool timestamp;
	int family;		/* AF_UNSPEC: both */
};

extern struct options opt;

#define __printf(a, b)	__attribute__((format(printf, a, b)))
#define __noreturn	__attribute__((noreturn))

__noreturn __printf(1, 2) void usage_error(const char *fmt, ...);

/* A prefix of @word is as good as the word. */
bool matches(const char *arg, const char *word);
u32 parse_u32(const char *what, const char *arg, u32 max);

/* nl.c */
struct nl_request {
	char buf[1024];
	struct nlmsghdr *nlh;
	int expected;		/* an errno that is nothing to complain of */
};

void nl_open(void);
void nl_close(void);
void nl_begin(struct nl_request *req, u8 cmd, bool dump);
/* 0, or a negative errno after saying what the kernel said; @cb gets messages */
int nl_talk(struct nl_request *req, mnl_cb_t cb, void *data);
int nl_listen(mnl_cb_t cb, void *data);
void nl_parse(const struct nlmsghdr *nlh, const struct nlattr **attrs,
	      unsigned int max);
void nl_parse_nested(const struct nlattr *nest, const struct nlattr **attrs,
		     unsigned int max);
u32 nl_u32(const struct nlattr *attr);
unsigned long long nl_u64(const struct nlattr *attr);
const char *nl_str(const struct nlattr *attr);

/* json.c: a value goes to stdout as soon as it is known */
void json_open(const char *name, char bracket);
void json_close(void);
void json_str(const char *name, const char *value);
void json_u64(const char *name, unsigned long long value);
void json_i64(const char *name, long long value);
void json_bool(const char *name, bool value);
void json_end_line(void);

/* conn.c */
int do_conn(int argc, char **argv);
void conn_print(const struct nlmsghdr *nlh);
void conn_print_header(void);

/* key.c */
const char *cipher_name(u32 psp_version);
const char *policy_name(u32 security);
int do_key(int argc, char **argv);

int do_stat(int argc, char **argv);
int do_nic(int argc, char **argv);
int do_param(int argc, char **argv);
int do_monitor(int argc, char **argv);

#endif /* FALCON_CLI_H */
