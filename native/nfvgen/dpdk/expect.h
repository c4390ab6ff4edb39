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

#define EXPECT_STEP 64
#define EXPECT_MAX 192 /* headers and the payload's header of every stack without VXLAN fit */

struct expectation {
	const struct frame_template *template;
	struct frame_layout at; /* the template's, so that writing counts is known not to change it */
	uint16_t ip_sum;
	uint16_t udp_sum;
	unsigned head; /* bytes that are compared through the mask: a multiple of EXPECT_STEP */
	uint8_t mask[EXPECT_MAX] __attribute__((aligned(EXPECT_STEP)));
};

/* False for a stack that has no quick check: VXLAN, and bearers, whose frames a gateway rewrites. */
bool expectation_build(struct expectation *e, const struct frame_template *t);

static inline uint16_t expect_read16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/*
 * Whether both checksums fit. 0 and 0xffff are the same number to the sums: a UDP checksum is never 0 and an IP
 * header's never 0xffff when we write them, so the other one is a changed frame.
 */
static inline bool expect_sums_fit(const uint8_t *frame, const struct expectation *e)
{
	const struct frame_layout *at = &e->at;
	uint16_t address = expect_read16(frame + at->address), udp = expect_read16(frame + at->udp_checksum);
	uint64_t time;
	uint32_t sequence;

	memcpy(&sequence, frame + at->sequence, sizeof(sequence));
	memcpy(&time, frame + at->time, sizeof(time));
	if (udp == 0 || !frame_sum_fits((uint64_t)e->udp_sum + address + expect_read16(frame + at->flow_port) + udp +
					sequence + (uint32_t)time + (time >> 32)))
		return false;
	if (!at->ip_checksum)
		return true;
	uint16_t ip = expect_read16(frame + at->ip_checksum);

	return ip != 0xffff && frame_sum_fits((uint64_t)e->ip_sum + address + ip);
}

/* Whether 64 bytes are the template's wherever the mask is set. */
#ifdef __AVX512BW__
static inline bool expect_line(const uint8_t *frame, const uint8_t *right, const uint8_t *mask)
{
	__m512i differs = _mm512_xor_si512(_mm512_loadu_si512(frame), _mm512_load_si512(right));

	return _mm512_test_epi8_mask(differs, _mm512_load_si512(mask)) == 0;
}
#else
static inline bool expect_line(const uint8_t *frame, const uint8_t *right, const uint8_t *mask)
{
	__m128i wrong = _mm_setzero_si128();

	for (unsigned at = 0; at < EXPECT_STEP; at += sizeof(wrong)) {
		__m128i differs = _mm_xor_si128(
			_mm_loadu_si128((const __m128i *)(frame + at)), _mm_load_si128((const __m128i *)(right + at)));

		wrong = _mm_or_si128(wrong, _mm_and_si128(differs, _mm_load_si128((const __m128i *)(mask + at))));
	}
	return _mm_testz_si128(wrong, wrong);
}
#endif

/* `frame` must be readable up to the next multiple of 64 bytes, as mbufs are. */
static inline bool frame_is_expected(const uint8_t *frame, uint32_t length, const struct expectation *e, bool check)
{
	const uint8_t *bytes = e->template->bytes;

	if (length != e->at.length || !expect_line(frame, bytes, e->mask))
		return false;
	for (unsigned at = EXPECT_STEP; at < e->head; at += EXPECT_STEP)
		if (!expect_line(frame + at, bytes + at, e->mask + at))
			return false;
	if (!check)
		return true;
	if (!expect_sums_fit(frame, e))
		return false;
	return length <= e->head || memcmp(frame + e->head, bytes + e->head, length - e->head) == 0;
}

#endif
