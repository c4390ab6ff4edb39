/* SPDX-License-Identifier: Apache-2.0 */
/* The quick check takes every frame that is sent, and no frame of which one bit, or a checksum's 0, was changed. */
#include "dpdk/expect.h"

#include "check.h"

static struct frame_template t;
static struct expectation e;
static uint8_t frame[NFVGEN_MAX_FRAME_SIZE];

static void check_every_bit(uint32_t length)
{
	for (uint32_t at = 0; at < length; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			frame[at] ^= (uint8_t)(1u << bit);
			CHECK(!frame_is_expected(frame, length, &e, true));
			frame[at] ^= (uint8_t)(1u << bit);
		}
	CHECK(!frame_is_expected(frame, length - 1, &e, true));
	CHECK(!frame_is_expected(frame, length + 1, &e, true));
}

/* To the sums 0 and 0xffff are the same number; to the check they are not. */
static void check_other_zero(unsigned checksum, uint32_t length, uint16_t other)
{
	uint16_t right;

	memcpy(&right, frame + checksum, sizeof(right));
	if (right + other != 0xffff)
		return;
	memcpy(frame + checksum, &other, sizeof(other));
	CHECK(!frame_is_expected(frame, length, &e, true));
	memcpy(frame + checksum, &right, sizeof(right));
}

static void check_many_frames(uint32_t length)
{
	uint64_t time = 0x0123456789abcdefull;

	for (uint32_t i = 0; i < 300000; i++) {
		frame_write(frame, &t, i, i * 77777u, time);
		CHECK(frame_is_expected(frame, length, &e, true));
		if (!t.flow_macs)
			CHECK_EQUAL(frame[FRAME_DESTINATION], 2 + (i & t.destinations_mask));
		check_other_zero(t.layout.udp_checksum, length, 0);
		if (t.layout.ip_checksum)
			check_other_zero(t.layout.ip_checksum, length, 0xffff);
		time = time * 6364136223846793005ull + 1442695040888963407ull;
	}
}

static void check_stack(const struct frame_stack *stack, uint16_t more)
{
	struct frame_endpoint ends[2];
	uint16_t size = (uint16_t)(frame_min_size(stack) + more);

	frame_endpoint_default(&ends[0], 0, (const uint8_t[]){2, 0, 0, 0, 0, 1});
	frame_endpoint_default(&ends[1], 1, (const uint8_t[]){2, 0, 0, 0, 0, 2});
	CHECK_EQUAL(frame_template_build(&t, stack, &ends[0], &ends[1], ends[1].mac, size, 3), 0);
	CHECK_EQUAL(expectation_build(&e, &t), !stack->vxlan);
	if (stack->vxlan)
		return;
	memcpy(frame, t.bytes, sizeof(frame));
	frame_write(frame, &t, 70000, 12345, 987654321);
	check_every_bit(t.layout.length);
	check_many_frames(t.layout.length);
	t.destinations_mask = 7;
	CHECK(expectation_build(&e, &t));
	check_many_frames(t.layout.length);
	t.destinations_mask = 0;
	t.flow_macs = FLOW_SOURCE_MAC | FLOW_DESTINATION_MAC;
	CHECK(expectation_build(&e, &t));
	check_many_frames(t.layout.length);
}

int main(void)
{
	for (unsigned i = 0; i < 16; i++) {
		struct frame_stack stack = {.vlan = i & 1 ? 77 : 0,
			.ip = i & 2 ? 6 : 4,
			.vxlan = (i & 4) != 0,
			.replies = (i & 8) != 0,
			.flow_address = i % 3,
			.vni = 5};

		check_stack(&stack, 0);
		check_stack(&stack, 333);
	}
	return check_result();
}
