/* SPDX-License-Identifier: Apache-2.0 */
/* The DPDK engine: its lcores, each with its share of the queue pairs, are started for a trial, and their counts
 * merged. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include "dpdk.h"
#include "scheduling.h"

#define LINK_POLLS 20         /* idle calls between two looks at the links */
#define SETTLE_NS 20000000ull /* at most this long are learning frames awaited */
#define LEAD_NS 200000ull     /* in which all lcores are woken up, where there are several */
#define NS_PER_SECOND 1000000000ull
#define CALIBRATION_NS 100000000ull
struct dpdk_engine dpdk;

static void fill_info(struct engine_info *info)
{
	struct rte_eth_dev_info device;

	snprintf(info->version, sizeof(info->version), "%s", rte_version());
	info->min_frame_size_bytes = NFVGEN_MIN_FRAME_SIZE;
	info->max_frame_size_bytes = RTE_MIN(dpdk.ports[0].max_frame_size_bytes, dpdk.ports[1].max_frame_size_bytes);
	info->tsc_hz = dpdk.hz;
	for (unsigned i = 0; i < dpdk.lcore_count; i++)
		info->thread_ids[i] = dpdk.lcores[i].thread_id;
	info->clock = "tsc";
	info->core_count = dpdk.lcore_count;
	for (unsigned i = 0; i < NFVGEN_PORTS; i++) {
		struct port_info *port = &info->ports[i];
		struct rte_eth_link link = {0};

		snprintf(port->name, sizeof(port->name), "%s", dpdk.ports[i].device);
		memcpy(port->mac, dpdk.ports[i].mac, sizeof(port->mac));
		if (rte_eth_dev_info_get(dpdk.ports[i].id, &device) == 0)
			snprintf(port->driver, sizeof(port->driver), "%s", device.driver_name);
		/* A virtual port's speed is a number that its driver made up. */
		if (dpdk.ports[i].pci && rte_eth_link_get_nowait(dpdk.ports[i].id, &link) == 0 &&
			link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
			port->speed_mbps = link.link_speed;
		port->link_up = atomic_load(&dpdk.link[i]);
	}
}

/* The TSC beside the system's clock, read as close together as possible in a few tries. */
static void read_clocks(uint64_t *tsc, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < 20; i++) {
		struct timespec now;
		uint64_t before = rte_rdtsc_precise(), after;

		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		after = rte_rdtsc_precise();
		if (after - before >= best)
			continue;
		best = after - before;
		*tsc = before + best / 2;
		*ns = (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
	}
}

struct clocks {
	uint64_t tsc;
	uint64_t ns;
};

/*
 * The EAL's figure is rounded to 10 MHz where the CPU does not tell: 0.2 % off is too much for a rate. The start of the
 * EAL, which takes longer than that, is the time that it is measured over.
 */
static uint64_t measure_tsc(const struct clocks *begin)
{
	struct clocks now = {0};

	read_clocks(&now.tsc, &now.ns);
	if (now.ns - begin->ns < CALIBRATION_NS) {
		rte_delay_us_sleep((unsigned)((CALIBRATION_NS - (now.ns - begin->ns)) / 1000 + 1));
		read_clocks(&now.tsc, &now.ns);
	}
	return (uint64_t)((__extension__(unsigned __int128)(now.tsc - begin->tsc)) * NS_PER_SECOND /
			  (now.ns - begin->ns));
}

static void look_at_links(void)
{
	for (unsigned i = 0; i < NFVGEN_PORTS; i++)
		atomic_store(&dpdk.link[i], dpdk_port_link(&dpdk.ports[i]));
}

static void dpdk_close(void)
{
	for (unsigned i = 0; i < NFVGEN_PORTS; i++)
		dpdk_port_close(&dpdk.ports[i]);
	dpdk_eal_close(&dpdk.options);
}

/* As the main lcore's thread, which prefers itself. */
static int set_up_lcore(void *argument)
{
	struct lcore *lc = argument;

	lc->thread_id = (int)gettid();
	scheduling_prefer_this_thread();
	if (dpdk.options.yield)
		scheduling_shorten_slice();
	return 0;
}

static int dpdk_open(const struct engine_options *options, struct engine_info *info, struct failure *why)
{
	struct clocks begin = {0};
	int result;

	read_clocks(&begin.tsc, &begin.ns);
	result = dpdk_eal_open(options, why);
	if (result < 0)
		return result;
	dpdk.options = *options;
	dpdk.queues = options->queues;
	dpdk.lcore_count = options->core_count;
	dpdk.hz = measure_tsc(&begin);
	dpdk.ns_per_tick_q32 = ((1000000000ull << 32) + dpdk.hz / 2) / dpdk.hz;
	result = dpdk_pools_open(options, why);
	for (unsigned i = 0; i < NFVGEN_PORTS && result == 0; i++)
		result = dpdk_port_open(&dpdk.ports[i], options->ports[i], why);
	if (result < 0) {
		dpdk_close();
		return result;
	}
	for (unsigned i = 0; i < NFVGEN_PORTS; i++)
		frame_endpoint_default(&dpdk.endpoint[i], i, dpdk.ports[i].mac);
	dpdk.lcores[0].thread_id = (int)gettid();
	for (unsigned i = 1; i < dpdk.lcore_count; i++)
		rte_eal_remote_launch(set_up_lcore, &dpdk.lcores[i], i);
	rte_eal_mp_wait_lcore();
	look_at_links();
	fill_info(info);
	return 0;
}

/* Sends the learning frames, then waits until they (and what is left of an earlier trial) have gone by. */
static void settle(const struct trial *trial)
{
	struct lcore *main_lcore = &dpdk.lcores[0];
	uint64_t start, quiet;

	dpdk_send_learning(trial);
	start = quiet = rte_rdtsc();
	while (rte_rdtsc() - start < pacing_ticks(SETTLE_NS, dpdk.hz)) {
		unsigned moved = 0;

		for (unsigned port = 0; port < NFVGEN_PORTS; port++)
			for (unsigned queue = 0; queue < dpdk.ports[port].rx_queues; queue++)
				moved += dpdk_receive(main_lcore, port, queue, dpdk.options.burst);
		if (moved)
			quiet = rte_rdtsc();
		else if (rte_rdtsc() - quiet > pacing_ticks(DPDK_QUIET_NS, dpdk.hz))
			break;
		if (dpdk.options.yield)
			sched_yield();
	}
	main_lcore->foreign[0] = main_lcore->foreign[1] = 0;
}

/* Which direction ends at each port, and which sends from it. */
static void set_directions(const struct trial *trial)
{
	for (unsigned port = 0; port < NFVGEN_PORTS; port++) {
		dpdk.direction_to[port] = -1;
		dpdk.direction_from[port] = port % trial->directions;
		for (unsigned i = trial->directions; i-- > 0;)
			if (trial->direction[i].rx == port)
				dpdk.direction_to[port] = (int)i;
	}
}

static struct last_match first_match(struct receiver *r)
{
	return (struct last_match){.receiver = r, .expected = &r->expect[0]};
}

static void reset_lcore(struct lcore *lc, unsigned index)
{
	const int thread_id = lc->thread_id;

	memset(lc, 0, offsetof(struct lcore, arrivals));
	lc->index = index;
	lc->thread_id = thread_id;
	for (unsigned port = 0; port < NFVGEN_PORTS; port++)
		if (dpdk.direction_to[port] >= 0)
			lc->last[port] = first_match(&dpdk.receivers[dpdk.direction_to[port]][0]);
}

static int prepare(const struct trial *trial, struct trial_counts *counts, struct failure *why)
{
	int result = 0;

	memset(counts, 0, sizeof(*counts));
	dpdk.counts = counts;
	dpdk.trial_number = (uint16_t)((dpdk.trial_number + 1) % FRAME_STREAM_TRIALS);
	dpdk.directions = trial->directions;
	dpdk.check = trial->check;
	dpdk.stamp = trial->stamp;
	dpdk.bearers = trial->stack.bearers;
	memcpy(dpdk.endpoint, trial->endpoint, sizeof(dpdk.endpoint));
	set_directions(trial);
	for (unsigned i = 0; i < dpdk.lcore_count; i++)
		reset_lcore(&dpdk.lcores[i], i);
	for (unsigned i = 0; i < trial->directions; i++) {
		for (unsigned queue = 0; queue < dpdk.queues && result == 0; queue++) {
			result = dpdk_sender_start(i, queue, trial, why);
			dpdk_receiver_start(i, queue, trial);
		}
	}
	return result;
}

/*
 * What came again so late that it was not told from the first is in the received: of one queue the loss of another is
 * not to be made good with it.
 */
static void count_once(struct received_counts *counts, uint64_t sent)
{
	if (counts->received <= sent)
		return;
	counts->duplicated += counts->received - sent;
	counts->received = sent;
}

/* What the queues of a direction have counted so far, all but latency. */
static void merge_queues(struct trial_counts *counts, unsigned number)
{
	struct direction_counts *all = &counts->direction[number];

	memset(all, 0, offsetof(struct direction_counts, latency));
	for (unsigned queue = 0; queue < dpdk.queues; queue++) {
		const struct sent_counts *sent = &dpdk.senders[number][queue].counts;
		struct received_counts received = dpdk.receivers[number][queue].counts;

		if (dpdk.queues > 1)
			count_once(&received, sent->sent);
		counts->queue[number][queue] = (struct queue_counts){.sent = sent->sent,
			.unsent = sent->unsent,
			.late = sent->late,
			.refused = sent->refused,
			.received = received.received,
			.reordered = received.reordered,
			.duplicated = received.duplicated,
			.corrupted = received.corrupted};
		all->sent += sent->sent;
		all->sent_bytes += sent->sent_bytes;
		all->unsent += sent->unsent;
		all->late += sent->late;
		all->refused += sent->refused;
		all->received += received.received;
		all->received_in_time += received.received_in_time;
		all->received_bytes += received.received_bytes;
		all->reordered += received.reordered;
		all->duplicated += received.duplicated;
		all->corrupted += received.corrupted;
	}
	all->intended = all->sent + all->unsent;
}

static void merge_lcores(struct trial_counts *counts)
{
	uint64_t busy = 0, gap_ticks = 0, longest = 0;

	counts->gaps = 0;
	memset(counts->foreign, 0, sizeof(counts->foreign));
	for (unsigned i = 0; i < dpdk.lcore_count; i++) {
		const struct lcore *lc = &dpdk.lcores[i];

		busy = RTE_MAX(busy, lc->busy);
		counts->gaps += lc->gaps;
		gap_ticks += lc->gap_ticks;
		longest = RTE_MAX(longest, lc->gap_longest);
		for (unsigned port = 0; port < NFVGEN_PORTS; port++)
			counts->foreign[port] += lc->foreign[port];
	}
	counts->busy_ns = pacing_ns(busy, dpdk.hz);
	counts->gap_ns = pacing_ns(gap_ticks, dpdk.hz);
	counts->gap_longest_ns = pacing_ns(longest, dpdk.hz);
}

static void merge(struct trial_counts *counts)
{
	for (unsigned i = 0; i < dpdk.directions; i++)
		merge_queues(counts, i);
	merge_lcores(counts);
}

static void merge_latencies(struct trial_counts *counts)
{
	for (unsigned i = 0; i < dpdk.directions; i++) {
		for (unsigned index = 0; index < dpdk.lcore_count; index++) {
			struct latencies *l = &dpdk.lcores[index].latencies[i];

			dpdk_latencies_flush(l);
			histogram_merge(&counts->direction[i].latency, &l->histogram);
		}
	}
}

static int run_on_lcore(void *argument)
{
	dpdk_lcore_run(&dpdk.lcores[rte_lcore_id()], argument);
	return 0;
}

/* Runs all lcores' parts at once, this one's among them; returns when the last one ended sending. */
static uint64_t run_lcores(struct lcore_trial *run)
{
	uint64_t ended = 0;

	run->start = rte_rdtsc();
	if (dpdk.lcore_count > 1)
		run->start += pacing_ticks(LEAD_NS, dpdk.hz);
	atomic_store(&run->sending, dpdk.lcore_count);
	for (unsigned i = 0; i < run->trial->directions; i++)
		if (timeline_of(i))
			timeline_start(timeline_of(i), run->start, dpdk.hz);
	for (unsigned i = 1; i < dpdk.lcore_count; i++)
		rte_eal_remote_launch(run_on_lcore, run, i);
	dpdk_lcore_run(&dpdk.lcores[0], run);
	rte_eal_mp_wait_lcore();
	for (unsigned i = 0; i < dpdk.lcore_count; i++)
		ended = RTE_MAX(ended, dpdk.lcores[i].ended);
	return ended;
}

static int dpdk_run(
	const struct trial *trial, struct trial_counts *counts, const atomic_bool *stop, struct failure *why)
{
	struct lcore_trial run = {.trial = trial, .stop = stop};
	uint64_t ended;
	int result = prepare(trial, counts, why);

	if (result < 0)
		return result;
	settle(trial);
	ended = run_lcores(&run);
	counts->duration_ns = pacing_ns(ended - run.start, dpdk.hz);
	merge(counts);
	merge_latencies(counts);
	for (unsigned i = 0; i < trial->directions; i++)
		if (timeline_of(i))
			timeline_end(timeline_of(i), ended, counts->direction[i].sent - counts->direction[i].received);
	return 0;
}

static void dpdk_idle_call(const struct trial *last)
{
	static unsigned calls;

	(void)last; /* its addresses are still in dpdk.endpoint */
	dpdk_idle();
	if (calls++ % LINK_POLLS == 0)
		look_at_links();
}

static void dpdk_snapshot(struct trial_counts *counts)
{
	if (dpdk.counts)
		merge(counts);
}

static void dpdk_links(bool up[NFVGEN_PORTS])
{
	for (unsigned i = 0; i < NFVGEN_PORTS; i++)
		up[i] = atomic_load(&dpdk.link[i]);
}

const struct engine engine_dpdk = {
	.name = "dpdk",
	.open = dpdk_open,
	.run = dpdk_run,
	.idle = dpdk_idle_call,
	.snapshot = dpdk_snapshot,
	.close = dpdk_close,
	.links = dpdk_links,
};
