/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving: every frame is checked, put into its direction's window and its latency counted. */
#include <rte_cycles.h>
#include <rte_prefetch.h>

#include "bearer.h"
#include "dpdk.h"
#include "parse.h"

void dpdk_receiver_start(struct receiver *r, unsigned number, const struct trial *trial)
{
	sequence_reset(&r->sequence);
	r->rx = trial->direction[number].rx;
	r->latency_time = 0;
	r->latency_count = 0;
	r->counts = &dpdk.counts->direction[number];
	r->timeline = timeline_of(number);
	r->expected = 0;
	r->last = 0;
	for (unsigned i = 0; i < trial->mix.count; i++)
		r->expected += expectation_build(&r->expect[r->expected], &dpdk.templates[number][i]);
}

void dpdk_receiver_flush(struct receiver *r)
{
	if (r->latency_count == 0)
		return;
	__extension__ unsigned __int128 q32 = (__extension__(unsigned __int128) r->latency_time) * dpdk.ns_per_tick_q32;
	uint64_t ns = (uint64_t)((q32 + (1ull << 31)) >> 32);

	histogram_add(&r->counts->latency, ns, r->latency_count);
	r->latency_count = 0;
}

/* `count` frames that were sent at the same time, which is as in the frame, and received at the same time. */
static inline void add_latency(struct receiver *r, uint64_t sent_be, uint64_t now, unsigned count)
{
	uint64_t sent = frame_be64(sent_be), ticks = now > sent ? now - sent : 0;

	if (ticks != r->latency_time)
		dpdk_receiver_flush(r);
	r->latency_time = ticks;
	r->latency_count += count;
}

/*
 * Frames of one burst that came in order, none missing, and were sent at the same time, which nearly all do: they are
 * counted together, when the run ends. The numbers and times are those that the frames bear.
 */
struct run {
	uint32_t next; /* the number that goes on with it */
	unsigned frames;
	unsigned room; /* so many more numbers have been sent at all */
	uint64_t bytes;
	uint64_t time_be;
};

static inline void run_begin(struct run *run, const struct receiver *r, uint64_t sent)
{
	uint64_t next = r->sequence.next;

	run->next = (uint32_t)next;
	run->room = (unsigned)RTE_MIN(sent - RTE_MIN(sent, next), (uint64_t)BURST_MAX);
	run->frames = 0;
	run->bytes = 0;
}

static inline void run_end(const struct run *run, struct receiver *r, uint64_t now)
{
	if (run->frames == 0)
		return;
	sequence_track_run(&r->sequence, run->frames);
	r->counts->received += run->frames;
	r->counts->received_bytes += run->bytes;
	if (dpdk.stamp)
		add_latency(r, run->time_be, now, run->frames);
	if (unlikely(r->timeline))
		timeline_received(r->timeline, frame_be64(run->time_be), now, run->frames,
			r->sequence.next - r->counts->received);
}

/* When a burst was received, and how many frames its direction had sent when it was looked at. */
struct moment {
	uint64_t now;
	uint64_t sent;
};

/* An intact frame of this trial. */
static inline void count_frame(struct receiver *r, uint64_t sent, const uint8_t *payload, uint32_t length, uint64_t now)
{
	struct direction_counts *counts = r->counts;
	uint32_t sequence;
	uint64_t time;

	memcpy(&sequence, payload + FRAME_PAYLOAD_SEQUENCE, sizeof(sequence));
	switch (sequence_track(&r->sequence, frame_be32(sequence), sent)) {
	case SEQUENCE_UNSENT:
		counts->corrupted++;
		return;
	case SEQUENCE_DUPLICATE:
		counts->duplicated++;
		return;
	case SEQUENCE_REORDERED:
		counts->reordered++;
		break;
	case SEQUENCE_NEW:
		break;
	}
	counts->received++;
	counts->received_bytes += length + NFVGEN_FCS_BYTES;
	if (dpdk.stamp) {
		memcpy(&time, payload + FRAME_PAYLOAD_TIME, sizeof(time));
		add_latency(r, time, now, 1);
		if (unlikely(r->timeline))
			timeline_received(r->timeline, frame_be64(time), now, 1, r->sequence.next - counts->received);
	}
}

