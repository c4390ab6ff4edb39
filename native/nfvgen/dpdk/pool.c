/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receive and transmit buffers are kept apart: a transmit buffer is written by this program alone, so that the payload
 * pattern stays in it from frame to frame. hash.usr, which no transmit path uses, tells what is in it (see send.c).
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
	/* Large frames: what two full queues hold, what is staged and what the cache keeps. */
	unsigned jumbo = 2 * options->queue_size + 4 * BURST_MAX + 2 * POOL_CACHE;

	dpdk.rx_pool = make("nfvgen_rx", options->mbufs, 2048, why);
	if (dpdk.rx_pool)
		dpdk.tx_pool = make("nfvgen_tx", options->mbufs, 2048, why);
	if (dpdk.tx_pool)
		dpdk.jumbo_pool = make("nfvgen_jumbo", jumbo, NFVGEN_MAX_FRAME_SIZE, why);
	return dpdk.jumbo_pool ? 0 : -ENOMEM;
}

struct rte_mempool *dpdk_pool_for(uint16_t length)
{
	return length <= 2048 ? dpdk.tx_pool : dpdk.jumbo_pool;
}
