/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quick check of a frame that nobody rewrote on its way: every byte but those that differ from frame to frame must
 * be the template's, and those must fit each other by the checksums. It proves more than parsing and summing, and is
 * several times cheaper. A frame that is not as expected may still be ours (addresses swapped, a tag taken off): it is
 * parsed then.
 */
#ifndef NFVGEN_EXPECT_H
#define NFVGEN_EXPECT_H

#include <rte_vect.h>

#include "../frame.h"

#define EXPECT_STEP 16
#define EXPECT_MAX 160 /* headers and the payload's header of every stack without VXLAN fit */

struct expectation {
	const struct frame_template *template;
	unsigned head; /* bytes that are compared through the mask: a multiple of EXPECT_STEP */
	uint8_t mask[EXPECT_MAX] __attribute__((aligned(16)));
};

/* False for a stack that has no quick check. */
bool expectation_build(struct expectation *e, const struct frame_template *t);

static inline uint16_t expect_read16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline bool expect_sums_fit(const uint8_t *frame, const struct frame_template *t)
{
	const struct frame_layout *at = &t->layout;
	uint16_t address = expect_read16(frame + at->address);
	uint64_t time;
	uint32_t sequence;

	memcpy(&sequence, frame + at->sequence, sizeof(sequence));
	memcpy(&time, frame + at->time, sizeof(time));
	if (frame_udp_final((uint64_t)t->udp_sum + address + expect_read16(frame + at->source_port) + sequence +
			    (uint32_t)time + (time >> 32)) != expect_read16(frame + at->udp_checksum))
		return false;
	if (!at->ip_checksum)
		return true;
	uint16_t ip = (uint16_t)~frame_fold((uint64_t)t->ip_sum + address);

	return ip == expect_read16(frame + at->ip_checksum);
}

/* What differs from the template where the mask is set; `head` is a constant where this is inlined. */
static __rte_always_inline __m128i expect_compare(const uint8_t *frame, const struct expectation *e, unsigned head)
{
	const uint8_t *bytes = e->template->bytes;
	__m128i wrong = _mm_setzero_si128();

	for (unsigned at = 0; at < head; at += EXPECT_STEP) {
		__m128i seen = _mm_loadu_si128((const __m128i *)(frame + at));
		__m128i right = _mm_load_si128((const __m128i *)(bytes + at));
		__m128i mask = _mm_load_si128((const __m128i *)(e->mask + at));

		wrong = _mm_or_si128(wrong, _mm_and_si128(_mm_xor_si128(seen, right), mask));
	}
	return wrong;
}

/* `frame` must be readable up to the next multiple of 16 bytes, as mbufs are. */
static inline bool frame_is_expected(const uint8_t *frame, uint32_t length, const struct expectation *e, bool check)
{
	const struct frame_template *t = e->template;
	__m128i wrong;

	if (length != t->layout.length)
		return false;
	wrong = e->head == 64 ? expect_compare(frame, e, 64) : expect_compare(frame, e, e->head);
	if (!_mm_testz_si128(wrong, wrong))
		return false;
	if (!check)
		return true;
	if (!expect_sums_fit(frame, t))
		return false;
	return length <= e->head || memcmp(frame + e->head, t->bytes + e->head, length - e->head) == 0;
}

#endif
