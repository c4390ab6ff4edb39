/* SPDX-License-Identifier: Apache-2.0 */
/* The flow remapper of Han's balancer for multi-queue interfaces (Seoul National University, 2013), without a kernel.
 */
#ifndef NFVBED_REMAP_H
#define NFVBED_REMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "balancer.h"

struct remap_flow {
	uint32_t id;
	uint32_t queue;
	uint64_t packets; /* of the period */
	bool moved;
};

/*
 * Pairs the least with the most loaded queue, the second least with the second most, and so on. Where the loads of a
 * pair differ by more than a threshold of packets, flows move from the loaded one to the other, the largest first,
 * until half of the difference has moved. Queues of flows are below `queues`, which is BALANCER_QUEUES at most.
 *
 * Sorts the flows, the largest first. Returns how many moved.
 */
unsigned remap(struct remap_flow *flows, unsigned count, unsigned queues, uint64_t threshold);

#endif
