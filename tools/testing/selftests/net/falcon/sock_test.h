/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of falcon_sock_test share: the table of sub-tests, the checks
 * that end one, and what nearly every one needs: a listener, a connected pair,
 * bytes that can be told apart, a namespace of its own.
 *
 * A sub-test runs in a process and process group of its own, against a time
 * limit, and ends at the first check that does not hold.
 */
#ifndef SOCK_TEST_H
#define SOCK_TEST_H

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
#include <linux/falcon.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* sock_test::on - what a behaviour holds for */
#define ON_STREAM	0x01
#define ON_SEQPACKET	0x02
#define ON_BOTH		(ON_STREAM | ON_SEQPACKET)
#define ON_FALCON	0x04	/* Falcon alone: TCP and SCTP differ */
#define ON_NOT_SCTP	0x08	/* Falcon and TCP */
#define ON_IP6		0x10	/* needs an IPv6 run */
#define ON_LONG		0x20	/* minutes: only when asked for */

struct sock_test {
	const char *name;	/* the behaviour */
	void (*run)(void);
	unsigned int on;
};

extern const struct sock_test sock_setup_tests[];
extern const struct sock_test sock_io_tests[];
extern const struct sock_test sock_close_tests[];
extern const struct sock_test sock_poll_tests[];
extern const struct sock_test sock_memory_tests[];
extern const struct sock_test sock_option_tests[];

/* Whose end a socket is: with two namespaces given, where it is made. */
enum side {
	SERVER,
	CLIENT,
	NR_SIDES,
};

struct sock_params {
	int family;
	int type;		/* SOCK_*, as socket() takes it */
	int protocol;
	bool seqpacket;		/* messages, not bytes */
	int ns[NR_SIDES];	/* namespace of a side, or -1: the present one */
	const char *host;	/* the server's address */
};

extern struct sock_params params;

struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_storage ss;
	};
	socklen_t len;
};

/* Checks. Each ends the sub-test, from any thread or child of it. */
void check_at(const char *file, int line, bool holds, const char *what);
void check_eq_at(const char *file, int line, long long got, long long want,
		 const char *what);
void check_err_at(const char *file, int line, long ret, int want,
		  const char *what);
long ok_at(const char *file, int line, long ret, const char *what);
void skip(const char *why);

#define CHECK(cond)	check_at(__FILE__, __LINE__, cond, #cond)
#define CHECK_EQ(got, want) \
	check_eq_at(__FILE__, __LINE__, got, want, #got " == " #want)
/* The call fails with just this errno. */
#define CHECK_ERR(call, want) \
	do { \
		long ret_ = (call); \
		check_err_at(__FILE__, __LINE__, ret_, want, #call); \
	} while (0)
/*
 * At least so long since @start. A timer may end early, by as much as the ticks of
 * a busy emulated machine are late: half the time will do.
 */
#define CHECK_WAITED(start, ms)	CHECK(now_ms() - (start) >= (ms) / 2)
/* The call does not fail; its value is that of the macro. */
#define OK(call)	ok_at(__FILE__, __LINE__, call, #call)

bool is_falcon(void);
long long now_ms(void);
void sleep_ms(unsigned int ms);

int sock_new(enum side side);
int sock_new_as(enum side side, int family, int type);
void addr_server(struct addr *addr, int port);
void addr_any(struct addr *addr, int port);
void addr_name(int fd, struct addr *addr);
int addr_port(const struct addr *addr);
void addr_set_port(struct addr *addr, int port);
bool addr_same_host(const struct addr *a, const struct addr *b);
int sock_listen(struct addr *addr, int backlog);
int sock_connect(const struct addr *addr);
void sock_pair(int *client, int *server);
void sock_pair_buffers(int *client, int *server, int sndbuf, int rcvbuf);
int sock_error(int fd);
void set_nonblock(int fd, bool on);
void set_linger(int fd, bool on, int seconds);
void set_timeout(int fd, int optname, unsigned int ms);
int wait_for(int fd, short events, int timeout_ms);

__u8 pattern(unsigned int seed, __u64 offset);
void fill_pattern(void *buf, size_t len, unsigned int seed, __u64 offset);
void check_pattern(const void *buf, size_t len, unsigned int seed,
		   __u64 offset);
void send_pattern(int fd, size_t len, unsigned int seed, __u64 offset);
void recv_pattern(int fd, size_t len, unsigned int seed, __u64 offset);
size_t stuff(int fd, size_t chunk, unsigned int seed);
int write_until_error(int fd);
void recv_eof(int fd);

void fresh_net(void);
void write_sysctl(const char *name, const char *value);
pid_t spawn(void (*fn)(void *arg), void *arg);
void reap(pid_t pid);
void count_signal(int sig);
int signals_seen(void);

#endif /* SOCK_TEST_H */
