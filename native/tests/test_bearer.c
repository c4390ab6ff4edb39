/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of bearers as a gateway passes them on: every damaged bit is found, and so is what is right but not here. */
#include "dpdk/bearer.h"

#include "check.h"

#define BEARERS 40
#define DOWN 0
#define UP 1 /* the port at which uplink frames arrive */

static struct frame_bearers bearers;
static struct frame_template t;
static struct frame_endpoint ends[2];
static uint8_t frame[NFVGEN_MAX_FRAME_SIZE];
static uint32_t length;

static bool is_right(unsigned port)
{
	struct parsed parsed = dpdk_parse_bearer(frame, length, true, &bearers, port);

	return parsed.payload && parsed.intact && !parsed.astray;
}

/* What a gateway makes of an uplink frame. */
static void make_uplink(uint16_t size, uint32_t number)
{
	const struct frame_stack stack = {.ip = 4, .bearers = &bearers, .uplink = true};

	CHECK_EQUAL(frame_template_build(&t, &stack, &ends[0], &ends[1], ends[1].mac, size, 3), 0);
	memcpy(frame, t.bytes, sizeof(frame));
	frame_write(frame, &t, number, 12345, 987654321);
	length = t.layout.length;
}

static void decapsulate(void)
{
	length -= FRAME_GTPU_BYTES;
	memmove(frame + 14, frame + 14 + FRAME_GTPU_BYTES, length - 14);
}

/* The tunnel of an uplink frame with the addresses and the TEID of the other direction: its sums are right. */
static void make_downlink(uint16_t size, uint32_t number, uint32_t teid)
{
	struct frame_bearers turned = bearers;
	const struct frame_stack stack = {.ip = 4, .bearers = &turned, .uplink = true};

	turned.enb = bearers.sgw;
	turned.sgw = bearers.enb;
	turned.server = bearers.bearer[number].ue;
	for (unsigned i = 0; i < BEARERS; i++)
		turned.bearer[i] = (struct frame_bearer){.ue = bearers.server, .uplink_teid = teid};
	CHECK_EQUAL(frame_template_build(&t, &stack, &ends[0], &ends[1], ends[1].mac, size, 2), 0);
	memcpy(frame, t.bytes, sizeof(frame));
	frame_write(frame, &t, number, 12345, 987654321);
	length = t.layout.length;
}

static void check_damage(unsigned port)
{
	CHECK(is_right(port));
	CHECK(!is_right(!port));
	for (uint32_t at = 14; at < length; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			frame[at] ^= (uint8_t)(1u << bit);
			if (is_right(port))
				CHECK_EQUAL(at, -1);
			frame[at] ^= (uint8_t)(1u << bit);
		}
	for (uint32_t whole = length; --length;)
		if (is_right(port)) {
			CHECK_EQUAL(length, whole);
			return;
		}
}

static void test_damage(void)
{
	const uint16_t sizes[] = {64, 65, 333};

	for (unsigned i = 0; i < 3; i++)
		for (uint32_t number = 0; number < BEARERS; number += 39) {
			make_uplink(sizes[i], number);
			CHECK(!is_right(UP) && !is_right(DOWN));
			decapsulate();
			check_damage(UP);
			make_downlink(sizes[i], number, bearers.bearer[number].downlink_teid);
			check_damage(DOWN);
		}
}

static void test_without_outer_checksum(void)
{
	make_downlink(100, 3, bearers.bearer[3].downlink_teid);
	frame[40] = frame[41] = 0;
	CHECK(is_right(DOWN));
	for (uint32_t at = 14; at < length; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			/* The tunnel's source port may be any. */
			bool covered = at != 34 && at != 35;

			frame[at] ^= (uint8_t)(1u << bit);
			if (is_right(DOWN) == covered)
				CHECK_EQUAL(at, -1);
			frame[at] ^= (uint8_t)(1u << bit);
		}
}

/* All sums right, and yet for somebody else. */
static void test_other_ends(void)
{
	uint32_t *const ends_of_tunnel[] = {&bearers.enb, &bearers.sgw};

	make_downlink(100, 3, bearers.bearer[3].downlink_teid);
	for (unsigned i = 0; i < 2; i++) {
		*ends_of_tunnel[i] ^= 0x03000000u;
		CHECK(!is_right(DOWN));
		*ends_of_tunnel[i] ^= 0x03000000u;
		CHECK(is_right(DOWN));
	}
}

static void test_other_bearers(void)
{
	make_downlink(100, 3, bearers.bearer[4].downlink_teid);
	CHECK(!is_right(DOWN));
	make_downlink(100, 3, bearers.bearer[3].uplink_teid);
	CHECK(!is_right(DOWN));
	make_uplink(100, 3);
	decapsulate();
	bearers.bearer[3].ue ^= 0x01000000u;
	CHECK(!is_right(UP));
	bearers.bearer[3].ue ^= 0x01000000u;
	CHECK(is_right(UP));
	bearers.count = 3;
	CHECK(!is_right(UP));
	bearers.count = BEARERS;
	bearers.server ^= 1;
	CHECK(!is_right(UP));
	bearers.server ^= 1;
}

int main(void)
{
	frame_endpoint_default(&ends[0], 0, (const uint8_t[]){2, 0, 0, 0, 0, 1});
	frame_endpoint_default(&ends[1], 1, (const uint8_t[]){2, 0, 0, 0, 0, 2});
	bearers = (struct frame_bearers){.enb = frame_be32(0xc0000201u),
		.sgw = frame_be32(0xc00002feu),
		.server = frame_be32(0xcb007109u),
		.count = BEARERS};
	for (uint32_t i = 0; i < BEARERS; i++)
		bearers.bearer[i] = (struct frame_bearer){.ue = frame_be32(0x0a2d0002u + i),
			.uplink_teid = frame_be32(0x80000001u + i),
			.downlink_teid = frame_be32(0x41u + i)};
	test_damage();
	test_without_outer_checksum();
	test_other_ends();
	test_other_bearers();
	return check_result();
}
