/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_ATOMIC_H
#define _SHIM_LINUX_ATOMIC_H

#include <linux/types.h>

#define ATOMIC_INIT(i)		{ (i) }
#define ATOMIC64_INIT(i)	{ (i) }

#define shim_atomic(prefix, int_t)					\
static inline int_t prefix##_read(const prefix##_t *v)			\
{									\
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);		\
}									\
									\
static inline void prefix##_set(prefix##_t *v, int_t i)			\
{									\
	__atomic_store_n(&v->counter, i, __ATOMIC_RELAXED);		\
}									\
									\
static inline int_t prefix##_add_return(int_t i, prefix##_t *v)		\
{									\
	return __atomic_add_fetch(&v->counter, i, __ATOMIC_SEQ_CST);	\
}									\
									\
static inline int_t prefix##_sub_return(int_t i, prefix##_t *v)		\
{									\
	return __atomic_sub_fetch(&v->counter, i, __ATOMIC_SEQ_CST);	\
}									\
									\
static inline int_t prefix##_xchg(prefix##_t *v, int_t i)		\
{									\
	return __atomic_exchange_n(&v->counter, i, __ATOMIC_SEQ_CST);	\
}									\
									\
static inline int_t prefix##_cmpxchg(prefix##_t *v, int_t old, int_t i)	\
{									\
	__atomic_compare_exchange_n(&v->counter, &old, i, false,	\
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); \
	return old;							\
}									\
									\
static inline void prefix##_add(int_t i, prefix##_t *v)			\
{									\
	prefix##_add_return(i, v);					\
}									\
									\
static inline void prefix##_sub(int_t i, prefix##_t *v)			\
{									\
	prefix##_sub_return(i, v);					\
}									\
									\
static inline void prefix##_inc(prefix##_t *v)				\
{									\
	prefix##_add(1, v);						\
}									\
									\
static inline void prefix##_dec(prefix##_t *v)				\
{									\
	prefix##_sub(1, v);						\
}

shim_atomic(atomic, int)
shim_atomic(atomic64, s64)

#endif
