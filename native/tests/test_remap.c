/* SPDX-License-Identifier: Apache-2.0 */
#include "remap.h"

#include "check.h"

#define COUNT(flows) (sizeof(flows) / sizeof(*(flows)))

static uint64_t load_of(const struct remap_flow *flows, unsigned count, unsigned queue)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += flows[i].queue == queue ? flows[i].packets : 0;
	return sum;
}

static void test_half_the_difference_moves(void)
{
	struct remap_flow flows[] = {{.id = 1, .packets = 100}, {.id = 2, .packets = 100}, {.id = 3, .packets = 100},
		{.id = 4, .packets = 100}};

	CHECK_EQUAL(remap(flows, COUNT(flows), 2, 10), 2);
	CHECK_EQUAL(load_of(flows, COUNT(flows), 0), 200);
	CHECK_EQUAL(load_of(flows, COUNT(flows), 1), 200);
	CHECK_EQUAL(remap(flows, COUNT(flows), 2, 10), 0);
}

static void test_the_largest_that_fits_moves_so_that_few_do(void)
{
	struct remap_flow flows[] = {{.id = 1, .packets = 10}, {.id = 2, .packets = 10}, {.id = 3, .packets = 300},
		{.id = 4, .packets = 80}};

	/* Half of 400 is 200: the flow of 300 does not fit, those of 80, 10 and 10 do. */
	CHECK_EQUAL(remap(flows, COUNT(flows), 2, 0), 3);
	CHECK_EQUAL(load_of(flows, COUNT(flows), 0), 300);
	CHECK_EQUAL(flows[0].id, 3);
	CHECK(!flows[0].moved);
}

static void test_one_large_flow_stays(void)
{
	struct remap_flow flows[] = {{.id = 1, .packets = 1000}, {.id = 2, .queue = 1, .packets = 1}};

	CHECK_EQUAL(remap(flows, COUNT(flows), 2, 10), 0);
}

static void test_the_threshold_is_not_exceeded_by_itself(void)
{
	struct remap_flow flows[] = {{.id = 1, .packets = 30}, {.id = 2, .packets = 30}};

	CHECK_EQUAL(remap(flows, COUNT(flows), 2, 60), 0);
	CHECK_EQUAL(remap(flows, COUNT(flows), 2, 59), 1);
}

static void test_queues_are_paired_from_both_ends(void)
{
	struct remap_flow flows[] = {{.id = 1, .queue = 0, .packets = 50}, {.id = 2, .queue = 0, .packets = 50},
		{.id = 3, .queue = 1, .packets = 20}, {.id = 4, .queue = 1, .packets = 20},
		{.id = 5, .queue = 2, .packets = 2}};

	/* Ascending: 3 (0), 2 (2), 1 (40), 0 (100): 0 gives to 3, and 1 to 2 in the same period. */
	CHECK_EQUAL(remap(flows, COUNT(flows), 4, 0), 1);
	CHECK_EQUAL(load_of(flows, COUNT(flows), 3), 50);
	CHECK_EQUAL(load_of(flows, COUNT(flows), 2), 2);
}

static void test_nothing_to_do(void)
{
	CHECK_EQUAL(remap(NULL, 0, 4, 0), 0);
}

int main(void)
{
	test_half_the_difference_moves();
	test_the_largest_that_fits_moves_so_that_few_do();
	test_one_large_flow_stays();
	test_the_threshold_is_not_exceeded_by_itself();
	test_queues_are_paired_from_both_ends();
	test_nothing_to_do();
	return check_result();
}
