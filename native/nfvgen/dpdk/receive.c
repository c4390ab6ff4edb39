/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiving: every frame is checked, put into the window of the queue that sent it, and its latency counted. The queue
 * that sent it may be any, whichever queue it comes on.
 */
#include <rte_cycles.h>
#include <rte_prefetch.h>

#include "bearer.h"
#include "dpdk.h"
#include "parse.h"

void dpdk_receiver_start(unsigned number, unsigned queue, const struct trial *trial)
{
	struct receiver *r = &dpdk.receivers[number][queue];

	sequence_reset(&r->sequence);
	memset(r->after, 0, sizeof(r->after));
	r->counts = (struct received_counts){0};
	rte_spinlock_init(&r->lock);
	r->direction = (uint8_t)number;
	r->sent = &dpdk.senders[number][queue].counts;
	r->timeline = timeline_of(number);
	r->expected = 0;
	for (unsigned i = 0; i < trial->mix.count; i++)
		r->expected += expectation_build(&r->expect[r->expected], &dpdk.templates[number][queue][i]);
}

/* What a queue sent is mostly received by one lcore, which then has the lock's line in its cache. */
static inline void hold(struct receiver *r)
{
	if (dpdk.lcore_count > 1)
		rte_spinlock_lock(&r->lock);
}

static inline void release(struct receiver *r)
{
	if (dpdk.lcore_count > 1)
		rte_spinlock_unlock(&r->lock);
}

void dpdk_latencies_flush(struct latencies *l)
{
	if (l->count == 0)
		return;
	__extension__ unsigned __int128 q32 = (__extension__(unsigned __int128) l->ticks) * dpdk.ns_per_tick_q32;
	uint64_t ns = (uint64_t)((q32 + (1ull << 31)) >> 32);

	histogram_add(&l->histogram, ns, l->count);
	l->count = 0;
}

/* `count` frames that were sent at the same time, which is as in the frame, and received at the same time. */
static inline void add_latency(struct latencies *l, uint64_t sent_be, uint64_t now, unsigned count)
{
	uint64_t sent = frame_be64(sent_be), ticks = now > sent ? now - sent : 0;

	if (ticks != l->ticks)
		dpdk_latencies_flush(l);
	l->ticks = ticks;
	l->count += count;
}

/* Numbers that were skipped so far by those that came, in a whole direction. */
static __rte_noinline uint64_t skipped(unsigned direction)
{
	uint64_t frames = 0;

	for (unsigned queue = 0; queue < dpdk.queues; queue++) {
		const struct receiver *r = &dpdk.receivers[direction][queue];

		frames += r->sequence.next - r->counts.received;
	}
	return frames;
}

/* Where and when a burst came. */
struct burst {
	struct lcore *lc;
	unsigned port;
	unsigned queue;
	uint64_t now;
};

/*
 * Frames of one burst that one queue sent and that came in order, none missing, and were sent at the same time, which
 * nearly all do: they are counted together, when the run ends. The numbers and times are those that the frames bear.
 * While the run lasts, its receiver is held.
 */
struct run {
	struct receiver *receiver;
	uint32_t next; /* the number that goes on with it */
	unsigned frames;
	unsigned room; /* so many more numbers have been sent at all */
	uint64_t bytes;
	uint64_t time_be;
};

static inline uint64_t offered(const struct receiver *r)
{
	return __atomic_load_n(&r->sent->offered, __ATOMIC_ACQUIRE);
}

/* Nothing of a run is counted yet. */
static inline void run_reset(struct run *run)
{
	const struct receiver *r = run->receiver;
	uint64_t next = r->sequence.next, sent = offered(r);

	run->next = (uint32_t)next;
	run->room = (unsigned)RTE_MIN(sent - RTE_MIN(sent, next), (uint64_t)BURST_MAX);
	run->frames = 0;
	run->bytes = 0;
}

static inline void run_count(struct run *run, const struct burst *burst)
{
	struct receiver *r = run->receiver;

	if (run->frames == 0)
		return;
	sequence_track_run(&r->sequence, run->frames);
	r->after[burst->queue] = r->sequence.next;
	r->counts.received += run->frames;
	r->counts.received_bytes += run->bytes;
	if (dpdk.stamp)
		add_latency(&burst->lc->latencies[r->direction], run->time_be, burst->now, run->frames);
	if (unlikely(r->timeline))
		timeline_received(
			r->timeline, frame_be64(run->time_be), burst->now, run->frames, skipped(r->direction));
}

static inline void run_begin(struct run *run, struct receiver *r)
{
	hold(r);
	run->receiver = r;
	run_reset(run);
}

static inline void run_end(struct run *run, const struct burst *burst)
{
	run_count(run, burst);
	release(run->receiver);
	run->receiver = NULL;
}

