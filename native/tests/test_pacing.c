/* SPDX-License-Identifier: Apache-2.0 */
#include "pacing.h"

#include "check.h"

#define HZ 2596149834ull

static const struct pacing_share whole = {.index = 0, .count = 1};

/* Stepping one by one and computing afresh must never drift apart. */
static void test_no_drift(void)
{
	const uint64_t rates[] = {1, 3, 7, 100000, 333333, 14880952, 148809523};

	for (unsigned r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
		struct pacing p;

		pacing_start(&p, 1000, HZ, rates[r], 86400000000000ull, 0, whole);
		for (uint64_t n = 0; n < 200000; n++) {
			uint64_t due = 1000 + (uint64_t)((__extension__(unsigned __int128) n) * HZ / rates[r]);

			if (p.next != due) {
				CHECK_EQUAL(p.next, due);
				return;
			}
			pacing_sent(&p, 1);
		}
	}
}

static void test_total(void)
{
	struct pacing p;

	pacing_start(&p, 0, HZ, 100000, 500000000, 0, whole);
	CHECK_EQUAL(p.total, 50000);
	pacing_start(&p, 0, HZ, 3, 1000000000, 0, whole);
	CHECK_EQUAL(p.total, 3);
	pacing_start(&p, 0, HZ, 3, 1000000, 0, whole);
	CHECK_EQUAL(p.total, 1); /* the first is due at once */
	pacing_start(&p, 0, HZ, 100000, 500000000, 7, whole);
	CHECK_EQUAL(p.total, 7);
	pacing_start(&p, 0, HZ, 1000000000, 86400000000000ull, 0, whole);
	CHECK_EQUAL(p.total, 86400000000000ll);
}

static void test_due(void)
{
	struct pacing p;

	pacing_start(&p, 500, 1000000000, 1000000, 1000000, 0, whole); /* one a microsecond, clock in ns */
	CHECK_EQUAL(pacing_due(&p, 499, 32), 0);
	CHECK_EQUAL(pacing_due(&p, 500, 32), 1);
	CHECK_EQUAL(pacing_due(&p, 1499, 32), 1);
	CHECK_EQUAL(pacing_due(&p, 1500, 32), 2);
	CHECK_EQUAL(pacing_due(&p, 1000000, 32), 32);
	CHECK_EQUAL(pacing_due(&p, 100000000, 100000), 1000);
	pacing_sent(&p, 2);
	CHECK_EQUAL(pacing_due(&p, 1500, 32), 0);
	CHECK_EQUAL(pacing_due(&p, 2500, 32), 1);
}

/* A pause of 1 ms: what is over 100 us late is gone, the rest is not, and nothing is sent twice. */
static void test_give_up(void)
{
	struct pacing p;

	pacing_start(&p, 0, 1000000000, 1000000, 10000000, 0, whole);
	CHECK_EQUAL(pacing_give_up(&p, 100000), 0);
	CHECK_EQUAL(pacing_give_up(&p, 100001), 1);
	CHECK_EQUAL(pacing_give_up(&p, 1000000), 899);
	CHECK_EQUAL(p.next, 900000);
	CHECK_EQUAL(pacing_due(&p, 1000000, 1000), 101);
	pacing_sent(&p, 101);
	CHECK_EQUAL(pacing_due(&p, 1000000, 1000), 0);
	CHECK_EQUAL(pacing_give_up(&p, 99000000), 10000 - 1001);
	CHECK_EQUAL(pacing_give_up(&p, 99000000), 0);
	CHECK_EQUAL(p.done, p.total);
}

/* What is skipped is neither due any more nor sent, and stepping goes on exactly. */
static void test_skip(void)
{
	struct pacing p;

	pacing_start(&p, 0, 1000000000, 3000000, 1000000, 0, whole);
	CHECK_EQUAL(pacing_due(&p, 100000, 1000), 301);
	pacing_skip(&p, 45);
	CHECK_EQUAL(pacing_due(&p, 100000, 1000), 256);
	CHECK_EQUAL(p.next, 15000);
	pacing_sent(&p, 256);
	CHECK_EQUAL(pacing_due(&p, 100000, 1000), 0);
	pacing_skip(&p, 1000000);
	CHECK_EQUAL(p.done, p.total);
}

static void test_units(void)
{
	CHECK_EQUAL(pacing_ns(HZ, HZ), 1000000000);
	CHECK_EQUAL(pacing_ticks(86400000000000ull, HZ), 86400 * HZ);
}

/* The shares of a rate are all of its frames, each when it is due to the tick. */
static void test_shares(void)
{
	const uint64_t rate = 9973, duration_ns = 100000000, start = 1000;
	const unsigned count = 3;
	uint64_t total = 0;

	for (unsigned index = 0; index < count; index++) {
		struct pacing p;

		pacing_start(
			&p, start, HZ, rate, duration_ns, 0, (struct pacing_share){.index = index, .count = count});
		total += p.total;
		for (uint64_t n = index; p.done < p.total; n += count) {
			uint64_t due = start + (uint64_t)((__extension__(unsigned __int128) n) * HZ / rate);

			CHECK(p.next <= due && due - p.next <= 1);
			CHECK_EQUAL(pacing_due(&p, p.next, 256), 1);
			pacing_sent(&p, 1);
		}
	}
	CHECK_EQUAL(total, 998); /* ceil(997.3) */
}

/* Fewer frames than shares: the first ones have one each. */
static void test_shares_of_few(void)
{
	struct pacing p;

	for (unsigned index = 0; index < 4; index++) {
		pacing_start(&p, 0, HZ, 2, 1000000000, 0, (struct pacing_share){.index = index, .count = 4});
		CHECK_EQUAL(p.total, index < 2);
		CHECK_EQUAL(pacing_due(&p, HZ, 256), index < 2);
		CHECK_EQUAL(pacing_shared(9, (struct pacing_share){.index = index, .count = 4}), index == 0 ? 3 : 2);
	}
}

int main(void)
{
	test_no_drift();
	test_shares();
	test_shares_of_few();
	test_total();
	test_due();
	test_give_up();
	test_skip();
	test_units();
	return check_result();
}
