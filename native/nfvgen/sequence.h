/* SPDX-License-Identifier: Apache-2.0 */
/* What came out of order, twice or not at all: a sliding window over the sequence numbers of one direction. */
#ifndef NFVGEN_SEQUENCE_H
#define NFVGEN_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#define SEQUENCE_WINDOW 131072u /* frames; a power of two, at least twice the 65,536 that are promised */
#define SEQUENCE_WORDS (SEQUENCE_WINDOW / 64)

enum sequence_verdict {
	SEQUENCE_NEW,
	SEQUENCE_REORDERED, /* below one already seen (RFC 4737, type P), for the first time */
	SEQUENCE_DUPLICATE, /* seen before */
	SEQUENCE_UNSENT,    /* never sent: the number itself is wrong */
};

struct sequence {
	uint64_t next; /* one above the highest seen, not wrapped */
	uint64_t seen[SEQUENCE_WORDS];
};

void sequence_reset(struct sequence *s);

/* The full number of the 32 bits that a frame has, which wrap after minutes at full rate: the nearest to the next. */
static inline int64_t sequence_number(const struct sequence *s, uint32_t number)
{
	return (int64_t)s->next + (int32_t)(number - (uint32_t)s->next);
}

/* All but the frame that was expected next. `sent` is the number of frames sent so far. */
enum sequence_verdict sequence_track_slow(struct sequence *s, uint32_t number, uint64_t sent);

/* Frames that came in order from `next` on, all of them sent: the same as tracking each. */
void sequence_track_run(struct sequence *s, unsigned count);

static inline enum sequence_verdict sequence_track(struct sequence *s, uint32_t number, uint64_t sent)
{
	/* A new word of the bitmap has to be cleared first, which the slow path does. */
	if (number == (uint32_t)s->next && (number & 63) && s->next < sent) {
		s->seen[(s->next % SEQUENCE_WINDOW) / 64] |= 1ull << (s->next % 64);
		s->next++;
		return SEQUENCE_NEW;
	}
	return sequence_track_slow(s, number, sent);
}

#endif