/* An intact frame of this trial; its receiver is held. */
static inline void count_frame(struct receiver *r, const struct burst *burst, const uint8_t *payload, uint32_t length)
{
	struct received_counts *counts = &r->counts;
	uint64_t *after = &r->after[burst->queue], time;
	uint32_t sequence;
	int64_t full;

	memcpy(&sequence, payload + FRAME_PAYLOAD_SEQUENCE, sizeof(sequence));
	sequence = frame_be32(sequence);
	full = sequence_number(&r->sequence, sequence);
	switch (sequence_track(&r->sequence, sequence, offered(r))) {
	case SEQUENCE_UNSENT:
		counts->corrupted++;
		return;
	case SEQUENCE_DUPLICATE:
		counts->duplicated++;
		return;
	case SEQUENCE_REORDERED:
		/* Frames on different queues have no order. */
		counts->reordered += (uint64_t)full < *after;
		break;
	case SEQUENCE_NEW:
		break;
	}
	*after = RTE_MAX(*after, (uint64_t)full + 1);
	counts->received++;
	counts->received_bytes += length + NFVGEN_FCS_BYTES;
	if (dpdk.stamp) {
		memcpy(&time, payload + FRAME_PAYLOAD_TIME, sizeof(time));
		add_latency(&burst->lc->latencies[r->direction], time, burst->now, 1);
		if (unlikely(r->timeline))
			timeline_received(r->timeline, frame_be64(time), burst->now, 1, skipped(r->direction));
	}
}

static void count_foreign(const struct burst *burst, const uint8_t *frame, uint32_t length)
{
	bool own_learning = false;

	dpdk_answer(burst->port, burst->lc->index, frame, length, &own_learning);
	if (!own_learning)
		burst->lc->foreign[burst->port]++;
}

/* What it says of itself cannot be trusted: it belongs to the direction that ends here, and to the queue it came on. */
static void count_corrupted(const struct burst *burst)
{
	int number = dpdk.direction_to[burst->port];
	struct receiver *r;

	if (number < 0) {
		burst->lc->foreign[burst->port]++;
		return;
	}
	r = &dpdk.receivers[number][burst->queue % dpdk.queues];
	hold(r);
	r->counts.corrupted++;
	release(r);
}

/* A frame that is not as it was sent. */
static __rte_noinline void handle(const struct burst *burst, const uint8_t *frame, uint32_t length)
{
	struct parsed parsed = dpdk.bearers ? dpdk_parse_bearer(frame, length, dpdk.check, dpdk.bearers, burst->port)
					    : dpdk_parse(frame, length, dpdk.check);
	struct receiver *r;
	uint16_t stream;
	unsigned number, queue;

	if (unlikely(!parsed.payload)) {
		count_foreign(burst, frame, length);
		return;
	}
	if (unlikely(!parsed.intact)) {
		count_corrupted(burst);
		return;
	}
	memcpy(&stream, frame + parsed.payload + FRAME_PAYLOAD_STREAM, sizeof(stream));
	stream = frame_be16(stream);
	number = frame_stream_direction(stream);
	queue = frame_stream_queue(stream);
	/* An earlier trial's frame, one that was sent back, or one that was flooded to the wrong port. */
	if (unlikely(frame_stream(dpdk.trial_number, queue, number) != stream || queue >= dpdk.queues ||
		     dpdk.direction_to[burst->port] != (int)number)) {
		burst->lc->foreign[burst->port]++;
		return;
	}
	if (unlikely(parsed.astray)) {
		count_corrupted(burst);
		return;
	}
	r = &dpdk.receivers[number][queue];
	hold(r);
	count_frame(r, burst, frame + parsed.payload, length);
	release(r);
}

/* Frames in several buffers (jumbo) are made contiguous first: the checks read them as one. */
static void handle_other(const struct burst *burst, const struct rte_mbuf *m)
{
	uint8_t bytes[NFVGEN_MAX_FRAME_SIZE + 64];
	const uint8_t *frame;

	if (likely(m->nb_segs == 1)) {
		handle(burst, rte_pktmbuf_mtod(m, uint8_t *), m->data_len);
		return;
	}
	if (m->pkt_len > NFVGEN_MAX_FRAME_SIZE) {
		burst->lc->foreign[burst->port]++;
		return;
	}
	frame = rte_pktmbuf_read(m, 0, m->pkt_len, bytes);
	if (frame)
		handle(burst, frame, m->pkt_len);
}

/*
 * Looks for the frame among the queues and sizes that this direction sends, and turns to what it is. All its frames
 * have the stream at the same place.
 */
