/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "remap.h"

struct load {
	uint32_t queue;
	uint64_t packets;
};

/* Of equal ones the order is that of their numbers: what a sort does with them is not the same everywhere. */
static int by_load(const void *first, const void *second)
{
	const struct load *a = first, *b = second;

	if (a->packets != b->packets)
		return a->packets < b->packets ? -1 : 1;
	return a->queue < b->queue ? -1 : 1;
}

static int by_volume(const void *first, const void *second)
{
	const struct remap_flow *a = first, *b = second;

	if (a->packets != b->packets)
		return a->packets > b->packets ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static unsigned migrate(struct remap_flow *flows, unsigned count, const struct load *from, const struct load *to)
{
	/* The thesis' ratio R = (difference / load) / 2, of the load. */
	uint64_t left = (from->packets - to->packets) / 2;
	unsigned moved = 0;

	for (unsigned i = 0; i < count; i++) {
		struct remap_flow *flow = &flows[i];

		if (flow->queue != from->queue || flow->moved || flow->packets > left)
			continue;
		left -= flow->packets;
		flow->queue = to->queue;
		flow->moved = true;
		moved++;
	}
	return moved;
}

unsigned remap(struct remap_flow *flows, unsigned count, unsigned queues, uint64_t threshold)
{
	struct load loads[BALANCER_QUEUES];
	unsigned moved = 0;

	for (unsigned i = 0; i < queues; i++)
		loads[i] = (struct load){.queue = i};
	for (unsigned i = 0; i < count; i++) {
		loads[flows[i].queue].packets += flows[i].packets;
		flows[i].moved = false;
	}
	qsort(loads, queues, sizeof(*loads), by_load);
	qsort(flows, count, sizeof(*flows), by_volume);
	for (unsigned i = 0; i < queues / 2; i++) {
		const struct load *least = &loads[i], *most = &loads[queues - 1 - i];

		if (most->packets - least->packets > threshold)
			moved += migrate(flows, count, most, least);
	}
	return moved;
}