static void count_foreign(unsigned port, const uint8_t *frame, uint32_t length)
{
	bool own_learning = false;

	dpdk_answer(port, frame, length, &own_learning);
	if (!own_learning)
		dpdk.counts->foreign[port]++;
}

/* A frame that is not as it was sent. */
static __rte_noinline void handle(unsigned port, const uint8_t *frame, uint32_t length, uint64_t now)
{
	struct parsed parsed = dpdk.bearers ? dpdk_parse_bearer(frame, length, dpdk.check, dpdk.bearers, port)
					    : dpdk_parse(frame, length, dpdk.check);
	unsigned number;
	uint16_t stream;

	if (unlikely(!parsed.payload)) {
		count_foreign(port, frame, length);
		return;
	}
	memcpy(&stream, frame + parsed.payload + FRAME_PAYLOAD_STREAM, sizeof(stream));
	stream = frame_be16(stream);
	number = stream & 1;
	if (unlikely(!parsed.intact)) {
		/* Its stream cannot be trusted: it belongs to the direction that ends at this port. */
		number = dpdk.directions > 1 && dpdk.receivers[1].rx == port && dpdk.receivers[0].rx != port;
		if (dpdk.receivers[number].rx == port)
			dpdk.receivers[number].counts->corrupted++;
		else
			dpdk.counts->foreign[port]++;
		return;
	}
	/* An earlier trial's frame, one that was sent back, or one that was flooded to the wrong port. */
	if (unlikely((uint16_t)(dpdk.trial_number << 1 | number) != stream || number >= dpdk.directions ||
		     dpdk.receivers[number].rx != port)) {
		dpdk.counts->foreign[port]++;
		return;
	}
	if (unlikely(parsed.astray)) {
		dpdk.receivers[number].counts->corrupted++;
		return;
	}
	count_frame(&dpdk.receivers[number], dpdk.senders[number].counts->sent, frame + parsed.payload, length, now);
}

/* Looks for the frame among the sizes that this direction sends, and turns to the one that it is. */
static bool turn_to_size(struct receiver *r, const uint8_t *frame, uint32_t length)
{
	for (unsigned i = 0; i < r->expected; i++) {
		if (frame_is_expected(frame, length, &r->expect[i], dpdk.check)) {
			r->last = i;
			return true;
		}
	}
	return false;
}

/* Frames in several buffers (jumbo) are made contiguous first: the checks read them as one. */
static void handle_other(unsigned port, const struct rte_mbuf *m, uint64_t now)
{
	static uint8_t bytes[NFVGEN_MAX_FRAME_SIZE + 64];
	const uint8_t *frame;

	if (likely(m->nb_segs == 1)) {
		handle(port, rte_pktmbuf_mtod(m, uint8_t *), m->data_len, now);
		return;
	}
	if (m->pkt_len > NFVGEN_MAX_FRAME_SIZE) {
		dpdk.counts->foreign[port]++;
		return;
	}
	frame = rte_pktmbuf_read(m, 0, m->pkt_len, bytes);
	if (frame)
		handle(port, frame, m->pkt_len, now);
}

/* The direction that ends at this port, if any. */
static int direction_to(unsigned port)
{
	for (unsigned number = 0; number < dpdk.directions; number++)
		if (dpdk.receivers[number].rx == port)
			return (int)number;
	return -1;
}

/* An intact frame of this trial: goes on with the run, begins the next one, or is counted alone. */
static inline void count_in_run(
	struct run *run, struct receiver *r, const uint8_t *frame, uint32_t length, const struct moment *when)
{
	const struct frame_layout *at = &r->expect[r->last].at;
	uint32_t sequence;
	uint64_t time;

