/* SPDX-License-Identifier: Apache-2.0 */
/* The DPDK engine: one thread sends and checks both directions on one core. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_version.h>

#include "dpdk.h"

#define LINK_POLLS 20         /* idle calls between two looks at the links */
#define SETTLE_NS 20000000ull /* at most this long are learning frames awaited */
#define QUIET_NS 2000000ull   /* nothing came for so long: nothing will */
#define STOP_DRAIN_NS 50000000ull
#define NS_PER_SECOND 1000000000ull
#define CALIBRATION_NS 100000000ull
/*
 * After so many frames, sent and received, a shared core is given away. With turns of a scheduler slice, the switch on
 * its own core fills the ring of whoever waits for this one, and throws the rest away.
 */
#define TURN_FRAMES 64

struct dpdk_engine dpdk;

static void fill_info(struct engine_info *info)
{
	struct rte_eth_dev_info device;

	snprintf(info->version, sizeof(info->version), "%s", rte_version());
	info->min_frame_size_bytes = NFVGEN_MIN_FRAME_SIZE;
	info->max_frame_size_bytes = RTE_MIN(dpdk.ports[0].max_frame_size_bytes, dpdk.ports[1].max_frame_size_bytes);
	info->tsc_hz = dpdk.hz;
	info->thread_id = (int)gettid();
	info->clock = "tsc";
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

static int dpdk_open(const struct engine_options *options, struct engine_info *info, struct failure *why)
{
	struct clocks begin = {0};
	int result;

	read_clocks(&begin.tsc, &begin.ns);
	result = dpdk_eal_open(options, why);
	if (result < 0)
		return result;
	dpdk.options = *options;
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
	look_at_links();
	fill_info(info);
	return 0;
}

/* Sends the learning frames, then waits until they (and what is left of an earlier trial) have gone by. */
static void settle(const struct trial *trial)
{
	uint64_t start, quiet;

	dpdk_send_learning(trial);
	start = quiet = rte_rdtsc();
	while (rte_rdtsc() - start < pacing_ticks(SETTLE_NS, dpdk.hz)) {
		unsigned moved = 0;

		for (unsigned port = 0; port < NFVGEN_PORTS; port++)
			moved += dpdk_receive(port, dpdk.options.burst);
		if (moved)
			quiet = rte_rdtsc();
		else if (rte_rdtsc() - quiet > pacing_ticks(QUIET_NS, dpdk.hz))
			break;
		if (dpdk.options.yield)
			sched_yield();
	}
	dpdk.counts->foreign[0] = dpdk.counts->foreign[1] = 0;
}

/* Of paced or bounded trials; at maximum rate only time ends a trial. */
static bool all_sent(void)
{
	for (unsigned i = 0; i < dpdk.directions; i++)
		if (!dpdk_sender_finished(&dpdk.senders[i]))
			return false;
	return true;
}

/* In ticks: see NFVGEN_GAP_NS. */
struct gap_limits {
	uint64_t gap;
	uint64_t frame;
};

/* A part of a trial at one rate. Times are in ticks. */
struct stretch {
	uint64_t start;
	uint64_t end;
	uint64_t last; /* nothing is sent after it */
	bool bounded;  /* ends when all frames are sent */
};

/* Takes down a round that took too long for what it did; returns how much longer: 0 where it did not. */
static uint64_t note_gap(uint64_t ticks, unsigned moved, const struct gap_limits *limits)
{
	const uint64_t explained = moved * limits->frame;

	if (likely(ticks <= limits->gap) || ticks <= limits->gap + explained)
		return 0;
	ticks -= explained;
	dpdk.counts->gaps++;
	dpdk.counts->gap_ns += ticks; /* ticks until the trial ends */
	dpdk.counts->gap_longest_ns = RTE_MAX(dpdk.counts->gap_longest_ns, ticks);
	return ticks;
}

/*
 * The loop that is measured. Returns when sending ended: at `end`, or up to 100 us later when paced frames are still in
 * time, or when the bounded number of frames is sent.
 */
static uint64_t send_and_receive(const struct stretch *stretch, const atomic_bool *stop)
{
	const unsigned burst = dpdk.options.burst, directions = dpdk.directions;
	const bool yield = dpdk.options.yield;
	const uint64_t end = stretch->end, last = stretch->last;
	const struct gap_limits limits = {
		.gap = pacing_ticks(NFVGEN_GAP_NS, dpdk.hz), .frame = pacing_ticks(NFVGEN_FRAME_NS, dpdk.hz)};
	uint64_t now = stretch->start, busy = dpdk.counts->busy_ns;
	unsigned turn = 0;

	dpdk.sending = true;
	dpdk.after_gap = false;
	while (now < last && !atomic_load_explicit(stop, memory_order_relaxed)) {
		unsigned moved = 0;
		uint64_t before = now, gap;

		for (unsigned port = 0; port < NFVGEN_PORTS; port++)
			moved += dpdk_fetch(port, burst);
		for (unsigned i = 0; i < directions; i++)
			moved += dpdk_send(&dpdk.senders[i], rte_rdtsc(), burst);
		for (unsigned port = 0; port < NFVGEN_PORTS; port++)
			dpdk_check(port);
		now = rte_rdtsc();
		gap = note_gap(now - before, moved, &limits);
		dpdk.after_gap = gap != 0;
		if (moved) {
			busy += now - before - gap;
			dpdk.counts->busy_ns = busy; /* ticks until the trial ends */
		}
		turn += moved;
		if (yield && (!moved || turn >= TURN_FRAMES)) {
			sched_yield();
			turn = 0;
			now = rte_rdtsc(); /* others' time is not ours */
		}
		if (all_sent() && (now >= end || stretch->bounded))
			break;
	}
	dpdk.sending = false;
	return now;
}

static bool all_received(void)
{
	for (unsigned i = 0; i < dpdk.directions; i++)
		if (dpdk.counts->direction[i].received < dpdk.counts->direction[i].sent)
			return false;
	return true;
}

/* Waits for late frames; a moment of quiet after the last one is enough when none is missing. */
static void drain(uint64_t drain_ns)
{
	uint64_t start = rte_rdtsc(), last = start, now = start;
	const uint64_t limit = pacing_ticks(drain_ns, dpdk.hz), quiet = pacing_ticks(QUIET_NS, dpdk.hz);

	while (now - start < limit) {
		unsigned moved = 0;

		for (unsigned port = 0; port < NFVGEN_PORTS; port++)
			moved += dpdk_receive(port, dpdk.options.burst);
		now = rte_rdtsc();
		if (moved)
			last = now;
		else if (now - last > quiet && all_received())
			break;
		else if (dpdk.options.yield)
			sched_yield();
	}
}

static int prepare(const struct trial *trial, struct trial_counts *counts, struct failure *why)
{
	int result = 0;

	memset(counts, 0, sizeof(*counts));
	dpdk.counts = counts;
	dpdk.trial_number = (uint16_t)((dpdk.trial_number + 1) & 0x7fff);
	dpdk.directions = trial->directions;
	dpdk.check = trial->check;
	dpdk.stamp = trial->stamp;
	dpdk.bearers = trial->stack.bearers;
	memcpy(dpdk.endpoint, trial->endpoint, sizeof(dpdk.endpoint));
	for (unsigned i = 0; i < trial->directions && result == 0; i++) {
		result = dpdk_sender_start(&dpdk.senders[i], i, trial, why);
		dpdk_receiver_start(&dpdk.receivers[i], i, trial);
	}
	return result;
}

static void pace(const struct trial *trial, uint64_t start, uint64_t rate_pps, uint64_t duration_ns)
{
	for (unsigned i = 0; i < trial->directions; i++)
		pacing_start(&dpdk.senders[i].pacing, start, dpdk.hz, rate_pps, duration_ns, trial->frames);
}

/* Returns when sending ended. */
static uint64_t send_stretches(const struct trial *trial, uint64_t start, const atomic_bool *stop)
{
	uint64_t late = trial->rate_pps ? pacing_ticks(2 * NFVGEN_LATE_NS, dpdk.hz) : 0, now;
	struct stretch stretch = {.start = start, .bounded = trial->frames != 0};

	stretch.end = start + pacing_ticks(trial->duration_ns, dpdk.hz);
	/* A change of the rate does not wait for what is late. */
	stretch.last = trial->then_rate_pps ? stretch.end : stretch.end + late;
	if (trial->rate_pps)
		pace(trial, start, trial->rate_pps, trial->duration_ns);
	now = send_and_receive(&stretch, stop);
	if (!trial->then_rate_pps || atomic_load(stop))
		return now;
	for (unsigned i = 0; i < trial->directions; i++)
		dpdk_sender_turn(&dpdk.senders[i], stretch.end);
	stretch.start = stretch.end;
	stretch.end += pacing_ticks(trial->then_duration_ns, dpdk.hz);
	stretch.last = stretch.end + late;
	pace(trial, stretch.start, trial->then_rate_pps, trial->then_duration_ns);
	return send_and_receive(&stretch, stop);
}

static int dpdk_run(
	const struct trial *trial, struct trial_counts *counts, const atomic_bool *stop, struct failure *why)
{
	uint64_t start, end;
	int result = prepare(trial, counts, why);

	if (result < 0)
		return result;
	settle(trial);
	start = rte_rdtsc();
	for (unsigned i = 0; i < trial->directions; i++)
		if (timeline_of(i))
			timeline_start(timeline_of(i), start, dpdk.hz);
	end = send_stretches(trial, start, stop);
	for (unsigned i = 0; i < trial->directions; i++)
		dpdk_sender_stop(&dpdk.senders[i], end);
	counts->duration_ns = pacing_ns(end - start, dpdk.hz);
	counts->busy_ns = pacing_ns(counts->busy_ns, dpdk.hz);
	counts->gap_ns = pacing_ns(counts->gap_ns, dpdk.hz);
	counts->gap_longest_ns = pacing_ns(counts->gap_longest_ns, dpdk.hz);
	for (unsigned i = 0; i < trial->directions; i++)
		counts->direction[i].received_in_time = counts->direction[i].received;
	drain(atomic_load(stop) ? RTE_MIN(trial->drain_ns, STOP_DRAIN_NS) : trial->drain_ns);
	for (unsigned i = 0; i < trial->directions; i++) {
		dpdk_receiver_flush(&dpdk.receivers[i]);
		if (timeline_of(i))
			timeline_end(timeline_of(i), end, counts->direction[i].sent - counts->direction[i].received);
	}
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
	const struct trial_counts *now = dpdk.counts;

	if (!now)
		return;
	counts->duration_ns = now->duration_ns;
	counts->busy_ns = pacing_ns(now->busy_ns, dpdk.hz);
	counts->gaps = now->gaps;
	counts->gap_ns = pacing_ns(now->gap_ns, dpdk.hz);
	counts->gap_longest_ns = pacing_ns(now->gap_longest_ns, dpdk.hz);
	for (unsigned i = 0; i < NFVGEN_DIRECTIONS; i++) {
		memcpy(&counts->direction[i], &now->direction[i], offsetof(struct direction_counts, latency));
		counts->direction[i].intended = counts->direction[i].sent + counts->direction[i].unsent;
		counts->foreign[i] = now->foreign[i];
	}
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
