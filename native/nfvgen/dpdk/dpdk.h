/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the DPDK engine share. A queue pair is a queue that a port sends on and the one of the same number
 * that it receives on; each is served by one lcore, which sends and checks. While a trial runs, an lcore writes its own
 * `struct lcore` and the senders of its queues. What a direction's queue sent may be received on any queue of the other
 * port: a receiver is shared where there are several lcores, and then has a lock. All else is the main lcore's, which
 * alone works between trials; link states may be read by any thread.
 */
#ifndef NFVGEN_DPDK_H
#define NFVGEN_DPDK_H

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>

#include "../engine.h"
#include "../mix.h"
#include "../pacing.h"
#include "../sequence.h"
#include "../timeline.h"
#include "expect.h"

#define BURST_MAX 256
#define DPDK_QUIET_NS 2000000ull /* nothing came for so long: nothing will */

struct dpdk_port {
	uint16_t id;
	bool open;
	bool trusted;  /* nobody rewrites the buffers that this driver was given, so payloads persist in them */
	bool copies;   /* its driver writes received frames on this core: they are in its cache, and should be used then
			*/
	bool in_place; /* of a memif: the peer reads and writes the buffers themselves */
	bool pci;
	/* As many as frames are sent on, or more: */
	uint16_t rx_queues;   /* a peer with several threads may send each thread's frames on a queue of its own */
	uint16_t tx_queues;   /* a peer may take it that there are more (memif) */
	uint16_t descriptors; /* of each ring: its argument queue_size, else --queue-size */
	uint16_t max_frame_size_bytes;
	uint8_t mac[6];
	char device[64];
	char socket[108]; /* a listening socket of the driver's, to be gone at the end; "" if there is none */
};

/* Counts of what a queue of a direction sends; its lcore alone writes them. */
struct sent_counts {
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t unsent;
	uint64_t late;
	uint64_t refused;
	uint64_t offered; /* numbers below it may come: read by whoever receives */
} __rte_cache_aligned;

/* Sends the share of one direction that goes out on one queue: `staged` are frames prepared and not taken by the port
 * yet, oldest first. */
struct sender {
	uint16_t port;
	uint16_t queue;
	bool paced;
	bool stamp;
	bool trusted;
	bool recycles;         /* received buffers are of the pool that this sends from */
	unsigned header_bytes; /* up to the end of the payload's header */
	unsigned staged_count;
	unsigned tried;      /* of the staged ones, already offered and so counted as refused */
	uint64_t offered_at; /* when the port was offered frames last */
	uint32_t flow_at;    /* of its own flows, */
	uint32_t flows;      /* which are so many: */
	uint32_t first_flow; /* from this number on, */
	uint32_t flow_step;  /* every so many, */
	uint32_t flow_end;   /* below this one */
	uint64_t frames;     /* bound; UINT64_MAX: none */
	unsigned mix_at;
	unsigned mix_count;
	struct rte_mempool *pool;
	const struct frame_template *templates;
	const struct lcore *lcore;
	struct pacing pacing;
	struct timeline *timeline; /* NULL: none */
	unsigned reserve_count;
	struct rte_mbuf *reserve[BURST_MAX]; /* buffers for the next frames, on their way into the cache */
	struct rte_mbuf *staged[BURST_MAX];
	uint8_t template_of[BURST_MAX];
	uint8_t schedule[MIX_SCHEDULE];
	struct sent_counts counts;
};

/* Counts of what came of them. */
struct received_counts {
	uint64_t received;
	uint64_t received_in_time;
	uint64_t received_bytes;
	uint64_t reordered;
	uint64_t duplicated;
	uint64_t corrupted;
};

/* Checks what one queue of one direction sent. */
struct receiver {
	rte_spinlock_t lock; /* taken only where there are several lcores */
	uint8_t direction;
	unsigned expected; /* how many of `expect` are in use */
	struct expectation expect[NFVGEN_MIX];
	const struct sent_counts *sent;
	struct timeline *timeline;     /* NULL: none */
	uint64_t after[NFVGEN_QUEUES]; /* one above the highest number seen on each queue that it was received on */
	struct received_counts counts;
	struct sequence sequence;
} __rte_cache_aligned;

/* Frames of one queue of one port between their receipt and their check. */
struct arrivals {
	unsigned count;
	uint64_t time;
	struct rte_mbuf *frames[BURST_MAX];
};

/* What matched last on a port: mostly the next frame does too. */
struct last_match {
	struct receiver *receiver;
	const struct expectation *expected;
};

/* Latencies of one direction, as one lcore saw them; frames of one burst share theirs, and are counted together. */
struct latencies {
	uint64_t ticks;
	uint64_t count;
	struct histogram histogram;
};

/* One core's part of a trial. */
struct lcore {
	unsigned index; /* it serves queues index, index + the number of lcores, ... of both ports */
	int thread_id;
	bool after_gap; /* the round before this one took so long that not all that is due is sent on */
	bool sending;   /* received buffers may be used for sending */
	uint64_t ended; /* when it ended sending */
	uint64_t busy;  /* ticks */
	uint64_t gaps;
	uint64_t gap_ticks;
	uint64_t gap_longest;
	uint64_t foreign[NFVGEN_PORTS];
	struct last_match last[NFVGEN_PORTS];
	struct latencies latencies[NFVGEN_DIRECTIONS];
	struct arrivals arrivals[NFVGEN_PORTS][NFVGEN_QUEUES];
} __rte_cache_aligned;

