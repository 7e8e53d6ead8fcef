// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that go while something comes for them, from another thread: a window
 * that is being bound, a queue pair that datagrams are on their way to. And a
 * queue pair whose own datagrams wait for two peers, and a word that all change.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "verbs.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define LEN		4096
#define PATIENCE	60	/* seconds */
#define BINDINGS	1000
#define RECEIVERS	50
#define GRH		40	/* bytes before a datagram */

#define ADDERS		2	/* queue pairs */
#define ADDITIONS	10000	/* of each */

static pthread_barrier_t barrier;
static struct ibv_mw *window;

/* Without giving up the processor, which takes longer */
static void spin(long us)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 +
		 (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

/*
 * How many microseconds the one comes after the other in a round, or before it:
 * somewhere in between they meet.
 */
static long lead(long round)
{
	return (round % 40 - 20) * 10;
}

static void *free_windows(void *arg)
{
	long i, failed = 0;

	(void)arg;
	for (i = 0; i < BINDINGS; i++) {
		pthread_barrier_wait(&barrier);
		spin(lead(i));
		failed += !!ibv_dealloc_mw(window);
		pthread_barrier_wait(&barrier);
	}
	return (void *)failed;
}

/* Binds @window, which may be gone: the request says so then. */
static bool bind_window(struct vqp *v, struct ibv_mr *mr, int round, int *bound)
{
	struct ibv_mw mw = *window;
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = &mw, .rkey = ibv_inc_rkey(mw.rkey),
			.bind_info = {
				.mr = mr, .addr = (uintptr_t)v->buf,
				.length = v->len,
				.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
			},
		},
	};
	struct ibv_wc wc;

	pthread_barrier_wait(&barrier);
	spin(-lead(round));
	CHECK(!ibv_post_send(v->qp, &wr, &bad));
	CHECK(vqp_poll(v->cq, &wc, PATIENCE) == 1);
	CHECK(!wc.status || wc.status == IBV_WC_MW_BIND_ERR);
	*bound += !wc.status;
	pthread_barrier_wait(&barrier);
	return true;
}

static bool window_that_is_freed_amid_its_binding_lets_go(void)
{
	struct ibv_mr *mr;
	pthread_t thread;
	int i, bound = 0;
	struct vqp a, b;
	void *failed;

	CHECK(vqp_open_mode(&a, IBV_QPT_RC, LEN, FALCON_QP_STRONG,
			    FALCON_QP_COMPLETE_IN_ERROR));
	CHECK(vqp_open_mode(&b, IBV_QPT_RC, LEN, FALCON_QP_STRONG,
			    FALCON_QP_COMPLETE_IN_ERROR));
	CHECK(vqp_connect(&a, &b));
	mr = ibv_reg_mr(vpd, a.buf, LEN, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_MW_BIND);
	CHECK(mr && !pthread_barrier_init(&barrier, NULL, 2));
	CHECK(!pthread_create(&thread, NULL, free_windows, NULL));
	for (i = 0; i < BINDINGS; i++) {
		window = ibv_alloc_mw(vpd, IBV_MW_TYPE_2);
		CHECK(window && bind_window(&a, mr, i, &bound));
	}
	CHECK(!pthread_join(thread, &failed) && !failed);
	vsay("%d of %d were bound before they went", bound, BINDINGS);
	CHECK(bound > 10 && bound < BINDINGS - 10);
	/* None of them holds it. */
	CHECK(!ibv_dereg_mr(mr));
	vqp_close(&a);
	vqp_close(&b);
	return true;
}

/* The queue pair that datagrams go to now; 0 ends the sender. */
static atomic_uint receiver;

static bool send_datagrams(struct vqp *v, struct ibv_ah *ah)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)v->buf, .length = 64, .lkey = v->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
		.wr.ud = { .ah = ah, .remote_qkey = VQP_QKEY },
	};
	struct ibv_wc wc;

	while ((wr.wr.ud.remote_qpn = receiver) != 0) {
		CHECK(!ibv_post_send(v->qp, &wr, &bad));
		CHECK(vqp_poll(v->cq, &wc, PATIENCE) == 1 && !wc.status);
	}
	return true;
}

static void *sender(void *ok)
{
	struct ibv_ah *ah = NULL;
	struct ibv_ah_attr attr;
	struct vqp v;

	if (vah_back(&attr))
		ah = ibv_create_ah(vpd, &attr);
	if (!ah || !vqp_open(&v, IBV_QPT_UD, LEN) || !vqp_ud_to_rts(v.qp))
		return NULL;
	*(bool *)ok = send_datagrams(&v, ah);
	ibv_destroy_ah(ah);
	vqp_close(&v);
	return NULL;
}

/* Takes what comes in @us microseconds, or the first within PATIENCE. */
static bool receive(int us, int *got)
{
	struct ibv_recv_wr *bad, wr = { .num_sge = 1 };
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vqp v;
	int i;

	CHECK(vqp_open(&v, IBV_QPT_UD, LEN) && vqp_ud_to_rts(v.qp));
	sge.addr = (uintptr_t)v.buf;
	sge.length = GRH + 64;
	sge.lkey = v.mr->lkey;
	wr.sg_list = &sge;
	for (i = 0; i < VQP_DEPTH; i++)
		CHECK(!ibv_post_recv(v.qp, &wr, &bad));
	receiver = v.qp->qp_num;
	if (us)
		usleep(us);
	while ((us ? ibv_poll_cq(v.cq, 1, &wc) :
		     vqp_poll(v.cq, &wc, PATIENCE)) == 1) {
		CHECK(!wc.status);
		++*got;
		if (!us)
			break;
	}
	vqp_close(&v);
	return true;
}

