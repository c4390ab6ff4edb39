/* SPDX-License-Identifier: Apache-2.0 */
/* Every byte of every stack's frame, corrupted: found, unless no checksum covers that byte. */
#include "dpdk/parse.h"

#include "check.h"

static struct frame_template t;
static uint8_t frame[NFVGEN_MAX_FRAME_SIZE];

/* Ethernet headers and tags; in IPv6 traffic class, flow label and hop limit; with VXLAN what only the outer sum
 * covers. */
static bool uncovered(const struct frame_stack *stack, unsigned at)
{
	unsigned network = t.layout.network, inner = t.layout.inner_network;

	if (at < network)
		return true;
	if (stack->vxlan && at >= network + (stack->ip == 6 ? 8u : 20u) && at < inner)
		return true;
	if (stack->ip == 4)
		return false;
	for (unsigned ip = network;; ip = inner) {
		if (at >= ip && (at < ip + 4 || at == ip + 7))
			return true;
		if (ip == inner)
			return false;
	}
}

static void check_stack(const struct frame_stack *stack, uint16_t more)
{
	struct frame_endpoint ends[2];
	uint16_t size = (uint16_t)(frame_min_size(stack) + more);
	uint32_t length = size - NFVGEN_FCS_BYTES;
	struct parsed parsed;

	frame_endpoint_default(&ends[0], 0, (const uint8_t[]){2, 0, 0, 0, 0, 1});
	frame_endpoint_default(&ends[1], 1, (const uint8_t[]){2, 0, 0, 0, 0, 2});
	CHECK_EQUAL(frame_template_build(&t, stack, &ends[0], &ends[1], ends[1].mac, size, 3), 0);
	memcpy(frame, t.bytes, sizeof(frame));
	frame_write(frame, &t, 70000, 12345, 987654321);
	parsed = dpdk_parse(frame, length, true);
	CHECK_EQUAL(parsed.payload, t.layout.payload);
	CHECK(parsed.intact);
	for (uint32_t at = 0; at < length; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			frame[at] ^= (uint8_t)(1u << bit);
			parsed = dpdk_parse(frame, length, true);
			if (parsed.payload && parsed.intact && !uncovered(stack, at))
				CHECK_EQUAL(at, -1);
			frame[at] ^= (uint8_t)(1u << bit);
		}
	for (uint32_t cut = 0; cut < length; cut++) {
		parsed = dpdk_parse(frame, cut, true);
		CHECK(!parsed.payload || !parsed.intact);
	}
	parsed = dpdk_parse(frame, length, false);
	CHECK(parsed.intact);
	frame[t.layout.length - 1u] ^= 1;
	CHECK(length > t.layout.payload + 18u ? dpdk_parse(frame, length, false).intact : true);
}

int main(void)
{
	for (unsigned i = 0; i < 8; i++) {
		struct frame_stack stack = {
			.vlan = i & 1 ? 77 : 0, .ip = i & 2 ? 6 : 4, .vxlan = (i & 4) != 0, .vni = 5};

		check_stack(&stack, 0);
		check_stack(&stack, 1);
		check_stack(&stack, 333);
	}
	return check_result();
}
