/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of e2100sim: what a test counts for itself. e2100_ctx is each
 * look-up of a context, in the order in which the cache saw them; e2100_depart
 * each departure of a paced packet; e2100_drop each packet or train that waited
 * and does not depart. dev is the number on the bus.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM e2100sim

#if !defined(_E2100_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _E2100_TRACE_H

#include <linux/tracepoint.h>

#ifndef E2100_CTX_TX
#define E2100_CTX_TX	0	/* a packet is transmitted */
#define E2100_CTX_RX	1	/* one arrives */
#define E2100_CTX_DEL	2	/* a context that was at hand goes */
#endif

#ifndef E2100_DROP_ALL
#define E2100_DROP_ALL	0	/* the port is reset, goes down or away */
#define E2100_DROP_MOVED 1	/* its connection is on another NIC */
#endif

TRACE_EVENT(e2100_ctx,
	TP_PROTO(u32 dev, u32 fn, u32 cid, u8 dir),
	TP_ARGS(dev, fn, cid, dir),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, fn)
		__field(u32, cid)
		__field(u8, dir)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->fn = fn;
		__entry->cid = cid;
		__entry->dir = dir;
	),
	TP_printk("dev=%u fn=%06x cid=%06x %s", __entry->dev,
		  __entry->fn, __entry->cid,
		  __print_symbolic(__entry->dir, { E2100_CTX_TX, "tx" },
				   { E2100_CTX_RX, "rx" },
				   { E2100_CTX_DEL, "del" }))
);

TRACE_EVENT(e2100_depart,
	TP_PROTO(u32 dev, u64 due_ns, u64 now_ns),
	TP_ARGS(dev, due_ns, now_ns),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u64, due_ns)
		__field(u64, now_ns)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->due_ns = due_ns;
		__entry->now_ns = now_ns;
	),
	TP_printk("dev=%u due_ns=%llu late_ns=%lld", __entry->dev,
		  __entry->due_ns, (s64)(__entry->now_ns - __entry->due_ns))
);

TRACE_EVENT(e2100_drop,
	TP_PROTO(u32 dev, u8 why),
	TP_ARGS(dev, why),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u8, why)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->why = why;
	),
	TP_printk("dev=%u %s", __entry->dev,
		  __print_symbolic(__entry->why, { E2100_DROP_ALL, "all" },
				   { E2100_DROP_MOVED, "moved" }))
);

#endif /* _E2100_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
