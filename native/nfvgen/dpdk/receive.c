/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving: every frame is checked, put into its direction's window and its latency counted. */
#include <rte_cycles.h>
#include <rte_prefetch.h>

#include "dpdk.h"
#include "parse.h"

void dpdk_receiver_start(struct receiver *r, unsigned number, const struct trial *trial)
{
	sequence_reset(&r->sequence);
	r->rx = trial->direction[number].rx;
	r->latency_time = 0;
	r->latency_count = 0;
	r->counts = &dpdk.counts->direction[number];
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

static inline void add_latency(struct receiver *r, uint64_t sent, uint64_t now)
{
	uint64_t ticks = now > sent ? now - sent : 0;

	if (ticks != r->latency_time)
		dpdk_receiver_flush(r);
	r->latency_time = ticks;
	r->latency_count++;
}

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
		add_latency(r, frame_be64(time), now);
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
	struct parsed parsed = dpdk_parse(frame, length, dpdk.check);
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
static void handle_chain(unsigned port, const struct rte_mbuf *m, uint64_t now)
{
	static uint8_t bytes[NFVGEN_MAX_FRAME_SIZE + 64];
	const uint8_t *frame;

	if (m->pkt_len > NFVGEN_MAX_FRAME_SIZE) {
		dpdk.counts->foreign[port]++;
		return;
	}
	frame = rte_pktmbuf_read(m, 0, m->pkt_len, bytes);
	if (frame)
		handle(port, frame, m->pkt_len, now);
}

/*
 * Takes what has come and starts to bring it into this core's cache, as its own: the buffer is written again soon. The
 * other core has it, so that takes as long as sending a burst: the frames are checked after that.
 */
unsigned dpdk_fetch(unsigned port, unsigned burst)
{
	struct arrivals *a = &dpdk.arrivals[port];

	a->count = rte_eth_rx_burst(dpdk.ports[port].id, 0, a->frames, (uint16_t)burst);
	a->time = rte_rdtsc();
	for (unsigned i = 0; i < a->count; i++)
		rte_prefetch0_write(rte_pktmbuf_mtod(a->frames[i], void *));
	return a->count;
}

/* The direction that ends at this port, if any. */
static int direction_to(unsigned port)
{
	for (unsigned number = 0; number < dpdk.directions; number++)
		if (dpdk.receivers[number].rx == port)
			return (int)number;
	return -1;
}

/*
 * Checks frames of one segment of which all but a few are as they were sent. Returns whether all were frames in single
 * buffers of our own pool.
 */
static inline bool check_arrivals(unsigned port, int number)
{
	struct arrivals *a = &dpdk.arrivals[port];
	struct receiver *r = number < 0 ? NULL : &dpdk.receivers[number];
	const uint64_t sent = r ? dpdk.senders[number].counts->sent : 0, now = a->time;
	const bool check = dpdk.check;
	bool own = true;

	for (unsigned i = 0; i < a->count; i++) {
		struct rte_mbuf *m = a->frames[i];
		const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

		if (unlikely(m->nb_segs != 1)) {
			handle_chain(port, m, now);
			own = false;
			continue;
		}
		own &= m->pool == dpdk.pool && RTE_MBUF_DIRECT(m);
		if (likely(r && r->expected &&
			    (frame_is_expected(frame, m->data_len, &r->expect[r->last], check) ||
				    turn_to_size(r, frame, m->data_len)))) {
			const struct frame_template *t = r->expect[r->last].template;

			count_frame(r, sent, frame + t->layout.payload, m->data_len, now);
			m->hash.usr = dpdk_tag(t);
		} else {
			handle(port, frame, m->data_len, now);
			m->hash.usr = 0;
		}
	}
	return own;
}

/* Checks what was fetched; the buffers go to the sender on that port, or back into the pool. */
void dpdk_check(unsigned port)
{
	struct arrivals *a = &dpdk.arrivals[port];
	unsigned kept = 0;

	if (a->count == 0)
		return;
	if (check_arrivals(port, direction_to(port)) && dpdk.sending)
		kept = dpdk_recycle(&dpdk.senders[port % dpdk.directions], a->frames, a->count);
	if (kept < a->count)
		rte_pktmbuf_free_bulk(a->frames + kept, a->count - kept);
	a->count = 0;
}

unsigned dpdk_receive(unsigned port, unsigned burst)
{
	unsigned count = dpdk_fetch(port, burst);

	dpdk_check(port);
	return count;
}
