/* SPDX-License-Identifier: Apache-2.0 */
#include "mix.h"

#include "check.h"

static uint8_t schedule[MIX_SCHEDULE];

static void test_one_size(void)
{
	const struct frame_mix mix = {.count = 1, .size_bytes = {64}, .weight = {3}};

	CHECK_EQUAL(mix_schedule(schedule, &mix), 3);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQUAL(schedule[i], 0);
}

/* IMIX: the weights are kept, and no size waits for another one's block to end. */
static void test_imix_is_interleaved(void)
{
	static const uint8_t expected[] = {0, 1, 0, 0, 1, 0, 2, 0, 1, 0, 1, 0};
	const struct frame_mix mix = {.count = 3, .size_bytes = {64, 570, 1518}, .weight = {7, 4, 1}};

	CHECK_EQUAL(mix_schedule(schedule, &mix), 12);
	for (unsigned i = 0; i < sizeof(expected); i++)
		CHECK_EQUAL(schedule[i], expected[i]);
}

/* Every part of the longest turn has each size as often as its weight says, to within one frame for each other size. */
static void test_the_largest_mix(void)
{
	struct frame_mix mix = {.count = NFVGEN_MIX};
	unsigned seen[NFVGEN_MIX] = {0}, total = 0, length;

	for (unsigned i = 0; i < NFVGEN_MIX; i++) {
		mix.weight[i] = (uint16_t)(1000 - 60 * i);
		total += mix.weight[i];
	}
	length = mix_schedule(schedule, &mix);
	CHECK_EQUAL(length, total);
	for (unsigned at = 0; at < length; at++) {
		seen[schedule[at]]++;
		for (unsigned i = 0; i < NFVGEN_MIX; i++) {
			long long error = (long long)seen[i] * total - (long long)(at + 1) * mix.weight[i];

			CHECK(error < (long long)NFVGEN_MIX * total && -error < (long long)NFVGEN_MIX * total);
		}
	}
	for (unsigned i = 0; i < NFVGEN_MIX; i++)
		CHECK_EQUAL(seen[i], mix.weight[i]);
}

static void test_heaviest(void)
{
	struct frame_mix mix = {.count = NFVGEN_MIX};

	for (unsigned i = 0; i < NFVGEN_MIX; i++)
		mix.weight[i] = 1000;
	CHECK_EQUAL(mix_schedule(schedule, &mix), NFVGEN_MIX * 1000);
	for (unsigned at = 0; at < NFVGEN_MIX * 1000; at++)
		CHECK_EQUAL(schedule[at], at % NFVGEN_MIX);
}

int main(void)
{
	test_one_size();
	test_imix_is_interleaved();
	test_the_largest_mix();
	test_heaviest();
	return check_result();
}
