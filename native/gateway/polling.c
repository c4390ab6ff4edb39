/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop that polls two DPDK ports on one core, which nfvgen's engine opens. What the control thread wants is done by
 * that loop between two bursts: nothing is shared but counters, and these have one writer.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>

#include "../nfvgen/dpdk/dpdk.h"
#include "bearer_hashes.h"
#include "gateway.h"
#include "gateway_write.h"
#include "scheduling.h"

#define PROGRAM "nfvbed-dpdk-gateway"
#define BURST 32
#define QUEUE_SIZE 1024
#define BUFFERS 4096
#define LOOK_NS 50000

enum request { NOTHING, ADD, REMOVE, ASK, STOP };

/* Frames on their way out of one port, each with where it came from and what it is to be counted as. */
struct outgoing {
	unsigned frames;
	struct rte_mbuf *frame[2 * BURST];
	uint8_t from[2 * BURST];
	uint8_t count[2 * BURST];
};

static struct {
	struct gateway_options *options;
	struct bearer_hashes bearers;
	struct gateway_counts counts[GATEWAY_PORTS];
	uint64_t busy; /* TSC cycles of rounds in which frames had come */
	_Atomic gateway_mac neighbour[GATEWAY_PORTS];
	struct outgoing out[GATEWAY_PORTS];
	pthread_t thread;
	bool started;
	bool opened;
	atomic_int request; /* an enum request; the loop puts NOTHING in its place when it is done */
	int result;
	const struct gateway_bearer *bearer;
	enum gateway_port port;
	const uint8_t *frame;
	unsigned length;
} this;

