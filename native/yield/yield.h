/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plug-in tells about itself: a file that it maps, so that nothing has to be asked of the program. One writer
 * a row (an lcore), any number of readers; native byte order.
 */
#ifndef NFVBED_YIELD_H
#define NFVBED_YIELD_H

#include <stdint.h>

#define YIELD_MAGIC 0x4e465659u /* "NFVY" */
#define YIELD_VERSION 1u
#define YIELD_THREADS 32u

/* A cache line each, so that two lcores do not write the same one. */
struct yield_thread {
	uint64_t tid;     /* 0: no thread has this row */
	uint64_t polls;   /* of receive queues */
	uint64_t empty;   /* polls that found nothing */
	uint64_t yields;  /* after empty polls */
	uint64_t refused; /* yields and waits for room to send */
	uint64_t unused[3];
};

struct yield_report {
	uint32_t magic;
	uint32_t version;
	uint32_t queues; /* receive queues that are watched */
	uint32_t ports;  /* ports that were started */
	uint64_t unused[6];
	struct yield_thread threads[YIELD_THREADS];
};

#endif
