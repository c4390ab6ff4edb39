/* SPDX-License-Identifier: Apache-2.0 */
/* Latency counts: log-linear buckets with three significant digits (as HdrHistogram), 0 ns to 60 s. */
#ifndef NFVGEN_HISTOGRAM_H
#define NFVGEN_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

/* 2,048 buckets of 1 ns, then 1,024 for every doubling: a bucket is never wider than 1/1,024 of its value. */
#define HISTOGRAM_LINEAR_BITS 11
#define HISTOGRAM_LINEAR (1u << HISTOGRAM_LINEAR_BITS)
#define HISTOGRAM_HALF (HISTOGRAM_LINEAR / 2)
#define HISTOGRAM_MAX_NS 60000000000ull /* 60 s; what is longer is counted here, `max` and `sum` keep its value */
#define HISTOGRAM_BUCKETS (HISTOGRAM_LINEAR + 25 * HISTOGRAM_HALF) /* 2^36 ns is the first power of two over 60 s */

struct histogram {
	uint64_t total;
	uint64_t sum;
	uint64_t min; /* meaningless while total is 0 */
	uint64_t max;
	uint64_t counts[HISTOGRAM_BUCKETS];
};

static inline unsigned histogram_index(uint64_t ns)
{
	if (ns < HISTOGRAM_LINEAR)
		return (unsigned)ns;
	if (ns > HISTOGRAM_MAX_NS)
		ns = HISTOGRAM_MAX_NS;
	unsigned shift = 64 - HISTOGRAM_LINEAR_BITS - (unsigned)__builtin_clzll(ns);

	return shift * HISTOGRAM_HALF + (unsigned)(ns >> shift);
}

/* `count` equal values; the frames of one burst often share theirs. */
static inline void histogram_add(struct histogram *h, uint64_t ns, uint64_t count)
{
	if (h->total == 0 || ns < h->min)
		h->min = ns;
	if (ns > h->max)
		h->max = ns;
	h->total += count;
	h->sum += ns * count;
	h->counts[histogram_index(ns)] += count;
}

void histogram_clear(struct histogram *h);

/* The lower end of a bucket, in ns. */
uint64_t histogram_value(unsigned index);

/* Adds all that another counted. */
void histogram_merge(struct histogram *h, const struct histogram *other);

/* Adds a bucket that was counted elsewhere (in a BPF map); `min`, `max` and `sum` are the caller's to set. */
void histogram_add_bucket(struct histogram *h, unsigned index, uint64_t count);

#endif
