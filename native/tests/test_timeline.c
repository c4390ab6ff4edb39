/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

#include "check.h"

#define HZ 1000000000ull
#define START 5000ull

static struct timeline *begin(void)
{
	const struct trial trial = {
		.duration_ns = 800000, .then_duration_ns = 200000, .timeline_ns = 100000, .directions = 1};

	CHECK_EQUAL(timeline_prepare(&trial), 0);
	CHECK(timeline_of(0) != NULL && timeline_of(1) == NULL);
	timeline_start(timeline_of(0), START, HZ);
	return timeline_of(0);
}

static void test_none(void)
{
	const struct trial trial = {.duration_ns = 1000000, .directions = 2};

	CHECK_EQUAL(timeline_prepare(&trial), 0);
	CHECK(timeline_of(0) == NULL && timeline_of(1) == NULL);
}

static void test_bins(void)
{
	struct timeline *t = begin();

	CHECK_EQUAL(t->width, 100000);
	CHECK_EQUAL(t->count, 12); /* of both stretches, and one for what is sent just after the end */
	CHECK(timeline_at(t, START - 1) == &t->bins[0]);
	CHECK(timeline_at(t, START + 99999) == &t->bins[0]);
	CHECK(timeline_at(t, START + 100000) == &t->bins[1]);
	CHECK(timeline_at(t, START + 99000000) == &t->bins[11]);
	timeline_received(t, START + 150000, START + 950000, 3, 0);
	CHECK_EQUAL(t->bins[1].received, 3); /* by the time of sending */
	CHECK_EQUAL(t->bins[9].received, 0);
}

/* Only times in which frames were missing are gaps: a pause of the sender is none. */
static void test_gap(void)
{
	struct timeline *t = begin();

	timeline_received(t, START, START + 1000, 1, 0);
	timeline_received(t, START, START + 400000, 1, 0);
	CHECK_EQUAL(t->gap_to - t->gap_from, 0);
	timeline_received(t, START, START + 450000, 1, 7); /* seven numbers were skipped */
	CHECK_EQUAL(t->gap_from, START + 400000);
	CHECK_EQUAL(t->gap_to, START + 450000);
	timeline_received(t, START, START + 700000, 1, 7);
	CHECK_EQUAL(t->gap_to, START + 450000);
	t->refused += 2;
	timeline_received(t, START, START + 900000, 1, 7);
	CHECK_EQUAL(t->gap_from, START + 700000);
	timeline_end(t, START + 1000000, 7);
	CHECK_EQUAL(t->gap_to, START + 900000);
}

static void test_gap_without_end(void)
{
	struct timeline *t = begin();

	timeline_received(t, START, START + 1000, 1, 0);
	timeline_end(t, START + 1000000, 5);
	CHECK_EQUAL(t->gap_from, START + 1000);
	CHECK_EQUAL(t->gap_to, 0);
}

int main(void)
{
	test_none();
	test_bins();
	test_gap();
	test_gap_without_end();
	return check_result();
}
