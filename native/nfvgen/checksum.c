/* SPDX-License-Identifier: Apache-2.0 */
/* The sum behind the Internet checksum (RFC 1071). 64-bit partial sums of 32-bit words: 2^32 words fit without a carry.
 */
#include "frame.h"

/* Below this the plain loop is faster than setting up vectors. */
#define VECTOR_BYTES 256

static uint64_t sum_plain(const uint8_t *at, size_t length)
{
	uint64_t low = 0, high = 0;

	for (; length >= 8; at += 8, length -= 8) {
		uint64_t word;

		memcpy(&word, at, 8);
		low += (uint32_t)word;
		high += word >> 32;
	}
	if (length) {
		uint64_t word = 0;

		memcpy(&word, at, length);
		low += (uint32_t)word;
		high += word >> 32;
	}
	return low + high;
}

#ifdef __x86_64__
#include <immintrin.h>

__attribute__((target("avx2"))) static uint64_t sum_avx2(const uint8_t *at, size_t length)
{
	const __m256i mask = _mm256_set1_epi64x(0xffffffff);
	__m256i even[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
	__m256i odd[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
	uint64_t lanes[4];

	for (; length >= 64; at += 64, length -= 64) {
		__m256i a = _mm256_loadu_si256((const __m256i *)(const void *)at);
		__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(at + 32));

		even[0] = _mm256_add_epi64(even[0], _mm256_and_si256(a, mask));
		odd[0] = _mm256_add_epi64(odd[0], _mm256_srli_epi64(a, 32));
		even[1] = _mm256_add_epi64(even[1], _mm256_and_si256(b, mask));
		odd[1] = _mm256_add_epi64(odd[1], _mm256_srli_epi64(b, 32));
	}
	even[0] = _mm256_add_epi64(_mm256_add_epi64(even[0], even[1]), _mm256_add_epi64(odd[0], odd[1]));
	_mm256_storeu_si256((__m256i *)(void *)lanes, even[0]);
	return lanes[0] + lanes[1] + lanes[2] + lanes[3] + sum_plain(at, length);
}

uint64_t frame_sum(const void *data, size_t length)
{
	static int avx2 = -1; /* found once; every thread would find the same */

	if (length < VECTOR_BYTES)
		return sum_plain(data, length);
	if (avx2 < 0) {
		__builtin_cpu_init();
		avx2 = __builtin_cpu_supports("avx2") ? 1 : 0;
	}
	return avx2 ? sum_avx2(data, length) : sum_plain(data, length);
}
#else
uint64_t frame_sum(const void *data, size_t length)
{
	return sum_plain(data, length);
}
#endif