struct dpdk_engine {
	struct engine_options options;
	struct dpdk_port ports[NFVGEN_PORTS];
	struct rte_mempool *pool;
	struct rte_mempool *jumbo_pool;
	uint64_t hz;
	uint64_t ns_per_tick_q32;
	uint16_t trial_number;
	uint16_t max_frame_size_bytes;
	bool check;
	bool stamp;
	const struct frame_bearers *bearers; /* of the trial; NULL: none */
	unsigned directions;
	unsigned queues; /* that frames are sent on */
	unsigned lcore_count;
	int direction_to[NFVGEN_PORTS];        /* the direction that ends at the port; -1: none */
	unsigned direction_from[NFVGEN_PORTS]; /* whose sender takes the buffers that are received on the port */
	struct frame_endpoint endpoint[NFVGEN_PORTS];
	struct trial_counts *counts;
	struct sender senders[NFVGEN_DIRECTIONS][NFVGEN_QUEUES];
	struct receiver receivers[NFVGEN_DIRECTIONS][NFVGEN_QUEUES];
	struct lcore lcores[NFVGEN_CORES];
	struct frame_template templates[NFVGEN_DIRECTIONS][NFVGEN_QUEUES][NFVGEN_MIX];
	atomic_bool link[NFVGEN_PORTS];
};

extern struct dpdk_engine dpdk;

/* Takes what has come on any of a port's queues. */
static inline uint16_t dpdk_take(const struct dpdk_port *port, struct rte_mbuf **frames, uint16_t count)
{
	uint16_t taken = 0;

	for (uint16_t queue = port->rx_queues; queue-- > 0 && taken < count;)
		taken = (uint16_t)(taken +
				   rte_eth_rx_burst(port->id, queue, frames + taken, (uint16_t)(count - taken)));
	return taken;
}

__attribute__((format(printf, 2, 3))) void failure_set(struct failure *why, const char *format, ...);

/* eal.c */
int dpdk_eal_open(const struct engine_options *options, struct failure *why);
void dpdk_eal_close(const struct engine_options *options);
const char *dpdk_last_log(void); /* the last message of the EAL or a driver, for error texts */

/* port.c */
int dpdk_port_open(struct dpdk_port *port, const char *spec, struct failure *why);
void dpdk_port_close(struct dpdk_port *port);
bool dpdk_port_link(const struct dpdk_port *port);

/* pool.c */
int dpdk_pools_open(const struct engine_options *options, struct failure *why);
struct rte_mempool *dpdk_pool_for(uint16_t length);

/*
 * What lies in a buffer behind the headers, kept in hash.usr, which no transmit path uses: the trial, the payload's
 * offset, and up to where the pattern is right. Every buffer that was received gets a tag or 0.
 */
static inline uint32_t dpdk_tag(const struct frame_template *t)
{
	return (uint32_t)(dpdk.trial_number & 0xff) << 24 | (uint32_t)(t->layout.payload & 0xff) << 16 |
	       t->layout.length;
}

/*
 * Makes a buffer fit to send, without rte_pktmbuf_reset()'s writing of every field: it has one segment and one owner,
 * as all in the pool and all that are recycled, and drivers look at nothing else that receiving might have left.
 */
static inline void dpdk_renew(struct rte_mbuf *m)
{
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->ol_flags = 0;
}

/* send.c */
/*
 * Takes single-segment buffers that were received and checked for the next frames; returns how many, from the front.
 * Their lines are in this core's cache, and the peer's share in them is gone (see dpdk_fetch): written again, they cost
 * no transfer between the cores.
 */
unsigned dpdk_recycle(struct sender *s, struct rte_mbuf **received, unsigned count);
int dpdk_sender_start(unsigned number, unsigned queue, const struct trial *trial, struct failure *why);
unsigned dpdk_send(struct sender *s, uint64_t now, unsigned burst);
void dpdk_sender_turn(struct sender *s, uint64_t now);
void dpdk_sender_stop(struct sender *s, uint64_t now);
bool dpdk_sender_finished(const struct sender *s);
void dpdk_send_learning(const struct trial *trial);

/* receive.c */
void dpdk_receiver_start(unsigned number, unsigned queue, const struct trial *trial);
unsigned dpdk_fetch(struct lcore *lc, unsigned port, unsigned queue, unsigned burst);
unsigned dpdk_check(struct lcore *lc, unsigned port, unsigned queue);
unsigned dpdk_receive(struct lcore *lc, unsigned port, unsigned queue, unsigned burst);
void dpdk_latencies_flush(struct latencies *l);

/* loop.c */
/* One lcore's whole part: sends from `start` on, receives until all have ended and nothing comes any more. */
struct lcore_trial {
	const struct trial *trial;
	const atomic_bool *stop;
	uint64_t start;
	atomic_uint sending; /* lcores that are not done with it */
};
void dpdk_lcore_run(struct lcore *lc, struct lcore_trial *run);

/* answer.c */
/* On an lcore, which answers on a queue of its own. */
void dpdk_answer(unsigned port, unsigned queue, const uint8_t *frame, uint32_t length, bool *own_learning);
void dpdk_idle(void);

#endif
