/* SPDX-License-Identifier: Apache-2.0 */
#include "pacing.h"

#include "engine.h"

#define NS_PER_S 1000000000ull

static uint64_t multiply_divide(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((__extension__(unsigned __int128) a) * b / c);
}

uint64_t pacing_ns(uint64_t ticks, uint64_t hz)
{
	return multiply_divide(ticks, NS_PER_S, hz);
}

uint64_t pacing_ticks(uint64_t ns, uint64_t hz)
{
	return multiply_divide(ns, hz, NS_PER_S);
}

/* Frames n >= 0 with n / rate < duration, which is ceil(duration * rate). */
static uint64_t frames_due(uint64_t rate_pps, uint64_t duration_ns)
{
	__extension__ unsigned __int128 product = (__extension__(unsigned __int128) rate_pps) * duration_ns;

	return (uint64_t)((product + NS_PER_S - 1) / NS_PER_S);
}

static void seek(struct pacing *p, uint64_t frame)
{
	__extension__ unsigned __int128 product = (__extension__(unsigned __int128) frame) * p->hz;

	p->done = frame;
	p->next = p->start + (uint64_t)(product / p->rate_pps);
	p->remainder = (uint64_t)(product % p->rate_pps);
}

uint64_t pacing_shared(uint64_t frames, struct pacing_share share)
{
	return frames > share.index ? (frames - share.index - 1) / share.count + 1 : 0;
}

void pacing_start(struct pacing *p, uint64_t start, uint64_t hz, uint64_t rate_pps, uint64_t duration_ns,
	uint64_t frames, struct pacing_share share)
{
	uint64_t total = frames_due(rate_pps, duration_ns);

	*p = (struct pacing){.rate_pps = rate_pps, .hz = hz * share.count};
	p->start = start + multiply_divide(share.index, hz, rate_pps);
	p->late = pacing_ticks(NFVGEN_LATE_NS, hz);
	p->total = pacing_shared(frames && frames < total ? frames : total, share);
	seek(p, 0);
}

uint64_t pacing_give_up(struct pacing *p, uint64_t now)
{
	uint64_t before = p->done, first;

	if (p->done >= p->total || p->next + p->late >= now)
		return 0;
	/* The first frame that is still in time, found by division, then put right by single steps. */
	first = multiply_divide(now - p->late - p->start, p->rate_pps, p->hz);
	if (first > p->total)
		first = p->total;
	if (first < p->done)
		first = p->done;
	seek(p, first);
	while (p->done < p->total && p->next + p->late < now)
		pacing_sent(p, 1);
	return p->done - before;
}

void pacing_skip(struct pacing *p, uint64_t count)
{
	seek(p, count < p->total - p->done ? p->done + count : p->total);
}

unsigned pacing_due(const struct pacing *p, uint64_t now, unsigned limit)
{
	uint64_t due, left = p->total - p->done;

	if (left == 0 || p->next > now)
		return 0;
	due = multiply_divide(now - p->start, p->rate_pps, p->hz) + 1 - p->done;
	if (due == 0) /* rounding: `next` itself is due */
		due = 1;
	if (due > left)
		due = left;
	return due < limit ? (unsigned)due : limit;
}

void pacing_sent(struct pacing *p, unsigned count)
{
	uint64_t whole = p->hz / p->rate_pps, part = p->hz % p->rate_pps;

	for (unsigned i = 0; i < count; i++) {
		p->next += whole;
		p->remainder += part;
		if (p->remainder >= p->rate_pps) {
			p->remainder -= p->rate_pps;
			p->next++;
		}
	}
	p->done += count;
}
