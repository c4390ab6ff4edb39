/* SPDX-License-Identifier: Apache-2.0 */
/* What sched_setattr(2) takes: <linux/sched/types.h> and <sched.h> of this C library exclude each other. */
#ifndef NFVBED_SCHEDULING_H
#define NFVBED_SCHEDULING_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct scheduling {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime; /* the slice, for ordinary threads: Linux 6.12 */
	uint64_t deadline;
	uint64_t period;
};

#define SCHEDULING_NICE (-15)
#define SCHEDULING_SHARED_SLICE_NS 100000ull

/*
 * A thread that keeps times, or empties rings, must not lose its core for milliseconds to whoever drives the trial and
 * shares it (a reader of results, a switch's management): those wait instead. An ordinary priority, so nothing starves.
 * It is no failure not to get it.
 */
static inline void scheduling_prefer_this_thread(void)
{
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), SCHEDULING_NICE);
}

/*
 * Beside another thread that polls: short slices bring both back sooner when somebody else woke up on this core. It is
 * no failure not to get them.
 */
static inline void scheduling_shorten_slice(void)
{
	struct scheduling wanted = {.size = sizeof(wanted)};

	if (syscall(SYS_sched_getattr, 0, &wanted, sizeof(wanted), 0) < 0)
		return;
	wanted.runtime = SCHEDULING_SHARED_SLICE_NS;
	(void)syscall(SYS_sched_setattr, 0, &wanted, 0);
}

#endif
