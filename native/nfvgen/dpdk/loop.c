/* SPDX-License-Identifier: Apache-2.0 */
/* One lcore's part of a trial: it sends and checks on its queue pairs, then waits for what the others still send. */
#define _GNU_SOURCE
#include <sched.h>

#include <rte_cycles.h>

#include "dpdk.h"

#define STOP_DRAIN_NS 50000000ull
/*
 * After so many frames, sent and received, a shared core is given away. With turns of a scheduler slice, the switch on
 * its own core fills the ring of whoever waits for this one, and throws the rest away.
 */
#define TURN_FRAMES 64

/* Of paced or bounded trials; at maximum rate only time ends a trial. */
static bool all_sent(const struct lcore *lc)
{
	for (unsigned i = 0; i < dpdk.directions; i++)
		for (unsigned queue = lc->index; queue < dpdk.queues; queue += dpdk.lcore_count)
			if (!dpdk_sender_finished(&dpdk.senders[i][queue]))
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
static uint64_t note_gap(struct lcore *lc, uint64_t ticks, unsigned moved, const struct gap_limits *limits)
{
	const uint64_t explained = moved * limits->frame;

	if (likely(ticks <= limits->gap) || ticks <= limits->gap + explained)
		return 0;
	ticks -= explained;
	lc->gaps++;
	lc->gap_ticks += ticks;
	lc->gap_longest = RTE_MAX(lc->gap_longest, ticks);
	return ticks;
}

static inline unsigned fetch(struct lcore *lc, unsigned burst)
{
	unsigned count = 0;

	for (unsigned port = 0; port < NFVGEN_PORTS; port++)
		for (unsigned queue = lc->index; queue < dpdk.ports[port].rx_queues; queue += dpdk.lcore_count)
			count += dpdk_fetch(lc, port, queue, burst);
	return count;
}

static inline void check(struct lcore *lc)
{
	for (unsigned port = 0; port < NFVGEN_PORTS; port++)
		for (unsigned queue = lc->index; queue < dpdk.ports[port].rx_queues; queue += dpdk.lcore_count)
			dpdk_check(lc, port, queue);
}

static inline unsigned send_all(const struct lcore *lc, unsigned burst)
{
	unsigned count = 0;

	for (unsigned i = 0; i < dpdk.directions; i++)
		for (unsigned queue = lc->index; queue < dpdk.queues; queue += dpdk.lcore_count)
			count += dpdk_send(&dpdk.senders[i][queue], rte_rdtsc(), burst);
	return count;
}

/*
 * The loop that is measured. Returns when sending ended: at `end`, or up to 100 us later when paced frames are still in
 * time, or when the bounded number of frames is sent.
 */
static uint64_t send_and_receive(struct lcore *lc, const struct stretch *stretch, const atomic_bool *stop)
{
	const unsigned burst = dpdk.options.burst;
	const bool yield = dpdk.options.yield;
	const uint64_t end = stretch->end, last = stretch->last;
	const struct gap_limits limits = {
		.gap = pacing_ticks(NFVGEN_GAP_NS, dpdk.hz), .frame = pacing_ticks(NFVGEN_FRAME_NS, dpdk.hz)};
	uint64_t now = stretch->start;
	unsigned turn = 0;

	lc->sending = true;
	lc->after_gap = false;
	while (now < last && !atomic_load_explicit(stop, memory_order_relaxed)) {
		unsigned moved = 0;
		uint64_t before = now, gap;

		moved += fetch(lc, burst);
		moved += send_all(lc, burst);
		check(lc);
		now = rte_rdtsc();
		gap = note_gap(lc, now - before, moved, &limits);
		lc->after_gap = gap != 0;
		if (moved)
			lc->busy += now - before - gap;
		turn += moved;
		if (yield && (!moved || turn >= TURN_FRAMES)) {
			sched_yield();
			turn = 0;
			now = rte_rdtsc(); /* others' time is not ours */
		}
		if (all_sent(lc) && (now >= end || stretch->bounded))
			break;
	}
	lc->sending = false;
	return now;
}

static bool all_received(void)
{
	for (unsigned i = 0; i < dpdk.directions; i++) {
		uint64_t missing = 0;

		for (unsigned queue = 0; queue < dpdk.queues; queue++)
			missing += dpdk.senders[i][queue].counts.sent - dpdk.receivers[i][queue].counts.received;
		if (missing)
			return false;
	}
	return true;
}

/*
 * Waits for late frames, first while others still send; a moment of quiet after the last one is enough when none is
 * missing.
 */
static void drain(struct lcore *lc, atomic_uint *sending, uint64_t drain_ns)
{
	uint64_t start = rte_rdtsc(), last = start, now = start;
	const uint64_t limit = pacing_ticks(drain_ns, dpdk.hz), quiet = pacing_ticks(DPDK_QUIET_NS, dpdk.hz);
	bool others = true;

	while (others || now - start < limit) {
		unsigned moved = fetch(lc, dpdk.options.burst);

		check(lc);
		now = rte_rdtsc();
		if (others) {
			others = atomic_load(sending) != 0;
			start = last = now;
		} else if (moved) {
			last = now;
		} else if (now - last > quiet && all_received()) {
			break;
		}
		if (!moved && dpdk.options.yield)
			sched_yield();
	}
}

static void pace(
	const struct lcore *lc, const struct trial *trial, uint64_t start, uint64_t rate_pps, uint64_t duration_ns)
{
	for (unsigned i = 0; i < trial->directions; i++)
		for (unsigned queue = lc->index; queue < dpdk.queues; queue += dpdk.lcore_count)
			pacing_start(&dpdk.senders[i][queue].pacing, start, dpdk.hz, rate_pps, duration_ns,
				trial->frames, (struct pacing_share){.index = queue, .count = dpdk.queues});
}

/* Returns when sending ended. */
static uint64_t send_stretches(struct lcore *lc, const struct trial *trial, uint64_t start, const atomic_bool *stop)
{
	uint64_t late = trial->rate_pps ? pacing_ticks(2 * NFVGEN_LATE_NS, dpdk.hz) : 0, now;
	struct stretch stretch = {.start = start, .bounded = trial->frames != 0};

	stretch.end = start + pacing_ticks(trial->duration_ns, dpdk.hz);
	/* A change of the rate does not wait for what is late. */
	stretch.last = trial->then_rate_pps ? stretch.end : stretch.end + late;
	if (trial->rate_pps)
		pace(lc, trial, start, trial->rate_pps, trial->duration_ns);
	now = send_and_receive(lc, &stretch, stop);
	if (!trial->then_rate_pps || atomic_load(stop))
		return now;
	for (unsigned i = 0; i < trial->directions; i++)
		for (unsigned queue = lc->index; queue < dpdk.queues; queue += dpdk.lcore_count)
			dpdk_sender_turn(&dpdk.senders[i][queue], stretch.end);
	stretch.start = stretch.end;
	stretch.end += pacing_ticks(trial->then_duration_ns, dpdk.hz);
	stretch.last = stretch.end + late;
	pace(lc, trial, stretch.start, trial->then_rate_pps, trial->then_duration_ns);
	return send_and_receive(lc, &stretch, stop);
}

/* Ends this lcore's senders; what came of their frames until now came in time. */
static void end_sending(const struct lcore *lc)
{
	for (unsigned i = 0; i < dpdk.directions; i++) {
		for (unsigned queue = lc->index; queue < dpdk.queues; queue += dpdk.lcore_count) {
			struct received_counts *counts = &dpdk.receivers[i][queue].counts;

			dpdk_sender_stop(&dpdk.senders[i][queue], lc->ended);
			counts->received_in_time = counts->received;
		}
	}
}

void dpdk_lcore_run(struct lcore *lc, struct lcore_trial *run)
{
	const struct trial *trial = run->trial;

	while (rte_rdtsc() < run->start)
		rte_pause();
	lc->ended = send_stretches(lc, trial, run->start, run->stop);
	end_sending(lc);
	atomic_fetch_sub(&run->sending, 1);
	drain(lc, &run->sending, atomic_load(run->stop) ? RTE_MIN(trial->drain_ns, STOP_DRAIN_NS) : trial->drain_ns);
}
