/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When frames are due. Frame n of a direction is due at start + n * hz / rate, exact for any n (no drift). One of its
 * queues has every count-th of them: it is paced as if its clock had count times as many ticks.
 */
#ifndef NFVGEN_PACING_H
#define NFVGEN_PACING_H

#include <stdint.h>

struct pacing {
	uint64_t rate_pps;
	uint64_t hz;        /* times the number of shares */
	uint64_t start;     /* when its first frame is due */
	uint64_t late;      /* ticks after which a frame is given up */
	uint64_t total;     /* frames that fall due in the trial */
	uint64_t done;      /* sent or given up */
	uint64_t next;      /* when frame `done` is due */
	uint64_t remainder; /* of n * hz / rate, so that `next` steps without a division */
};

/* Of the frames of a direction, those of one of its `count` queues: every so many, from `index` on. */
struct pacing_share {
	unsigned index;
	unsigned count;
};

/* How many of the first `frames` are in the share. */
uint64_t pacing_shared(uint64_t frames, struct pacing_share share);

/*
 * `rate_pps` and `frames` are of all shares together, so that the shares of one rate interleave evenly, whatever it is.
 * `frames` bounds the number of frames; 0: duration alone does.
 */
void pacing_start(struct pacing *p, uint64_t start, uint64_t hz, uint64_t rate_pps, uint64_t duration_ns,
	uint64_t frames, struct pacing_share share);

/* Gives up what is too late at `now`; returns how many frames that were. */
uint64_t pacing_give_up(struct pacing *p, uint64_t now);

/* Gives up so many frames, whenever they are due. */
void pacing_skip(struct pacing *p, uint64_t count);

/* How many frames are due at `now`, at most `limit`. */
unsigned pacing_due(const struct pacing *p, uint64_t now, unsigned limit);

/* `count` frames were sent. */
void pacing_sent(struct pacing *p, unsigned count);

/* Ticks to nanoseconds and back, without overflow. */
uint64_t pacing_ns(uint64_t ticks, uint64_t hz);
uint64_t pacing_ticks(uint64_t ns, uint64_t hz);

#endif