static void count(unsigned port, unsigned what)
{
	unsigned long long *counter = &this.counts[port].count[what];

	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

static void put_out(unsigned port, struct rte_mbuf *frame, unsigned from, unsigned what)
{
	struct outgoing *out = &this.out[port];

	frame->ol_flags = 0;
	out->frame[out->frames] = frame;
	out->from[out->frames] = (uint8_t)from;
	out->count[out->frames++] = (uint8_t)what;
}

/* What the port does not take is dropped, as a full ring does. */
static void send_out(unsigned port)
{
	struct outgoing *out = &this.out[port];
	unsigned sent = out->frames ? rte_eth_tx_burst(dpdk.ports[port].id, 0, out->frame, (uint16_t)out->frames) : 0;

	for (unsigned i = 0; i < out->frames; i++)
		count(out->from[i], i < sent ? out->count[i] : GATEWAY_NOT_SENT);
	if (sent < out->frames)
		rte_pktmbuf_free_bulk(out->frame + sent, out->frames - sent);
	out->frames = 0;
}

/* Lets a frame begin and end elsewhere; its buffer has the room. */
static void set_frame(struct rte_mbuf *frame, int begin, uint32_t length)
{
	frame->data_off = (uint16_t)(frame->data_off + begin);
	frame->data_len = (uint16_t)length;
	frame->pkt_len = length;
}

static void *start_of(const struct rte_mbuf *frame)
{
	return rte_pktmbuf_mtod(frame, void *);
}

static void *end_of(const struct rte_mbuf *frame)
{
	return (uint8_t *)start_of(frame) + frame->data_len;
}

static enum gateway_count pass_up(struct rte_mbuf *frame, const struct gateway_seen *seen)
{
	const struct gateway_config *config = &this.options->config;
	gateway_mac next = atomic_load_explicit(&this.neighbour[GATEWAY_SGI], memory_order_relaxed);
	enum gateway_count what;
	uint32_t ue;

	if (!bearer_find(this.bearers.uplink, seen->key, &ue))
		return GATEWAY_UNKNOWN_TEID;
	if (ue != seen->source)
		return GATEWAY_WRONG_SOURCE;
	what = gateway_admit(&config->side[GATEWAY_SGI], next, seen, 0);
	if (what != GATEWAY_FORWARDED)
		return what;
	set_frame(frame, (int)seen->inner_at - GATEWAY_ETHERNET_BYTES, GATEWAY_ETHERNET_BYTES + seen->inner_length);
	return gateway_write_uplink(config, next, start_of(frame), end_of(frame)) ? GATEWAY_NOT_SENT : what;
}

static enum gateway_count pass_down(struct rte_mbuf *frame, const struct gateway_seen *seen)
{
	const struct gateway_config *config = &this.options->config;
	gateway_mac next = atomic_load_explicit(&this.neighbour[GATEWAY_S1U], memory_order_relaxed);
	enum gateway_count what;
	uint32_t teid;

	if (!bearer_find(this.bearers.downlink, seen->key, &teid))
		return GATEWAY_UNKNOWN_UE;
	what = gateway_admit(&config->side[GATEWAY_S1U], next, seen, GATEWAY_TUNNEL_BYTES);
	if (what != GATEWAY_FORWARDED)
		return what;
	if (rte_pktmbuf_headroom(frame) < GATEWAY_TUNNEL_BYTES)
		return GATEWAY_NOT_SENT;
	set_frame(frame, -GATEWAY_TUNNEL_BYTES, GATEWAY_ETHERNET_BYTES + GATEWAY_TUNNEL_BYTES + seen->inner_length);
	return gateway_write_downlink(config, next, teid, start_of(frame), end_of(frame)) ? GATEWAY_NOT_SENT : what;
}

static enum gateway_count answer_echo(struct rte_mbuf *frame, const struct gateway_seen *seen)
{
	uint32_t length = gateway_echo_bytes(seen);

	if (length > frame->data_len + (uint32_t)rte_pktmbuf_tailroom(frame))
		return GATEWAY_NOT_SENT;
	set_frame(frame, 0, length);
	return gateway_write_echo(&this.options->config.side[GATEWAY_S1U], seen, start_of(frame), end_of(frame))
		       ? GATEWAY_NOT_SENT
		       : GATEWAY_ECHO;
}

/* Counts a frame that ends here, and frees it; others are put out. */
static void handle(unsigned port, struct rte_mbuf *frame)
{
	const struct gateway_side *side = &this.options->config.side[port];
	struct gateway_seen seen = {.count = GATEWAY_TOO_BIG};
	unsigned way_out = port;
	int step = GATEWAY_DONE;

	count(port, GATEWAY_RECEIVED);
	/* In several buffers it is longer than any MTU that a gateway has. */
	if (frame->nb_segs == 1)
		step = port == GATEWAY_S1U ? gateway_look_s1u(side, start_of(frame), end_of(frame), &seen)
					   : gateway_look_sgi(side, start_of(frame), end_of(frame), &seen);
	if (seen.learnt)
		atomic_store_explicit(&this.neighbour[port], seen.learnt, memory_order_relaxed);
	if (step == GATEWAY_PASS_ON) {
		seen.count = port == GATEWAY_S1U ? pass_up(frame, &seen) : pass_down(frame, &seen);
		way_out = !port;
	} else if (step == GATEWAY_SEND_ECHO) {
		seen.count = answer_echo(frame, &seen);
	}
	if ((step == GATEWAY_PASS_ON && seen.count == GATEWAY_FORWARDED) || step == GATEWAY_SEND_BACK ||
		(step == GATEWAY_SEND_ECHO && seen.count == GATEWAY_ECHO)) {
		put_out(way_out, frame, port, seen.count);
		return;
	}
	count(port, seen.count);
	rte_pktmbuf_free(frame);
}

/* Returns how many frames came. */
static unsigned poll_ports(void)
{
	struct rte_mbuf *frames[BURST];
	unsigned all = 0;

	for (unsigned port = 0; port < GATEWAY_PORTS; port++) {
		unsigned came = dpdk_take(&dpdk.ports[port], frames, BURST);

		for (unsigned i = 0; i < came; i++)
			rte_prefetch0(start_of(frames[i]));
		for (unsigned i = 0; i < came; i++)
			handle(port, frames[i]);
		all += came;
		send_out(!port);
		send_out(port);
	}
	return all;
}

/* A round that was interrupted counts whole: what else ran on the core meanwhile is in it. */
static bool poll_counted(void)
{
	uint64_t begin = rte_rdtsc();

	if (!poll_ports())
		return false;
	__atomic_store_n(&this.busy, this.busy + rte_rdtsc() - begin, __ATOMIC_RELAXED);
	return true;
}

static int send_own(enum gateway_port port, const uint8_t *bytes, unsigned length)
{
	struct rte_mbuf *frame = rte_pktmbuf_alloc(dpdk.pool);

	if (!frame)
		return -ENOMEM;
	memcpy(rte_pktmbuf_append(frame, (uint16_t)length), bytes, length);
	if (rte_eth_tx_burst(dpdk.ports[port].id, 0, &frame, 1) == 1)
		return 0;
	rte_pktmbuf_free(frame);
	return -ENOBUFS;
}

/* Does what the control thread wants. Returns whether the loop goes on. */
static bool obey(void)
{
	int request = atomic_load_explicit(&this.request, memory_order_acquire);

	if (request == NOTHING)
		return true;
	if (request == ADD)
		this.result = bearers_add(&this.bearers, this.bearer);
	else if (request == REMOVE)
		this.result = bearers_remove(&this.bearers, this.bearer);
	else if (request == ASK)
		this.result = send_own(this.port, this.frame, this.length);
	else
		this.result = 0;
	atomic_store_explicit(&this.request, NOTHING, memory_order_release);
	return request != STOP;
}

static int open_all(void)
{
	struct gateway_options *options = this.options;
	const struct engine_options engine = {.ports = {options->port[0], options->port[1]},
		.cores = {(int)options->core},
		.core_count = 1,
		.queues = 1,
		.sink_core = -1,
		.memory_mib = options->memory_mib,
		.burst = BURST,
		.queue_size = QUEUE_SIZE,
		.mbufs = BUFFERS,
		.file_prefix = options->file_prefix,
		.hugepage_dir = options->hugepages,
		.no_huge = options->no_huge,
		.socket = options->socket};
	struct engine_info info = {0};
	struct failure why = {0};
	int err = engine_dpdk.open(&engine, &info, &why);

	if (err) {
		fprintf(stderr, PROGRAM ": %s\n", why.text);
		return err;
	}
	this.opened = true;
	for (unsigned i = 0; i < GATEWAY_PORTS; i++) {
		struct gateway_side *side = &options->config.side[i];
		unsigned longest = dpdk.ports[i].max_frame_size_bytes - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN;

		memcpy(side->mac, options->mac[i] ? (void *)&options->mac[i] : (void *)dpdk.ports[i].mac,
			sizeof(side->mac));
		side->mtu = RTE_MIN(longest, options->mtu);
		this.neighbour[i] = options->neighbour[i];
	}
	return bearers_open(&this.bearers);
}

static void *work(void *argument)
{
	this.result = open_all();
	atomic_store_explicit(&this.request, NOTHING, memory_order_release);
	if (!this.result && this.options->yield) {
		/* As whoever it shares the core with, or it gets a small part of it. */
		scheduling_prefer_this_thread();
		scheduling_shorten_slice();
	}
	if (!this.result)
		while (obey())
			if (!poll_counted() && this.options->yield)
				sched_yield();
	bearers_close(&this.bearers);
	if (this.opened)
		engine_dpdk.close();
	return argument;
}

/* Waits until the loop has done what it was given; it has a core of its own, and this thread need not be near it. */
static int wait_for_loop(void)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	while (atomic_load_explicit(&this.request, memory_order_acquire) != NOTHING)
		nanosleep(&pause, NULL);
	return this.result;
}