static bool turn_to_match(struct last_match *last, unsigned direction, const uint8_t *frame, uint32_t length)
{
	const struct receiver *first = dpdk.receivers[direction];
	unsigned at = first->expect[0].at.payload + FRAME_PAYLOAD_STREAM, queue;
	struct receiver *r;
	uint16_t stream;

	if (length < at + sizeof(stream))
		return false;
	memcpy(&stream, frame + at, sizeof(stream));
	queue = frame_stream_queue(frame_be16(stream));
	if (queue >= dpdk.queues)
		return false;
	r = &dpdk.receivers[direction][queue];
	for (unsigned i = 0; i < r->expected; i++) {
		if (frame_is_expected(frame, length, &r->expect[i], dpdk.check)) {
			*last = (struct last_match){.receiver = r, .expected = &r->expect[i]};
			return true;
		}
	}
	return false;
}

/* An intact frame of this trial: goes on with the run, begins the next one, or is counted alone. */
static inline void count_in_run(struct run *run, const struct burst *burst, const struct last_match *match,
	const uint8_t *frame, uint32_t length)
{
	const struct frame_layout *at = &match->expected->at;
	uint32_t sequence;
	uint64_t time;

	if (unlikely(run->receiver != match->receiver)) {
		if (run->receiver)
			run_end(run, burst);
		run_begin(run, match->receiver);
	}
	memcpy(&sequence, frame + at->sequence, sizeof(sequence));
	memcpy(&time, frame + at->time, sizeof(time));
	if (unlikely(frame_be32(sequence) != run->next || run->room == 0)) {
		run_count(run, burst);
		count_frame(run->receiver, burst, frame + at->payload, length);
		run_reset(run);
		return;
	}
	if (unlikely(time != run->time_be)) {
		run_count(run, burst);
		run_reset(run);
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
static inline bool check_arrivals(const struct arrivals *a, const struct burst *burst)
{
	const int number = dpdk.direction_to[burst->port];
	struct last_match match = burst->lc->last[burst->port];
	const bool check = dpdk.check, quick = number >= 0 && match.receiver->expected;
	const uint32_t tag = quick ? dpdk_tag(match.expected->template) : 0;
	const struct rte_mempool *pool = dpdk.pool;
	struct run run = {0};
	bool own = true;

	for (unsigned i = 0; i < a->count; i++) {
		struct rte_mbuf *m = a->frames[i];
		const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

		own &= m->nb_segs == 1 && m->pool == pool && RTE_MBUF_DIRECT(m);
		if (likely(quick && m->nb_segs == 1 &&
			    (frame_is_expected(frame, m->data_len, match.expected, check) ||
				    turn_to_match(&match, (unsigned)number, frame, m->data_len)))) {
			count_in_run(&run, burst, &match, frame, m->data_len);
			/* One trial's tags differ in the length only. */
			m->hash.usr = (tag & ~0xffffu) | m->data_len;
			continue;
		}
		/* What is done with it may depend on the frames of the run: they are counted before. */
		if (run.receiver)
			run_end(&run, burst);
		handle_other(burst, m);
		m->hash.usr = 0;
	}
	if (run.receiver)
		run_end(&run, burst);
	burst->lc->last[burst->port] = match;
	return own;
}

/* Checks what was fetched, and returns how much; the buffers go to a sender on that port, or back into the pool. */
unsigned dpdk_check(struct lcore *lc, unsigned port, unsigned queue)
{
	struct arrivals *a = &lc->arrivals[port][queue];
	const struct burst burst = {.lc = lc, .port = port, .queue = queue, .now = a->time};
	unsigned count = a->count, kept = 0;

	if (count == 0)
		return 0;
	if (check_arrivals(a, &burst) && lc->sending)
		kept = dpdk_recycle(&dpdk.senders[dpdk.direction_from[port]][queue < dpdk.queues ? queue : lc->index],
			a->frames, count);
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
unsigned dpdk_fetch(struct lcore *lc, unsigned port, unsigned queue, unsigned burst)
{
	struct arrivals *a = &lc->arrivals[port][queue];

	a->count = rte_eth_rx_burst(dpdk.ports[port].id, (uint16_t)queue, a->frames, (uint16_t)burst);
	a->time = rte_rdtsc();
	if (dpdk.ports[port].copies)
		return dpdk_check(lc, port, queue);
	for (unsigned i = 0; i < a->count; i++)
		rte_prefetch0_write(rte_pktmbuf_mtod(a->frames[i], void *));
	return a->count;
}

unsigned dpdk_receive(struct lcore *lc, unsigned port, unsigned queue, unsigned burst)
{
	unsigned count = dpdk_fetch(lc, port, queue, burst);

	dpdk_check(lc, port, queue);
	return count;
}
