/* SPDX-License-Identifier: Apache-2.0 */
#include "histogram.h"

#include "check.h"

static struct histogram h;

/* Lower ends go up, every value is in its bucket, and a bucket is at most 1/1,024 of its value wide. */
static void test_buckets(void)
{
	for (unsigned i = 0; i + 1 < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_value(i), next = histogram_value(i + 1);

		CHECK(next > low);
		if (low > HISTOGRAM_MAX_NS)
			break;
		CHECK_EQUAL(histogram_index(low), i);
		if (next - 1 <= HISTOGRAM_MAX_NS)
			CHECK_EQUAL(histogram_index(next - 1), i);
		CHECK(next - low == 1 || (next - low) * 1024 <= low);
	}
}

static void test_limits(void)
{
	CHECK(histogram_index(HISTOGRAM_MAX_NS) < HISTOGRAM_BUCKETS);
	CHECK_EQUAL(histogram_index(UINT64_MAX), histogram_index(HISTOGRAM_MAX_NS));
	CHECK_EQUAL(histogram_index(2047), 2047);
	CHECK_EQUAL(histogram_index(2048), 2048);
	CHECK_EQUAL(histogram_index(2049), 2048);
}

static void test_add(void)
{
	histogram_clear(&h);
	histogram_add(&h, 900, 3);
	histogram_add(&h, 81000, 1);
	histogram_add(&h, 120000000000ull, 1);
	CHECK_EQUAL(h.total, 5);
	CHECK_EQUAL(h.min, 900);
	CHECK_EQUAL(h.max, 120000000000ll);
	CHECK_EQUAL(h.sum, 120000083700ll);
	CHECK_EQUAL(h.counts[900], 3);
	histogram_add_bucket(&h, 900, 2);
	histogram_add_bucket(&h, HISTOGRAM_BUCKETS, 9); /* not there: ignored */
	CHECK_EQUAL(h.counts[900], 5);
	CHECK_EQUAL(h.total, 7);
}

static void test_merge(void)
{
	static struct histogram other, none;

	histogram_clear(&h);
	histogram_merge(&h, &none);
	CHECK_EQUAL(h.total, 0);
	histogram_add(&other, 500, 2);
	histogram_add(&other, 7000, 1);
	histogram_merge(&h, &other);
	CHECK_EQUAL(h.min, 500);
	histogram_clear(&other);
	histogram_add(&other, 300, 1);
	histogram_add(&other, 500, 4);
	histogram_merge(&h, &other);
	histogram_merge(&h, &none);
	CHECK_EQUAL(h.total, 8);
	CHECK_EQUAL(h.sum, 6 * 500 + 7000 + 300);
	CHECK_EQUAL(h.min, 300);
	CHECK_EQUAL(h.max, 7000);
	CHECK_EQUAL(h.counts[histogram_index(500)], 6);
}

int main(void)
{
	test_buckets();
	test_limits();
	test_add();
	test_merge();
	return check_result();
}
