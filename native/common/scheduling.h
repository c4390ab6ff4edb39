/* SPDX-License-Identifier: Apache-2.0 */
/* What sched_setattr(2) takes: <linux/sched/types.h> and <sched.h> of this C library exclude each other. */
#ifndef NFVBED_SCHEDULING_H
#define NFVBED_SCHEDULING_H

#include <stdint.h>

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

#endif
