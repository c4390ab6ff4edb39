/* SPDX-License-Identifier: Apache-2.0 */
#include "sequence.h"

#include <string.h>

#include "check.h"

static struct sequence s;

static void test_in_order_and_gap(void)
{
	sequence_reset(&s);
	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQUAL(sequence_track(&s, i, 5000), SEQUENCE_NEW);
	CHECK_EQUAL(sequence_track(&s, 1500, 5000), SEQUENCE_NEW); /* 500 are missing */
	CHECK_EQUAL(sequence_track(&s, 1499, 5000), SEQUENCE_REORDERED);
	CHECK_EQUAL(sequence_track(&s, 1499, 5000), SEQUENCE_DUPLICATE);
	CHECK_EQUAL(sequence_track(&s, 1500, 5000), SEQUENCE_DUPLICATE);
	CHECK_EQUAL(sequence_track(&s, 999, 5000), SEQUENCE_DUPLICATE);
	CHECK_EQUAL(sequence_track(&s, 1000, 5000), SEQUENCE_REORDERED);
	CHECK_EQUAL(sequence_track(&s, 5000, 5000), SEQUENCE_UNSENT);
	CHECK_EQUAL(sequence_track(&s, 0xffffffff, 5000), SEQUENCE_UNSENT);
}

/* Every frame twice, 65,536 later: all of them are found. */
static void test_duplicates_within_window(void)
{
	unsigned duplicates = 0;

	sequence_reset(&s);
	for (uint32_t i = 0; i < 400000; i++) {
		CHECK_EQUAL(sequence_track(&s, i, 400000), SEQUENCE_NEW);
		if (i >= 65536 && sequence_track(&s, i - 65536, 400000) == SEQUENCE_DUPLICATE)
			duplicates++;
	}
	CHECK_EQUAL(duplicates, 400000 - 65536);
}

/* Against a plain table: random drops, duplicates and displacements. */
static void test_random(void)
{
	static uint8_t seen[100000];
	uint32_t random = 1, highest = 0;
	bool any = false;

	sequence_reset(&s);
	for (uint32_t i = 0; i < 300000; i++) {
		enum sequence_verdict expected;
		uint32_t at;

		random = random * 1664525u + 1013904223u;
		at = i / 3 + (random >> 20) % 600;
		if (at >= sizeof(seen))
			continue;
		if (seen[at])
			expected = SEQUENCE_DUPLICATE;
		else
			expected = any && at < highest ? SEQUENCE_REORDERED : SEQUENCE_NEW;
		CHECK_EQUAL(sequence_track(&s, at, sizeof(seen)), expected);
		seen[at] = 1;
		any = true;
		highest = at > highest ? at : highest;
	}
}

/* The 32 bits in the frame wrap; the count behind them does not. */
static void test_wrap(void)
{
	uint64_t start = 0xfffffff0ull;

	sequence_reset(&s);
	s.next = start;
	for (uint64_t i = start; i < start + 100; i++)
		CHECK_EQUAL(sequence_track(&s, (uint32_t)i, start + 100), SEQUENCE_NEW);
	CHECK_EQUAL(s.next, start + 100);
	CHECK_EQUAL(sequence_track(&s, (uint32_t)(start + 3), start + 100), SEQUENCE_DUPLICATE);
	CHECK_EQUAL(sequence_track(&s, (uint32_t)(start + 100), start + 100), SEQUENCE_UNSENT);
}

static void test_large_jump(void)
{
	sequence_reset(&s);
	CHECK_EQUAL(sequence_track(&s, 0, 10000000), SEQUENCE_NEW);
	CHECK_EQUAL(sequence_track(&s, 5000000, 10000000), SEQUENCE_NEW);
	for (uint32_t i = 5000000 - 65536; i < 5000000; i++)
		CHECK_EQUAL(sequence_track(&s, i, 10000000), SEQUENCE_REORDERED);
	CHECK_EQUAL(sequence_track(&s, 1, 10000000), SEQUENCE_REORDERED); /* too old to tell */
}

/* Runs of all lengths from all places leave the window as the frames one by one would. */
static void test_runs(void)
{
	static struct sequence single;
	uint32_t random = 1;

	sequence_reset(&s);
	sequence_reset(&single);
	for (uint64_t at = 0; at < 3ull * SEQUENCE_WINDOW;) {
		unsigned count = (random >> 16) % 300;

		sequence_track_run(&s, count);
		for (unsigned i = 0; i < count; i++, at++)
			CHECK_EQUAL(sequence_track(&single, (uint32_t)at, UINT64_MAX), SEQUENCE_NEW);
		if (random >> 30 == 0) { /* a gap */
			at += 100;
			CHECK_EQUAL(sequence_track(&s, (uint32_t)at, UINT64_MAX), SEQUENCE_NEW);
			CHECK_EQUAL(sequence_track(&single, (uint32_t)at++, UINT64_MAX), SEQUENCE_NEW);
		}
		CHECK_EQUAL(s.next, single.next);
		CHECK_EQUAL(memcmp(s.seen, single.seen, sizeof(s.seen)), 0);
		random = random * 1664525u + 1013904223u;
	}
}

int main(void)
{
	test_runs();
	test_in_order_and_gap();
	test_duplicates_within_window();
	test_random();
	test_wrap();
	test_large_jump();
	return check_result();
}
