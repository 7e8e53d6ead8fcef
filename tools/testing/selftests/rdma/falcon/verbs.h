/* SPDX-License-Identifier: GPL-2.0 */
/*
 * falcon_verbs: tests of verbs objects from inside one process, in TAP.
 */
#ifndef VERBS_TEST_H
#define VERBS_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include "falcon_dv.h"

/* falcon_verbs.c */
extern struct ibv_context *vctx;
extern struct ibv_pd *vpd;
extern int vgid;

/* A test: true if what its name says holds. */
struct vtest {
	const char *name;
	bool (*run)(void);
};

int vtests_run(const struct vtest *tests, size_t n);
void vsay(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			vsay("line %d: %s", __LINE__, #cond);		\
			return false;					\
		}							\
	} while (0)

/* verbs_lib.c */

/* A queue pair with its own completion queue and memory. */
struct vqp {
	struct ibv_cq *cq;
	struct ibv_srq *srq;	/* if it shares one */
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *buf;
	size_t len;
	enum falcon_qp_order order;
	enum falcon_qp_errors errors;
};

#define VQP_DEPTH	32
#define VQP_QKEY	0x1234	/* of datagrams */

/* Of queue pairs that are made from now on; VQP_DEPTH */
extern unsigned int vqp_depth;

bool vqp_open(struct vqp *v, enum ibv_qp_type type, size_t len);
bool vqp_open_mode(struct vqp *v, enum ibv_qp_type type, size_t len,
		   enum falcon_qp_order order, enum falcon_qp_errors errors);
bool vqp_open_secure(struct vqp *v, size_t len, unsigned char security);
bool vqp_open_fae(struct vqp *v, enum ibv_qp_type type, const char *fae);
bool vqp_open_extended(struct vqp *v, size_t len, uint64_t ops,
		       uint64_t wc_flags);
void vqp_close(struct vqp *v);
bool vqp_use_cq(struct vqp *v, struct ibv_cq *cq);
bool vqp_use_srq(struct vqp *v, struct ibv_srq *srq);
int vqp_to_init(struct ibv_qp *qp);
int vqp_to_rtr(struct ibv_qp *qp, uint32_t peer);
int vqp_to_rts(struct ibv_qp *qp);
int vqp_to_rts_rnr(struct ibv_qp *qp, uint8_t rnr_retry);
int vqp_to_rts_again(struct ibv_qp *qp);
bool vah_back(struct ibv_ah_attr *attr);
bool vqp_ud_to_rts(struct ibv_qp *qp);
bool vqp_connect(struct vqp *a, struct vqp *b);
void *vdlsym(const char *name);
int vqp_poll(struct ibv_cq *cq, struct ibv_wc *wc, int seconds);
uint32_t vqp_bind(struct vqp *v, struct ibv_mw *mw);
long vcounter(const char *name);

/* verbs_objects.c, verbs_states.c, verbs_features.c, verbs_modes.c, ... */
int objects_main(void);
int states_main(void);
int features_main(void);
int modes_main(void);
int hostile_main(void);
int races_main(void);

/* verbs_datagrams.c */
int datagrams_main(const char *first, const char *n, const char *bytes);
int sources_main(const char *network, const char *to);
int flood_main(const char *silent, const char *other);

/* verbs_removed.c */
int removed_main(void);

#endif /* VERBS_TEST_H */
