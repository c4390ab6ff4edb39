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

static inline void handle(unsigned port, const uint8_t *frame, uint32_t length, uint64_t now)
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

unsigned dpdk_receive(unsigned port, unsigned burst)
{
	struct rte_mbuf *frames[BURST_MAX];
	unsigned count = rte_eth_rx_burst(dpdk.ports[port].id, 0, frames, (uint16_t)burst);
	uint64_t now;

	if (count == 0)
		return 0;
	now = rte_rdtsc();
	for (unsigned i = 0; i < count; i++)
		rte_prefetch0(rte_pktmbuf_mtod(frames[i], void *));
	for (unsigned i = 0; i < count; i++) {
		if (likely(frames[i]->nb_segs == 1))
			handle(port, rte_pktmbuf_mtod(frames[i], uint8_t *), frames[i]->data_len, now);
		else
			handle_chain(port, frames[i], now);
	}
	rte_pktmbuf_free_bulk(frames, count);
	return count;
}
