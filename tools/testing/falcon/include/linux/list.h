/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_LIST_H
#define _SHIM_LINUX_LIST_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/types.h>

/* Circular, doubly linked, as the kernel's; a removed node is poisoned. */
#define LIST_POISON1	((struct list_head *)0x100)
#define LIST_POISON2	((struct list_head *)0x122)

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l;
	l->prev = l;
}

static inline void shim_list_link(struct list_head *a, struct list_head *b)
{
	a->next = b;
	b->prev = a;
}

static inline void list_add(struct list_head *n, struct list_head *head)
{
	shim_list_link(n, head->next);
	shim_list_link(head, n);
}

static inline void list_add_tail(struct list_head *n, struct list_head *head)
{
	shim_list_link(head->prev, n);
	shim_list_link(n, head);
}

static inline void list_del(struct list_head *n)
{
	shim_list_link(n->prev, n->next);
	n->next = LIST_POISON1;
	n->prev = LIST_POISON2;
}

static inline void list_del_init(struct list_head *n)
{
	shim_list_link(n->prev, n->next);
	INIT_LIST_HEAD(n);
}

static inline void list_move(struct list_head *n, struct list_head *head)
{
	shim_list_link(n->prev, n->next);
	list_add(n, head);
}

static inline void list_move_tail(struct list_head *n, struct list_head *head)
{
	shim_list_link(n->prev, n->next);
	list_add_tail(n, head);
}

static inline void list_replace(struct list_head *old, struct list_head *n)
{
	shim_list_link(n, old->next);
	shim_list_link(old->prev, n);
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline bool list_is_singular(const struct list_head *head)
{
	return !list_empty(head) && head->next == head->prev;
}

static inline bool list_is_last(const struct list_head *n,
				const struct list_head *head)
{
	return n->next == head;
}

static inline bool list_is_first(const struct list_head *n,
				 const struct list_head *head)
{
	return n->prev == head;
}

static inline bool list_is_head(const struct list_head *n,
				const struct list_head *head)
{
	return n == head;
}

/* All of @l, which is not empty, between @a and @b */
static inline void shim_list_insert(struct list_head *l, struct list_head *a,
				    struct list_head *b)
{
	struct list_head *last = l->prev;

	shim_list_link(a, l->next);
	shim_list_link(last, b);
}

static inline void list_splice(struct list_head *l, struct list_head *head)
{
	if (!list_empty(l))
		shim_list_insert(l, head, head->next);
}

static inline void list_splice_tail(struct list_head *l,
				    struct list_head *head)
{
	if (!list_empty(l))
		shim_list_insert(l, head->prev, head);
}

static inline void list_splice_init(struct list_head *l,
				    struct list_head *head)
{
	list_splice(l, head);
	INIT_LIST_HEAD(l);
}

static inline void list_splice_tail_init(struct list_head *l,
					 struct list_head *head)
{
	list_splice_tail(l, head);
	INIT_LIST_HEAD(l);
}

#define list_entry(p, type, m)		container_of(p, type, m)
#define list_first_entry(h, type, m)	list_entry((h)->next, type, m)
#define list_last_entry(h, type, m)	list_entry((h)->prev, type, m)
#define list_first_entry_or_null(h, type, m) \
	(list_empty(h) ? NULL : list_first_entry(h, type, m))
#define list_next_entry(pos, m) \
	list_entry((pos)->m.next, __typeof__(*(pos)), m)
#define list_prev_entry(pos, m) \
	list_entry((pos)->m.prev, __typeof__(*(pos)), m)
#define list_entry_is_head(pos, h, m)	(&(pos)->m == (h))

#define list_for_each(pos, h) \
	for (pos = (h)->next; pos != (h); pos = pos->next)
#define list_for_each_safe(pos, n, h) \
	for (pos = (h)->next, n = pos->next; pos != (h); pos = n, n = n->next)
#define list_for_each_entry(pos, h, m)					\
	for (pos = list_first_entry(h, __typeof__(*pos), m);		\
	     !list_entry_is_head(pos, h, m); pos = list_next_entry(pos, m))
#define list_for_each_entry_continue(pos, h, m)				\
	for (pos = list_next_entry(pos, m);				\
	     !list_entry_is_head(pos, h, m); pos = list_next_entry(pos, m))
#define list_for_each_entry_from(pos, h, m)				\
	for (; !list_entry_is_head(pos, h, m); pos = list_next_entry(pos, m))
#define list_for_each_entry_reverse(pos, h, m)				\
	for (pos = list_last_entry(h, __typeof__(*pos), m);		\
	     !list_entry_is_head(pos, h, m); pos = list_prev_entry(pos, m))
#define list_for_each_entry_safe(pos, n, h, m)				\
	for (pos = list_first_entry(h, __typeof__(*pos), m),		\
	     n = list_next_entry(pos, m);				\
	     !list_entry_is_head(pos, h, m);				\
	     pos = n, n = list_next_entry(n, m))
#define list_for_each_entry_safe_from(pos, n, h, m)			\
	for (n = list_next_entry(pos, m);				\
	     !list_entry_is_head(pos, h, m);				\
	     pos = n, n = list_next_entry(n, m))
#define list_for_each_entry_safe_reverse(pos, n, h, m)			\
	for (pos = list_last_entry(h, __typeof__(*pos), m),		\
	     n = list_prev_entry(pos, m);				\
	     !list_entry_is_head(pos, h, m);				\
	     pos = n, n = list_prev_entry(n, m))

/* Lists with a head of one pointer */
static inline void INIT_HLIST_NODE(struct hlist_node *n)
{
	n->next = NULL;
	n->pprev = NULL;
}

static inline void hlist_add_head(struct hlist_node *n, struct hlist_head *h)
{
	n->next = h->first;
	if (h->first)
		h->first->pprev = &n->next;
	h->first = n;
	n->pprev = &h->first;
}

static inline void hlist_del_init(struct hlist_node *n)
{
	if (!n->pprev)
		return;
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
	INIT_HLIST_NODE(n);
}

#define shim_hlist_entry(p, type, member) \
	((p) ? container_of(p, type, member) : NULL)

#define hlist_for_each_entry(pos, head, member)				\
	for (pos = shim_hlist_entry((head)->first, __typeof__(*(pos)),	\
				    member);				\
	     pos;							\
	     pos = shim_hlist_entry((pos)->member.next,			\
				    __typeof__(*(pos)), member))

#endif
