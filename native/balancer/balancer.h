/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the balancer's program in the kernel and the process that loads it share. */
#ifndef NFVBED_BALANCER_H
#define NFVBED_BALANCER_H

#include <linux/types.h>

#define BALANCER_QUEUES 64 /* a power of two */
#define BALANCER_FLOWS 16384

/* An entry of the flow table; its key is the flow's id. */
struct balancer_flow {
	__u64 packets; /* of its period */
	__u32 period;  /* the one that its last packet came in */
	__u32 queue;
};

/* An entry of the queue table. */
struct balancer_queue {
	__u64 packets; /* since the program was loaded */
	__u64 base;    /* what that was at the start of the period before this one */
};

#endif
