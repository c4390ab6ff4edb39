/* SPDX-License-Identifier: Apache-2.0 */
/* A frame that nfvgen's DPDK engine receives: parsed, and held against what it expects. The first byte says how. */
#include "fuzz.h"

#include "dpdk/bearer.h"
#include "dpdk/expect.h"

#define STACKS 8

static struct frame_bearers bearers = {.enb = 0x01000a0a, .sgw = 0x02000a0a, .server = 0x010013c6, .count = 2};
static struct frame_template templates[STACKS];
static struct expectation expected[STACKS];
static bool is_expecting[STACKS];

static void prepare(void)
{
	struct frame_endpoint ends[2];

	frame_endpoint_default(&ends[0], 0, (const uint8_t[]){2, 0, 0, 0, 0, 1});
	frame_endpoint_default(&ends[1], 1, (const uint8_t[]){2, 0, 0, 0, 0, 2});
	for (unsigned i = 0; i < STACKS; i++) {
		struct frame_stack stack = {
			.vlan = i & 1 ? 77 : 0, .ip = i & 2 ? 6 : 4, .vxlan = (i & 4) != 0, .vni = 5};
		uint16_t size = (uint16_t)(frame_min_size(&stack) + 3 * i);

		PROMISED(!frame_template_build(&templates[i], &stack, &ends[0], &ends[1], ends[1].mac, size, 3));
		is_expecting[i] = expectation_build(&expected[i], &templates[i]);
	}
	for (unsigned i = 0; i < bearers.count; i++)
		bearers.bearer[i] = (struct frame_bearer){.ue = 0x01002d2d + i, .uplink_teid = i, .downlink_teid = i};
}

static void hold(const uint8_t *frame, uint32_t length, const struct parsed *parsed)
{
	PROMISED(parsed->payload < length || !parsed->payload);
	PROMISED(!parsed->payload || parsed->payload + FRAME_PAYLOAD_BYTES <= length);
	if (parsed->payload)
		PROMISED(frame[parsed->payload] | 1);
}

/* A frame that is as expected is one that the parser finds to be ours. */
static void expect(const uint8_t *data, uint32_t size, const struct expectation *e, bool check)
{
	uint32_t room = (size / EXPECT_STEP + 1) * EXPECT_STEP; /* that an mbuf has */
	uint8_t *frame = calloc(1, room);
	struct parsed parsed;

	if (!frame)
		abort();
	memcpy(frame, data, size);
	if (frame_is_expected(frame, size, e, check)) {
		parsed = dpdk_parse(frame, size, check);
		PROMISED(parsed.payload && parsed.intact);
	}
	free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_prepared;
	struct parsed parsed;
	unsigned which;
	uint8_t *frame;
	bool check;

	if (!is_prepared)
		prepare();
	is_prepared = true;
	if (!size || size > NFVGEN_MAX_FRAME_SIZE)
		return 0;
	which = data[0] % STACKS;
	check = !(data[0] & 0x80);
	size--;
	frame = fuzz_copy(data + 1, size, 0);
	parsed = dpdk_parse(frame, (uint32_t)size, check);
	hold(frame, (uint32_t)size, &parsed);
	parsed = dpdk_parse_bearer(frame, (uint32_t)size, check, &bearers, which & 1);
	hold(frame, (uint32_t)size, &parsed);
	free(frame);
	if (is_expecting[which])
		expect(data + 1, (uint32_t)size, &expected[which], check);
	return 0;
}