static int give(enum request request)
{
	atomic_store_explicit(&this.request, request, memory_order_release);
	return wait_for_loop();
}

static int open_ports(struct gateway_options *options)
{
	int err;

	this.options = options;
	this.request = ASK; /* until the ports are open */
	err = -pthread_create(&this.thread, NULL, work, NULL);
	if (err) {
		fprintf(stderr, PROGRAM ": no thread: %s\n", strerror(-err));
		return err;
	}
	err = wait_for_loop();
	this.started = !err;
	if (err)
		pthread_join(this.thread, NULL);
	return err;
}

static void close_ports(void)
{
	if (!this.started)
		return;
	give(STOP);
	pthread_join(this.thread, NULL);
}

static int add(const struct gateway_bearer *bearer)
{
	this.bearer = bearer;
	return give(ADD);
}

static int take_out(const struct gateway_bearer *bearer)
{
	this.bearer = bearer;
	return give(REMOVE);
}

static int read_port(enum gateway_port port, struct gateway_counts *sum, gateway_mac *neighbour)
{
	for (unsigned i = 0; i < GATEWAY_COUNTS; i++)
		sum->count[i] = __atomic_load_n(&this.counts[port].count[i], __ATOMIC_RELAXED);
	*neighbour = atomic_load_explicit(&this.neighbour[port], memory_order_relaxed);
	return 0;
}

static int ask(enum gateway_port port, const uint8_t *frame, unsigned length)
{
	this.port = port;
	this.frame = frame;
	this.length = length;
	return give(ASK);
}

static uint64_t busy(void)
{
	return __atomic_load_n(&this.busy, __ATOMIC_RELAXED);
}

static int failed(void)
{
	return -1;
}

const struct gateway_backend gateway_backend = {
	.name = "dpdk",
	.program = PROGRAM,
	.polls = true,
	.open = open_ports,
	.close = close_ports,
	.add = add,
	.remove = take_out,
	.read = read_port,
	.ask = ask,
	.busy = busy,
	.failed = failed,
};
