/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of the frames of each moment: sent or refused then, and received whenever that was; and the longest time
 * in which none came although some were missing. One for each direction, only in trials that ask for it. What the
 * generator itself was too late to offer is not in it: the system under test did nothing to those frames. Times are in
 * the engine's ticks.
 */
#ifndef NFVGEN_TIMELINE_H
#define NFVGEN_TIMELINE_H

#include <stdint.h>

#include "engine.h"

#define NFVGEN_MAX_BINS 131072u

struct timeline_bin {
	uint32_t sent;
	uint32_t refused;  /* due, offered, and given up because the port did not take them */
	uint32_t received; /* of those sent in this bin */
};

struct timeline {
	uint64_t start;
	uint64_t hz;
	uint64_t width; /* ticks of a bin, */
	uint64_t width_ns;
	uint32_t count;
	uint64_t refused; /* so far */
	uint64_t last;    /* when a frame came last, or the start */
	uint64_t missing; /* refused or lost until then */
	uint64_t gap_from;
	uint64_t gap_to; /* 0: nothing came after gap_from. As gap_from: there was no gap */
	struct timeline_bin *bins;
};

/* Before a trial, while none runs: memory for its bins, or none. 0 or -ENOMEM. */
int timeline_prepare(const struct trial *trial);

/* NULL: this trial has none. */
struct timeline *timeline_of(unsigned direction);

void timeline_start(struct timeline *t, uint64_t start, uint64_t hz);

/* Sending ended at `end`, and nothing comes any more: frames lost since the last one are a gap without an end. */
void timeline_end(struct timeline *t, uint64_t end, uint64_t lost);

static inline struct timeline_bin *timeline_at(struct timeline *t, uint64_t time)
{
	uint64_t at = time > t->start ? (time - t->start) / t->width : 0;

	return &t->bins[at < t->count ? at : t->count - 1];
}

/* `count` frames that were sent at `sent` came at `now`; until then `lost` were skipped by the numbers that came. */
static inline void timeline_received(struct timeline *t, uint64_t sent, uint64_t now, unsigned count, uint64_t lost)
{
	uint64_t missing = t->refused + lost;

	timeline_at(t, sent)->received += count;
	if (missing > t->missing && now > t->last && now - t->last > t->gap_to - t->gap_from) {
		t->gap_from = t->last;
		t->gap_to = now;
	}
	t->missing = missing;
	t->last = now;
}

#endif
