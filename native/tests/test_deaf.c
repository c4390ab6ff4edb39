/* SPDX-License-Identifier: Apache-2.0 */
#include "xdp/deaf.h"

#include "check.h"

#define MANY 1000

/* Made, and kept from the core before it was handed over: nothing is reported, for as long as that takes. */
static void test_a_thread_that_is_kept_from_its_core_ends_nothing(void)
{
	struct deaf deaf = {0};
	const struct xmit_counts nothing = {0}, taken = {.taken = 8};

	for (unsigned i = 0; i < MANY; i++)
		CHECK(!deaf_look(&deaf, &nothing));
	CHECK(!deaf_look(&deaf, &taken));
	CHECK(!deaf_at_end(8, &taken));
}

static void test_a_port_that_turns_every_frame_away_is_deaf(void)
{
	struct deaf deaf = {0};
	struct xmit_counts port = {.error = -6};

	for (unsigned look = 1; look < DEAF_LOOKS; look++) {
		port.turned_away += look;
		CHECK(!deaf_look(&deaf, &port));
		CHECK(!deaf_look(&deaf, &port)); /* of a look in which none was sent nothing is known */
	}
	port.turned_away++;
	CHECK(deaf_look(&deaf, &port));
	CHECK(deaf_at_end(port.turned_away, &port));
}

/* A peer that sets its rings up, and then takes frames, or takes one now and then. */
static void test_a_port_that_takes_any_is_not(void)
{
	struct deaf deaf = {0};
	struct xmit_counts port = {.turned_away = 5};

	CHECK(!deaf_look(&deaf, &port));
	for (unsigned i = 0; i < MANY; i++) {
		port.taken++;
		port.turned_away += 100;
		CHECK(!deaf_look(&deaf, &port));
	}
	CHECK(!deaf_at_end(MANY, &port));
}

/* What is in the ring of a peer that does not run was taken before. */
static void test_a_full_ring_is_not(void)
{
	struct deaf deaf = {0};
	struct xmit_counts port = {0};

	for (unsigned i = 0; i < MANY; i++) {
		port.refused += 16;
		CHECK(!deaf_look(&deaf, &port));
	}
	CHECK(!deaf_at_end(port.refused, &port));
}

/* The end of a trial of one frame decides at once; where none was made, nothing. */
static void test_the_end(void)
{
	const struct xmit_counts nothing = {0}, away = {.turned_away = 1, .error = -6};

	CHECK(deaf_at_end(1, &away));
	CHECK(deaf_at_end(1, &nothing));
	CHECK(!deaf_at_end(0, &nothing));
}

int main(void)
{
	test_a_thread_that_is_kept_from_its_core_ends_nothing();
	test_a_port_that_turns_every_frame_away_is_deaf();
	test_a_port_that_takes_any_is_not();
	test_a_full_ring_is_not();
	test_the_end();
	return check_result();
}