	memcpy(&sequence, frame + at->sequence, sizeof(sequence));
	memcpy(&time, frame + at->time, sizeof(time));
	if (unlikely(frame_be32(sequence) != run->next || run->room == 0)) {
		run_end(run, r, when->now);
		count_frame(r, when->sent, frame + at->payload, length, when->now);
		run_begin(run, r, when->sent);
		return;
	}
	if (unlikely(time != run->time_be)) {
		run_end(run, r, when->now);
		run_begin(run, r, when->sent);
		run->time_be = time;
	}
	run->next++;
	run->room--;
	run->frames++;
	run->bytes += length + NFVGEN_FCS_BYTES;
}

/*
 * Checks frames of which all but a few are as they were sent. Returns whether all were frames in single
 * buffers of our own pool.
 */
static inline bool check_arrivals(unsigned port, int number)
{
	struct arrivals *a = &dpdk.arrivals[port];
	struct receiver *r = number < 0 ? NULL : &dpdk.receivers[number];
	const struct moment when = {.now = a->time, .sent = r ? dpdk.senders[number].counts->sent : 0};
	const bool check = dpdk.check, quick = r && r->expected;
	const uint32_t tag = quick ? dpdk_tag(r->expect[0].template) : 0;
	const struct rte_mempool *pool = dpdk.pool;
	struct run run = {0};
	bool own = true;

	if (quick)
		run_begin(&run, r, when.sent);
	for (unsigned i = 0; i < a->count; i++) {
		struct rte_mbuf *m = a->frames[i];
		const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

		own &= m->nb_segs == 1 && m->pool == pool && RTE_MBUF_DIRECT(m);
		if (likely(quick && m->nb_segs == 1 &&
			    (frame_is_expected(frame, m->data_len, &r->expect[r->last], check) ||
				    turn_to_size(r, frame, m->data_len)))) {
			count_in_run(&run, r, frame, m->data_len, &when);
			/* One trial's tags differ in the length only. */
			m->hash.usr = (tag & ~0xffffu) | m->data_len;
			continue;
		}
		/* What is done with it may depend on the frames of the run: they are counted before. */
		if (quick)
			run_end(&run, r, when.now);
		handle_other(port, m, when.now);
		if (quick)
			run_begin(&run, r, when.sent);
		m->hash.usr = 0;
	}
	if (quick)
		run_end(&run, r, when.now);
	return own;
}

/* Checks what was fetched, and returns how much; the buffers go to the sender on that port, or back into the pool. */
unsigned dpdk_check(unsigned port)
{
	struct arrivals *a = &dpdk.arrivals[port];
	unsigned count = a->count, kept = 0;

	if (count == 0)
		return 0;
	if (check_arrivals(port, direction_to(port)) && dpdk.sending)
		kept = dpdk_recycle(&dpdk.senders[port % dpdk.directions], a->frames, count);
	if (kept < count)
		rte_pktmbuf_free_bulk(a->frames + kept, count - kept);
	a->count = 0;
	return count;
}

/*
 * Takes what has come and starts to bring it into this core's cache, as its own: the buffer is written again soon.
 * Where the other core has it, that takes as long as sending a burst: the frames are checked after that. What the
 * driver has copied here is checked at once.
 */
unsigned dpdk_fetch(unsigned port, unsigned burst)
{
	struct arrivals *a = &dpdk.arrivals[port];

	a->count = dpdk_take(&dpdk.ports[port], a->frames, (uint16_t)burst);
	a->time = rte_rdtsc();
	if (dpdk.ports[port].copies)
		return dpdk_check(port);
	for (unsigned i = 0; i < a->count; i++)
		rte_prefetch0_write(rte_pktmbuf_mtod(a->frames[i], void *));
	return a->count;
}

unsigned dpdk_receive(unsigned port, unsigned burst)
{
	unsigned count = dpdk_fetch(port, burst);

	dpdk_check(port);
	return count;
}
