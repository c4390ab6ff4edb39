/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending. Frames are staged (buffer, headers, pattern), stamped (sequence, flow, time, checksums) at every attempt and
 * offered to the port; what the port does not take stays staged and is stamped again, so numbers have no holes and a
 * time is that of the attempt that succeeded. Each queue of a direction has numbers of its own, and its share of the
 * flows: a flow's frames all go out on one queue, where there are as many flows as queues.
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
 * Makes the buffer hold the template. Its headers are written again, as a received frame has those of the other
 * direction; what follows them is the same in every frame and mostly there already: the tag tells.
 */
static inline uint8_t *stage_one(const struct sender *s, struct rte_mbuf *m, const struct frame_template *t)
{
	uint8_t *frame = (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM;

	dpdk_renew(m);
	m->data_len = t->layout.length;
	m->pkt_len = t->layout.length;
	if (unlikely(!holds(s, m, t))) {
		memcpy(frame, t->bytes, RTE_ALIGN_CEIL(t->layout.length, 64u));
		m->hash.usr = s->trusted ? dpdk_tag(t) : 0;
		return frame;
	}
	rte_mov64(frame, t->bytes);
	for (unsigned at = 64; at < s->header_bytes; at += 64)
		rte_mov64(frame + at, t->bytes + at);
	return frame;
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
	memcpy(s->reserve + s->reserve_count, received, count * sizeof(*received));
	s->reserve_count += count;
	reserve(s, dpdk.options.burst);
	return count;
}

/* Which template the next frame is made of. */
static inline uint8_t next_in_mix(struct sender *s)
{
	uint8_t index = s->schedule[s->mix_at];

	if (++s->mix_at == s->mix_count)
		s->mix_at = 0;
	return index;
}

/* Numbers of the frames that a burst is made of, in the order of the stage. */
struct numbers {
	uint32_t flow;
	uint32_t first_flow;
	uint32_t flow_step;
	uint32_t flow_end;
	uint32_t sequence;
};

static inline struct numbers next_numbers(const struct sender *s)
{
	return (struct numbers){.flow = s->first_flow + s->flow_at * s->flow_step,
		.first_flow = s->first_flow,
		.flow_step = s->flow_step,
		.flow_end = s->flow_end,
		.sequence = (uint32_t)s->counts.sent};
}

static inline void next_number(struct numbers *n)
{
	n->sequence++;
	n->flow += n->flow_step;
	if (n->flow >= n->flow_end)
		n->flow = n->first_flow;
}

/* Puts in what else goes with the flows of so many staged frames. */
static __rte_noinline void write_rest(struct sender *s, const struct frame_template *t, unsigned count)
{
	struct numbers n = next_numbers(s);

	for (unsigned i = 0; i < count; i++, next_number(&n))
		frame_write_rest(rte_pktmbuf_mtod(s->staged[i], uint8_t *), t, n.flow);
}

/*
 * Stamps what is staged and brings it up to `want`; fewer when the pool is empty (all buffers are in the port's ring).
 * With one size there is nothing to look up for a frame.
 */
static void stage_one_size(struct sender *s, unsigned want, uint64_t now)
{
	const struct frame_template *t = s->templates;
	const struct frame_writer writer = frame_writer(t, now);
	struct numbers n = next_numbers(s);
	unsigned staged = RTE_MIN(s->staged_count, want), left = s->reserve_count;

	for (unsigned i = 0; i < staged; i++, next_number(&n))
		frame_write_next(rte_pktmbuf_mtod(s->staged[i], uint8_t *), &writer, frame_flow(t, n.flow), n.sequence);
	for (; staged < want && left; staged++, next_number(&n)) {
		s->staged[staged] = s->reserve[--left];
		frame_write_next(stage_one(s, s->staged[staged], t), &writer, frame_flow(t, n.flow), n.sequence);
	}
	if (unlikely(frame_has_rest(t)))
		write_rest(s, t, staged);
	s->staged_count = RTE_MAX(s->staged_count, staged);
	s->reserve_count = left;
}

static void stage_mixed(struct sender *s, unsigned want, uint64_t now)
{
	struct numbers n = next_numbers(s);

	for (; s->staged_count < want && s->reserve_count; s->staged_count++) {
		struct rte_mbuf *m = s->reserve[--s->reserve_count];
		uint8_t index = next_in_mix(s);

		s->staged[s->staged_count] = m;
		s->template_of[s->staged_count] = index;
		stage_one(s, m, &s->templates[index]);
	}
	for (unsigned i = 0; i < RTE_MIN(want, s->staged_count); i++, next_number(&n))
		frame_write(rte_pktmbuf_mtod(s->staged[i], uint8_t *), &s->templates[s->template_of[i]], n.flow,
			n.sequence, now);
}

static uint64_t bytes_of(const struct sender *s, unsigned count)
{
	uint64_t bytes = 0;

	if (s->mix_count == 1)
		return (uint64_t)count * (s->templates->layout.length + NFVGEN_FCS_BYTES);
	for (unsigned i = 0; i < count; i++)
		bytes += s->templates[s->template_of[i]].layout.length + NFVGEN_FCS_BYTES;
	return bytes;
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

static inline unsigned offer(struct sender *s, unsigned want)
{
	struct sent_counts *counts = &s->counts;
	unsigned sent;

	/* Before they can be seen: another core may receive them while this one is still in the call. */
	__atomic_store_n(&counts->offered, counts->sent + want, __ATOMIC_RELEASE);
	sent = rte_eth_tx_burst(s->port, s->queue, s->staged, (uint16_t)want);
	if (want > s->tried) {
		counts->refused += want - RTE_MAX(sent, s->tried);
		s->tried = want;
	}
	counts->sent += sent;
	counts->sent_bytes += bytes_of(s, sent);
	s->flow_at += sent;
	while (s->flow_at >= s->flows)
		s->flow_at -= s->flows;
	unstage(s, sent);
	return sent;
}

/* Frames that the port refused, in the bins of their due times. */
static __rte_noinline void note_refused(struct sender *s, struct pacing at, uint64_t frames)
{
	s->timeline->refused += frames;
	for (; frames; frames--, pacing_sent(&at, 1))
		timeline_at(s->timeline, at.next)->refused++;
}

/* Frames that were due when the port was offered frames last, and refused some: it is why they are not sent. */
static inline void give_up_refused(struct sender *s, uint64_t now)
{
	uint64_t until = RTE_MIN(now, s->offered_at + s->pacing.late), frames;

	if (likely(!s->timeline)) {
		s->counts.unsent += pacing_give_up(&s->pacing, until);
		return;
	}
	const struct pacing before = s->pacing;

	frames = pacing_give_up(&s->pacing, until);
	s->counts.unsent += frames;
	note_refused(s, before, frames);
}

/*
 * Frames whose time is over. Those that the port was never offered are late: this thread was kept from its core, or is
 * too slow for the load. It may have been kept from it just after the port had refused frames.
 */
static inline void give_up(struct sender *s, uint64_t now)
{
	uint64_t frames;

	if (s->tried)
		give_up_refused(s, now);
	frames = pacing_give_up(&s->pacing, now);
	s->counts.unsent += frames;
	s->counts.late += frames;
}

/* Returns how many frames are due and to be sent. After a gap the newest are: more than a ring holds would be lost. */
static __rte_noinline unsigned give_up_after_gap(struct sender *s, uint64_t now, unsigned burst)
{
	unsigned due = pacing_due(&s->pacing, now, UINT32_MAX);

	/* What the port has refused waits for it, and not for this thread. */
	if (!s->tried && due > NFVGEN_SENT_ON) {
		uint64_t frames = due - NFVGEN_SENT_ON;

		pacing_skip(&s->pacing, frames);
		s->counts.unsent += frames;
		s->counts.late += frames;
	}
	return pacing_due(&s->pacing, now, burst);
}

unsigned dpdk_send(struct sender *s, uint64_t now, unsigned burst)
{
	unsigned want = burst, sent;

	if (s->paced) {
		give_up(s, now);
		want = unlikely(s->lcore->after_gap) ? give_up_after_gap(s, now, burst)
						     : pacing_due(&s->pacing, now, burst);
	} else if (s->frames - s->counts.sent < want) {
		want = (unsigned)(s->frames - s->counts.sent);
	}
	if (want == 0)
		return 0;
	reserve(s, want);
	if (s->mix_count == 1)
		stage_one_size(s, want, s->stamp ? now : 0);
	else
		stage_mixed(s, want, s->stamp ? now : 0);
	s->offered_at = now;
	sent = offer(s, RTE_MIN(want, s->staged_count));
	if (s->paced)
		pacing_sent(&s->pacing, sent);
	if (unlikely(s->timeline))
		timeline_at(s->timeline, now)->sent += sent;
	return sent;
}

bool dpdk_sender_finished(const struct sender *s)
{
	return s->paced ? s->pacing.done >= s->pacing.total : s->counts.sent >= s->frames;
}

/*
 * The queue's share of the flows: every so many, from its own number on. With fewer flows than queues they are shared.
 */
static void share_flows(struct sender *s, uint32_t flows)
{
	s->flow_step = dpdk.queues;
	s->first_flow = s->queue % flows;
	s->flow_end = flows;
	s->flows = s->queue < flows ? (flows - s->queue - 1) / dpdk.queues + 1 : 1;
}

int dpdk_sender_start(unsigned number, unsigned queue, const struct trial *trial, struct failure *why)
{
	const struct pacing_share share = {.index = queue, .count = dpdk.queues};
	struct sender *s = &dpdk.senders[number][queue];
	struct frame_template *templates = dpdk.templates[number][queue];
	struct direction direction = trial->direction[number];
	const struct frame_endpoint *source = &trial->endpoint[direction.tx];
	const struct frame_endpoint *destination = &trial->endpoint[!direction.tx];
	const struct frame_stack stack = trial_stack(trial, direction.tx);
	uint16_t stream = frame_stream(dpdk.trial_number, queue, number), largest = 0;

	*s = (struct sender){
		.port = dpdk.ports[direction.tx].id,
		.queue = (uint16_t)queue,
		.trusted = dpdk.ports[direction.tx].trusted,
		.paced = trial->rate_pps != 0,
		.stamp = trial->stamp,
		.frames = trial->frames ? pacing_shared(trial->frames, share) : UINT64_MAX,
		.lcore = &dpdk.lcores[queue % dpdk.lcore_count],
		.timeline = timeline_of(number),
		.templates = templates,
	};
	share_flows(s, trial->flows);
	for (unsigned i = 0; i < trial->mix.count; i++) {
		uint16_t size = trial->mix.size_bytes[i];

		if (frame_template_build(&templates[i], &stack, source, destination,
			    trial->destination_mac[direction.tx], size, stream) < 0) {
			failure_set(why, "a frame of %u bytes does not fit its headers", size);
			return -EINVAL;
		}
		templates[i].destinations_mask = (uint8_t)(trial->destination_mac_count - 1);
		templates[i].flow_macs = trial_flow_macs(trial, direction.tx);
		largest = RTE_MAX(largest, templates[i].layout.length + NFVGEN_FCS_BYTES);
	}
	s->header_bytes = templates[0].layout.payload + FRAME_PAYLOAD_BYTES;
	s->pool = dpdk_pool_for(largest);
	s->recycles = s->pool == dpdk.pool;
	s->mix_count = mix_schedule(s->schedule, &trial->mix);
	return 0;
}

/* What was due until now and was not sent is unsent. */
void dpdk_sender_turn(struct sender *s, uint64_t now)
{
	uint64_t due = pacing_due(&s->pacing, now, UINT32_MAX), refused = 0;

	if (s->tried)
		refused = pacing_due(&s->pacing, RTE_MIN(now, s->offered_at), UINT32_MAX);
	s->counts.unsent += due;
	s->counts.late += due - refused;
	if (s->timeline)
		note_refused(s, s->pacing, refused);
}

/* As at a turn; and what is still staged was never sent. */
void dpdk_sender_stop(struct sender *s, uint64_t now)
{
	if (s->paced)
		dpdk_sender_turn(s, now);
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
