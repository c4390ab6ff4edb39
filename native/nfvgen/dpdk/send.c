/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending. Frames are staged (buffer, headers, pattern), stamped (sequence, flow, time, checksums) at every attempt and
 * offered to the port; what the port does not take stays staged and is stamped anew, so numbers have no holes and a
 * time is that of the attempt that succeeded.
 */
#include <errno.h>

#include <rte_memcpy.h>
#include <rte_prefetch.h>

#include "dpdk.h"

static inline bool holds(const struct sender *s, const struct rte_mbuf *m, const struct frame_template *t)
{
	return m->hash.usr >> 16 == dpdk_tag(t) >> 16 && (m->hash.usr & 0xffff) >= t->layout.length && s->trusted;
}

/*
 * Makes the buffer hold the template. Its headers are written anew, as a received frame has those of the other
 * direction; what follows them is the same in every frame and mostly there already: the tag tells.
 */
static inline void stage_one(const struct sender *s, struct rte_mbuf *m, const struct frame_template *t)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	m->data_len = t->layout.length;
	m->pkt_len = t->layout.length;
	if (unlikely(!holds(s, m, t))) {
		memcpy(frame, t->bytes, RTE_ALIGN_CEIL(t->layout.length, 64u));
		m->hash.usr = s->trusted ? dpdk_tag(t) : 0;
		return;
	}
	rte_mov64(frame, t->bytes);
	for (unsigned at = 64; at < s->header_bytes; at += 64)
		rte_mov64(frame + at, t->bytes + at);
}

/*
 * Buffers for the next call beyond those that were received (see dpdk_recycle). The peer has read their lines and the
 * other core owns them: fetching them back takes longer than all the rest, so it is started here.
 */
static inline void reserve(struct sender *s, unsigned want)
{
	unsigned have = s->staged_count + s->reserve_count, from = s->reserve_count;

	if (have >= want || rte_mempool_get_bulk(s->pool, (void **)s->reserve + from, want - have) != 0)
		return;
	s->reserve_count = from + want - have;
	for (unsigned i = from; i < s->reserve_count; i++) {
		uint8_t *frame = (uint8_t *)s->reserve[i]->buf_addr + RTE_PKTMBUF_HEADROOM;

		dpdk_renew(s->reserve[i]);
		for (unsigned at = 0; at < s->header_bytes; at += 64)
			rte_prefetch0_write(frame + at);
	}
}

unsigned dpdk_recycle(struct sender *s, struct rte_mbuf **received, unsigned count)
{
	unsigned held = s->reserve_count + s->staged_count;

	if (!s->recycles || held >= dpdk.options.burst)
		return 0;
	count = RTE_MIN(count, dpdk.options.burst - held);
	for (unsigned i = 0; i < count; i++) {
		dpdk_renew(received[i]);
		s->reserve[s->reserve_count + i] = received[i];
	}
	s->reserve_count += count;
	reserve(s, dpdk.options.burst);
	return count;
}

/* Brings the staged frames up to `want`; fewer when the pool is empty (all buffers are in the port's ring). */
static inline void stage(struct sender *s, unsigned want)
{
	while (s->staged_count < want && s->reserve_count) {
		struct rte_mbuf *m = s->reserve[--s->reserve_count];
		uint8_t index = s->schedule[s->mix_at];

		if (++s->mix_at == s->mix_count)
			s->mix_at = 0;
		s->staged[s->staged_count] = m;
		s->template_of[s->staged_count++] = index;
		stage_one(s, m, &s->templates[index]);
	}
}

static inline void stamp(struct sender *s, unsigned count, uint64_t now)
{
	uint32_t flow = s->flow, sequence = (uint32_t)s->counts->sent;

	for (unsigned i = 0; i < count; i++) {
		frame_write(rte_pktmbuf_mtod(s->staged[i], uint8_t *), &s->templates[s->template_of[i]], flow,
			sequence + i, now);
		if (++flow == s->flows)
			flow = 0;
	}
}

/* Takes `count` frames off the front of the stage. */
static inline void unstage(struct sender *s, unsigned count)
{
	unsigned left = s->staged_count - count;

	for (unsigned i = 0; i < left; i++) {
		s->staged[i] = s->staged[i + count];
		s->template_of[i] = s->template_of[i + count];
	}
	s->staged_count = left;
	s->tried = s->tried > count ? s->tried - count : 0;
}

static inline unsigned offer(struct sender *s, unsigned want, uint64_t now)
{
	struct direction_counts *counts = s->counts;
	uint64_t bytes = 0;
	unsigned sent;

	stamp(s, want, s->stamp ? now : 0);
	sent = rte_eth_tx_burst(s->port, 0, s->staged, (uint16_t)want);
	if (s->mix_count == 1)
		bytes = sent * (s->templates->layout.length + NFVGEN_FCS_BYTES);
	else
		for (unsigned i = 0; i < sent; i++)
			bytes += s->templates[s->template_of[i]].layout.length + NFVGEN_FCS_BYTES;
	if (want > s->tried) {
		counts->refused += want - RTE_MAX(sent, s->tried);
		s->tried = want;
	}
	counts->sent += sent;
	counts->sent_bytes += bytes;
	s->flow += sent;
	while (s->flow >= s->flows)
		s->flow -= s->flows;
	unstage(s, sent);
	return sent;
}

