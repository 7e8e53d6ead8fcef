// SPDX-License-Identifier: GPL-2.0
/*
 * A device that goes while its user works and waits: both kinds of event end
 * their readers' wait, all that was posted is flushed, nothing more is taken, and
 * what was made can be destroyed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include "verbs.h"

#define PATIENCE	60	/* seconds */
#define REQUESTS	5

static void *wait_for_async_event(void *fatal)
{
	struct ibv_async_event event;

	*(bool *)fatal = false;
	while (!*(bool *)fatal && !ibv_get_async_event(vctx, &event)) {
		*(bool *)fatal = event.event_type == IBV_EVENT_DEVICE_FATAL;
		ibv_ack_async_event(&event);
	}
	return NULL;
}

/* Of completion queues that have nothing to tell */
static void *wait_for_cq_event(void *arg)
{
	struct ibv_comp_channel *channel = arg;
	struct ibv_cq *cq;
	void *context;

	return ibv_get_cq_event(channel, &cq, &context) ? arg : NULL;
}

static bool joined(pthread_t thread, void **result)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE;
	return !pthread_timedjoin_np(thread, result, &end);
}

/* Sends that find no receive request at @b, and receive requests of @a */
static bool post_all(struct vqp *a, uint64_t id)
{
	struct ibv_send_wr *bad, send = {
		.wr_id = id, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_recv_wr *bad_recv, recv = { .wr_id = id };

	return !ibv_post_send(a->qp, &send, &bad) &&
	       !ibv_post_recv(a->qp, &recv, &bad_recv);
}

static bool all_flushed(struct vqp *a)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 2 * REQUESTS; i++) {
		CHECK(vqp_poll(a->cq, &wc, PATIENCE) == 1);
		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
	}
	CHECK(!ibv_poll_cq(a->cq, 1, &wc));
	return true;
}

static bool ends_with_the_device(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(vctx);
	struct ibv_cq *idle = ibv_create_cq(vctx, 1, NULL, channel, 0);
	pthread_t async, completion;
	bool fatal = false;
	struct vqp a, b;
	void *failed;
	int i;

	CHECK(idle && !ibv_req_notify_cq(idle, 0));
	CHECK(vqp_open(&a, IBV_QPT_RC, 4096) && vqp_open(&b, IBV_QPT_RC, 4096));
	CHECK(vqp_connect(&a, &b));
	for (i = 0; i < REQUESTS; i++)
		CHECK(post_all(&a, i));
	CHECK(!pthread_create(&async, NULL, wait_for_async_event, &fatal));
	CHECK(!pthread_create(&completion, NULL, wait_for_cq_event, channel));
	printf("ready\n");
	fflush(stdout);
	CHECK(joined(async, NULL) && fatal);
	CHECK(joined(completion, &failed) && failed);
	CHECK(all_flushed(&a));
	CHECK(!post_all(&a, 0));
	vqp_close(&a);
	vqp_close(&b);
	CHECK(!ibv_destroy_cq(idle) && !ibv_destroy_comp_channel(channel));
	CHECK(!ibv_dealloc_pd(vpd) && !ibv_close_device(vctx));
	return true;
}

int removed_main(void)
{
	return ends_with_the_device() ? 0 : 1;
}
