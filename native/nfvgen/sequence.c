/* SPDX-License-Identifier: Apache-2.0 */
#include "sequence.h"

#include <string.h>

void sequence_reset(struct sequence *s)
{
	memset(s, 0, sizeof(*s));
}

/* Opens the window up to and with `last`: every number that enters it is unseen. */
static void advance(struct sequence *s, uint64_t last)
{
	uint64_t word = (s->next + 63) / 64; /* the first one that holds no seen number */
	uint64_t end = last / 64;

	if (end >= word + SEQUENCE_WORDS)
		word = end - SEQUENCE_WORDS + 1;
	for (; word <= end; word++)
		s->seen[word % SEQUENCE_WORDS] = 0;
	s->next = last + 1;
}

void sequence_track_run(struct sequence *s, unsigned count)
{
	uint64_t at = s->next, end = at + count;

	if (count == 0)
		return;
	advance(s, end - 1);
	while (at < end) {
		uint64_t rest = 64 - at % 64, bits = end - at < rest ? end - at : rest;

		s->seen[(at / 64) % SEQUENCE_WORDS] |= (~0ull >> (64 - bits)) << (at % 64);
		at += bits;
	}
}

enum sequence_verdict sequence_track_slow(struct sequence *s, uint32_t number, uint64_t sent)
{
	int64_t full = sequence_number(s, number);
	enum sequence_verdict verdict = SEQUENCE_NEW;

	if (full < 0 || (uint64_t)full >= sent)
		return SEQUENCE_UNSENT;
	uint64_t at = (uint64_t)full;

	if (at >= s->next) {
		advance(s, at);
	} else {
		verdict = SEQUENCE_REORDERED;
		/* Its word is in use again: it can no longer be determined whether it was seen. */
		if (at / 64 + SEQUENCE_WORDS <= (s->next - 1) / 64)
			return verdict;
		if (s->seen[(at / 64) % SEQUENCE_WORDS] >> (at % 64) & 1)
			return SEQUENCE_DUPLICATE;
	}
	s->seen[(at / 64) % SEQUENCE_WORDS] |= 1ull << (at % 64);
	return verdict;
}