unsigned dpdk_send(struct sender *s, uint64_t now, unsigned burst)
{
	unsigned want = burst, sent;

	if (s->paced) {
		s->counts->unsent += pacing_give_up(&s->pacing, now);
		want = pacing_due(&s->pacing, now, burst);
	} else if (s->frames - s->counts->sent < want) {
		want = (unsigned)(s->frames - s->counts->sent);
	}
	if (want == 0)
		return 0;
	reserve(s, want);
	stage(s, want);
	sent = offer(s, RTE_MIN(want, s->staged_count), now);
	if (s->paced)
		pacing_sent(&s->pacing, sent);
	return sent;
}

bool dpdk_sender_finished(const struct sender *s)
{
	return s->paced ? s->pacing.done >= s->pacing.total : s->counts->sent >= s->frames;
}

/* Smooth weighted round-robin: sizes come in turn and not in blocks. */
static unsigned make_schedule(uint8_t *schedule, const struct frame_mix *mix)
{
	int64_t credit[NFVGEN_MIX] = {0};
	unsigned total = 0;

	for (unsigned i = 0; i < mix->count; i++)
		total += mix->weight[i];
	total = RTE_MIN(total, (unsigned)MIX_SCHEDULE);
	for (unsigned at = 0; at < total; at++) {
		unsigned best = 0;

		for (unsigned i = 0; i < mix->count; i++) {
			credit[i] += mix->weight[i];
			if (credit[i] > credit[best])
				best = i;
		}
		credit[best] -= total;
		schedule[at] = (uint8_t)best;
	}
	return total;
}

int dpdk_sender_start(struct sender *s, unsigned number, const struct trial *trial, struct failure *why)
{
	struct direction direction = trial->direction[number];
	const struct frame_endpoint *source = &trial->endpoint[direction.tx];
	const struct frame_endpoint *destination = &trial->endpoint[!direction.tx];
	uint16_t stream = (uint16_t)(dpdk.trial_number << 1 | number), largest = 0;

	*s = (struct sender){
		.port = dpdk.ports[direction.tx].id,
		.trusted = dpdk.ports[direction.tx].trusted,
		.paced = trial->rate_pps != 0,
		.stamp = trial->stamp,
		.flows = trial->flows,
		.frames = trial->frames ? trial->frames : UINT64_MAX,
		.counts = &dpdk.counts->direction[number],
		.templates = dpdk.templates[number],
	};
	for (unsigned i = 0; i < trial->mix.count; i++) {
		uint16_t size = trial->mix.size_bytes[i];

		if (frame_template_build(&dpdk.templates[number][i], &trial->stack, source, destination,
			    trial->destination_mac[direction.tx], size, stream) < 0) {
			failure_set(why, "a frame of %u bytes does not fit its headers", size);
			return -EINVAL;
		}
		largest = RTE_MAX(largest, size);
	}
	s->header_bytes = dpdk.templates[number][0].layout.payload + FRAME_PAYLOAD_BYTES;
	s->pool = dpdk_pool_for(largest);
	s->recycles = s->pool == dpdk.pool;
	s->mix_count = make_schedule(s->schedule, &trial->mix);
	return 0;
}

/* What was due until now and was not sent is unsent; what is still staged was never sent. */
void dpdk_sender_stop(struct sender *s, uint64_t now)
{
	if (s->paced) {
		s->counts->unsent += pacing_due(&s->pacing, now, UINT32_MAX);
		s->counts->intended = s->counts->sent + s->counts->unsent;
	} else {
		s->counts->intended = s->counts->sent;
	}
	rte_pktmbuf_free_bulk(s->staged, s->staged_count);
	rte_pktmbuf_free_bulk(s->reserve, s->reserve_count);
	s->staged_count = 0;
	s->reserve_count = 0;
}

void dpdk_send_learning(const struct trial *trial)
{
	for (unsigned i = 0; i < trial->learning_frames * NFVGEN_PORTS; i++) {
		unsigned port = i % NFVGEN_PORTS;
		struct rte_mbuf *m = rte_pktmbuf_alloc(dpdk.pool);

		if (!m)
			return;
		m->hash.usr = 0;
		m->data_len = frame_learning(rte_pktmbuf_mtod(m, uint8_t *), &trial->stack, &trial->endpoint[port]);
		m->pkt_len = m->data_len;
		if (rte_eth_tx_burst(dpdk.ports[port].id, 0, &m, 1) == 0)
			rte_pktmbuf_free(m);
	}
}
