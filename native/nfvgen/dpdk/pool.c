/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames are sent from the buffers that others were received in: between cores that are far from each other a line's
 * transfer costs more than all the work on it, and so it is moved once for both. hash.usr, which no transmit path uses,
 * tells what is in a buffer (dpdk_tag).
 */
#include <errno.h>

#include <rte_errno.h>

#include "dpdk.h"

#define POOL_CACHE 256u

static void clear_tag(struct rte_mempool *pool, void *argument, void *object, unsigned index)
{
	(void)pool;
	(void)argument;
	(void)index;
	((struct rte_mbuf *)object)->hash.usr = 0;
}

static struct rte_mempool *make(const char *name, unsigned count, uint16_t room, struct failure *why)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		name, count, POOL_CACHE, 0, (uint16_t)(RTE_PKTMBUF_HEADROOM + room), SOCKET_ID_ANY);

	if (!pool)
		failure_set(why,
			"%u buffers of %u bytes do not fit into the generator's memory: %s. Raise --memory-mib or "
			"lower --mbufs",
			count, room, rte_strerror(rte_errno));
	else
		rte_mempool_obj_iter(pool, clear_tag, NULL);
	return pool;
}

int dpdk_pools_open(const struct engine_options *options, struct failure *why)
{
	/* What the full queues to send on hold, what is staged and what the caches keep. */
	unsigned sent =
		options->queues * (2 * options->queue_size + 4 * BURST_MAX) + 2 * options->core_count * POOL_CACHE;
	unsigned both = sent + 2 * options->queues * options->queue_size;

	dpdk.pool = make("nfvgen", RTE_MAX(2 * options->mbufs, both), 2048, why);
	if (dpdk.pool)
		dpdk.jumbo_pool = make("nfvgen_jumbo", sent, NFVGEN_MAX_FRAME_SIZE, why);
	return dpdk.jumbo_pool ? 0 : -ENOMEM;
}

struct rte_mempool *dpdk_pool_for(uint16_t length)
{
	return length <= 2048 ? dpdk.pool : dpdk.jumbo_pool;
}