static bool queue_pair_may_go_amid_datagrams(void)
{
	bool sent = false;
	pthread_t thread;
	int i, got = 0;

	receiver = 1;
	CHECK(!pthread_create(&thread, NULL, sender, &sent));
	for (i = 0; i < RECEIVERS; i++)
		CHECK(receive(1000 * (i % 10 + 1), &got));
	vsay("%d datagrams came to %d receivers", got, RECEIVERS);
	CHECK(got > 0);
	got = 0;
	CHECK(receive(0, &got) && got == 1);
	receiver = 0;
	CHECK(!pthread_join(thread, NULL) && sent);
	return true;
}

/* The way to this very device by its link-local address, which is GID 0 */
static struct ibv_ah *other_way_back(void)
{
	struct ibv_ah_attr attr;

	if (!vah_back(&attr) || ibv_query_gid(vctx, 1, 0, &attr.grh.dgid))
		return NULL;
	attr.grh.sgid_index = 0;
	return ibv_create_ah(vpd, &attr);
}

/* One after the other by either way, so that no two leave together */
static bool post_alternating(struct vqp *v, struct ibv_ah **ways, int n)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	int i;

	wr.wr.ud.remote_qpn = 1;
	wr.wr.ud.remote_qkey = VQP_QKEY;
	for (i = 0; i < n; i++) {
		wr.wr.ud.ah = ways[i % 2];
		CHECK(!ibv_post_send(v->qp, &wr, &bad));
	}
	return true;
}

/* More than either may owe: acknowledgements wake the queue pair as it goes. */
static bool queue_pair_may_go_while_its_datagrams_wait(void)
{
	struct ibv_ah *ways[2] = { NULL, other_way_back() };
	struct ibv_ah_attr attr;
	struct vqp v;
	int i;

	CHECK(vah_back(&attr) && (ways[0] = ibv_create_ah(vpd, &attr)));
	CHECK(ways[1]);
	vqp_depth = 512;
	for (i = 0; i < RECEIVERS; i++) {
		CHECK(vqp_open(&v, IBV_QPT_UD, 8) && vqp_ud_to_rts(v.qp));
		CHECK(post_alternating(&v, ways, vqp_depth));
		usleep(100 * (i % 20));
		vqp_close(&v);
	}
	vqp_depth = VQP_DEPTH;
	CHECK(!ibv_destroy_ah(ways[0]) && !ibv_destroy_ah(ways[1]));
	return true;
}

/* Of one adder: its ends, and where it adds */
struct adder {
	struct vqp from, to;
	const struct vqp *sum;
	pthread_t thread;
	bool ok;
};

static bool add_one(struct adder *a)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)a->from.buf, .length = 8,
		.lkey = a->from.mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .sg_list = &sge,
		.num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = (uintptr_t)a->sum->buf,
			       .rkey = a->sum->mr->rkey, .compare_add = 1 },
	};

	CHECK(!ibv_post_send(a->from.qp, &wr, &bad));
	return true;
}

static void *add(void *arg)
{
	struct adder *a = arg;
	int posted = 0, done;
	struct ibv_wc wc;

	for (done = 0; done < ADDITIONS; done++) {
		for (; posted < ADDITIONS && posted - done < VQP_DEPTH; posted++)
			if (!add_one(a))
				return NULL;
		if (vqp_poll(a->from.cq, &wc, PATIENCE) != 1 || wc.status)
			return NULL;
	}
	a->ok = true;
	return NULL;
}

/* None is lost, of the peers' or of the host's own. */
static bool atomics_of_all_sum_up(void)
{
	struct adder a[ADDERS] = {};
	uint64_t *sum;
	struct vqp v;
	int i;

	CHECK(vqp_open(&v, IBV_QPT_RC, 8));
	sum = (uint64_t *)v.buf;
	for (i = 0; i < ADDERS; i++) {
		a[i].sum = &v;
		CHECK(vqp_open(&a[i].from, IBV_QPT_RC, 8) &&
		      vqp_open(&a[i].to, IBV_QPT_RC, 8) &&
		      vqp_connect(&a[i].from, &a[i].to));
	}
	for (i = 0; i < ADDERS; i++)
		CHECK(!pthread_create(&a[i].thread, NULL, add, &a[i]));
	for (i = 0; i < ADDITIONS; i++) {
		__atomic_fetch_add(sum, 1, __ATOMIC_RELAXED);
		spin(50);
	}
	for (i = 0; i < ADDERS; i++)
		CHECK(!pthread_join(a[i].thread, NULL) && a[i].ok);
	CHECK(__atomic_load_n(sum, __ATOMIC_ACQUIRE) ==
	      (uint64_t)(ADDERS + 1) * ADDITIONS);
	for (i = 0; i < ADDERS; i++) {
		vqp_close(&a[i].from);
		vqp_close(&a[i].to);
	}
	vqp_close(&v);
	return true;
}

int races_main(void)
{
#define T(name)	{ #name, name }
	static const struct vtest tests[] = {
		T(window_that_is_freed_amid_its_binding_lets_go),
		T(queue_pair_may_go_amid_datagrams),
		T(queue_pair_may_go_while_its_datagrams_wait),
		T(atomics_of_all_sum_up),
	};

	return vtests_run(tests, ARRAY_SIZE(tests));
}
