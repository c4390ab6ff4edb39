/* SPDX-License-Identifier: Apache-2.0 */
/* Every stack, many sizes and flows: checksums are verified from the bytes alone, by a sum of its own. */
#include "frame.h"

#include "check.h"

static struct frame_template t;
static uint8_t frame[NFVGEN_MAX_FRAME_SIZE];
static struct frame_endpoint ends[2];
static const uint8_t destination[6] = {2, 9, 9, 9, 9, 9};

static uint16_t word(unsigned at)
{
	return (uint16_t)(frame[at] << 8 | frame[at + 1]);
}

static uint32_t plain_sum(unsigned from, unsigned to)
{
	uint32_t sum = 0;

	for (unsigned i = from; i < to; i++)
		sum += (i - from) % 2 ? frame[i] : (uint32_t)frame[i] << 8;
	return sum;
}

static uint32_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* An IP header at `at` up to the frame's end; returns where its UDP data start. */
static unsigned check_datagram(unsigned at, unsigned end, uint8_t ip)
{
	unsigned udp = at + (ip == 4 ? 20 : 40), addresses = at + (ip == 4 ? 12 : 8);

	if (ip == 4) {
		CHECK_EQUAL(folded(plain_sum(at, at + 20)), 0xffff);
		CHECK_EQUAL(word(at + 2), end - at);
		CHECK_EQUAL(frame[at + 9], 17);
	} else {
		CHECK_EQUAL(word(at + 4), end - at - 40);
		CHECK_EQUAL(frame[at + 6], 17);
	}
	CHECK_EQUAL(word(udp + 4), end - udp);
	CHECK(word(udp + 6) != 0);
	CHECK_EQUAL(folded(plain_sum(addresses, end) + 17 + (end - udp)), 0xffff);
	return udp + 8;
}

static void check_frame(const struct frame_stack *stack, unsigned size, uint32_t sequence, uint64_t time)
{
	unsigned end = size - 4, at = 14, payload;

	CHECK(memcmp(frame, destination, 6) == 0);
	if (stack->vlan) {
		CHECK_EQUAL(word(12), 0x8100);
		CHECK_EQUAL(word(14), stack->vlan);
		at += 4;
	}
	CHECK_EQUAL(word(at - 2), stack->ip == 4 ? 0x0800 : 0x86dd);
	payload = check_datagram(at, end, stack->ip);
	CHECK_EQUAL(word(payload - 6), stack->vxlan ? 4789 : 9);
	if (stack->vxlan) {
		CHECK_EQUAL((uint32_t)word(payload + 4) << 8 | frame[payload + 6], stack->vni);
		payload = check_datagram(payload + 8 + 14, end, stack->ip);
		CHECK_EQUAL(word(payload - 6), 9);
	}
	CHECK_EQUAL(t.layout.payload, payload);
	CHECK_EQUAL((uint32_t)word(payload) << 16 | word(payload + 2), NFVGEN_MAGIC);
	CHECK_EQUAL(word(payload + 4), 0x1234);
	CHECK_EQUAL((uint32_t)word(payload + 6) << 16 | word(payload + 8), sequence);
	CHECK_EQUAL((uint64_t)word(payload + 10) << 48 | (uint64_t)word(payload + 12) << 32 |
			    (uint64_t)word(payload + 14) << 16 | word(payload + 16),
		time);
	for (unsigned i = FRAME_PAYLOAD_BYTES; payload + i < end; i++)
		CHECK_EQUAL(frame[payload + i], frame_pattern(i));
}

static void check_stack(const struct frame_stack *stack)
{
	const unsigned more[] = {0, 1, 2, 3, 17, 64, 129, 1000, 1400, 8900};
	const uint32_t flows[] = {0, 1, 255, 16384, 65535, 65536, 999999};
	unsigned smallest = frame_min_size(stack);

	CHECK(frame_template_build(&t, stack, &ends[0], &ends[1], destination, (uint16_t)(smallest - 1), 0) < 0);
	CHECK(frame_template_build(&t, stack, &ends[0], &ends[1], destination, NFVGEN_MAX_FRAME_SIZE + 1, 0) < 0);
	for (unsigned i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		unsigned size = smallest + more[i];

		CHECK_EQUAL(
			frame_template_build(&t, stack, &ends[0], &ends[1], destination, (uint16_t)size, 0x1234), 0);
		memcpy(frame, t.bytes, sizeof(frame));
		check_frame(stack, size, 0, 0);
		for (unsigned f = 0; f < sizeof(flows) / sizeof(flows[0]); f++) {
			uint32_t sequence = flows[f] * 4001u + 7;
			uint64_t time = 0x0123456789abcdefull * (flows[f] + 1);

			frame_write(frame, &t, flows[f], sequence, time);
			check_frame(stack, size, sequence, time);
		}
	}
}

static void test_stacks(void)
{
	const uint16_t vlans[] = {0, 1, 4094};

	for (unsigned v = 0; v < 3; v++)
		for (unsigned vxlan = 0; vxlan < 2; vxlan++)
			for (uint8_t ip = 4; ip <= 6; ip = (uint8_t)(ip + 2))
				for (uint8_t where = FLOW_SOURCE; where <= FLOW_DESTINATION_NETWORK; where++)
					check_stack(&(struct frame_stack){.vlan = vlans[v],
						.ip = ip,
						.vxlan = vxlan,
						.flow_address = where,
						.vni = vxlan ? 0xabcdef : 0});
}

/* Flow 0x0102 makes a step in both bytes, and only in those two. */
static void test_flow_addresses(void)
{
	const struct {
		struct frame_stack stack;
		unsigned at;
	} table[] = {
		{{.ip = 4}, 14 + 12 + 2},
		{{.ip = 4, .flow_address = FLOW_DESTINATION}, 14 + 16 + 2},
		{{.ip = 4, .flow_address = FLOW_DESTINATION_NETWORK}, 14 + 16},
		{{.ip = 6}, 14 + 8 + 14},
		{{.ip = 6, .flow_address = FLOW_DESTINATION}, 14 + 24 + 14},
		{{.ip = 6, .flow_address = FLOW_DESTINATION_NETWORK}, 14 + 24 + 6},
	};

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		unsigned addresses = 14 + (table[i].stack.ip == 4 ? 12 : 8), end = table[i].stack.ip == 4 ? 34 : 54;

		frame_template_build(&t, &table[i].stack, &ends[0], &ends[1], destination, 100, 0);
		memcpy(frame, t.bytes, sizeof(frame));
		frame_write(frame, &t, 0x0102, 0, 0);
		for (unsigned at = addresses; at < end; at++) {
			unsigned step = at == table[i].at ? 1 : at == table[i].at + 1 ? 2 : 0;

			CHECK_EQUAL(frame[at], (uint8_t)(t.bytes[at] + step));
		}
	}
}

static void test_flow_macs(void)
{
	const uint8_t source[6] = {2, 0, 0, 0xff, 0xff, 0xff};
	struct frame_endpoint from;

	frame_endpoint_default(&from, 0, source);
	for (uint8_t macs = 0; macs <= (FLOW_SOURCE_MAC | FLOW_DESTINATION_MAC); macs++) {
		frame_template_build(&t, &(struct frame_stack){.ip = 4}, &from, &ends[1], destination, 64, 0);
		t.flow_macs = macs;
		memcpy(frame, t.bytes, sizeof(frame));
		frame_write(frame, &t, 0x010203, 0, 0);
		CHECK(memcmp(frame, macs & FLOW_DESTINATION_MAC ? (uint8_t[]){2, 9, 9, 10, 11, 12} : destination, 6) ==
			0);
		/* It stays within its three bytes. */
		CHECK(memcmp(frame + 6, macs & FLOW_SOURCE_MAC ? (uint8_t[]){2, 0, 0, 1, 2, 2} : source, 6) == 0);
		CHECK_EQUAL(check_datagram(14, 60, 4), 42);
	}
}

static void test_smallest(void)
{
	CHECK_EQUAL(frame_min_size(&(struct frame_stack){.ip = 4}), 64);
	CHECK_EQUAL(frame_min_size(&(struct frame_stack){.ip = 4, .vlan = 1}), 68);
	CHECK_EQUAL(frame_min_size(&(struct frame_stack){.ip = 6}), 84);
	CHECK_EQUAL(frame_min_size(&(struct frame_stack){.ip = 4, .vxlan = true}), 114);
	CHECK_EQUAL(frame_min_size(&(struct frame_stack){.ip = 6, .vxlan = true}), 154);
}

static void test_flows_differ(void)
{
	static uint8_t seen[1u << 30 >> 3]; /* 16 bits of address, 14 of port */

	frame_template_build(&t, &(struct frame_stack){.ip = 4}, &ends[0], &ends[1], destination, 64, 0);
	for (uint32_t i = 0; i < 1000000; i++) {
		struct frame_flow flow = frame_flow(&t, i);
		uint32_t key = (uint32_t)flow.address << 14 | (frame_be16(flow.source_port) - NFVGEN_MIN_UDP_SOURCE);

		if (seen[key / 8] >> (key % 8) & 1) {
			CHECK_EQUAL(i, -1);
			return;
		}
		seen[key / 8] |= (uint8_t)(1u << (key % 8));
	}
}

static void test_sums_agree(void)
{
	for (unsigned i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)(i * 31 + (i >> 5));
	for (unsigned length = 0; length < 3000; length++)
		for (unsigned from = 0; from < 3; from++) {
			uint32_t expected = folded(plain_sum(from, from + length));
			uint16_t seen = frame_be16(frame_fold(frame_sum(frame + from, length)));

			CHECK_EQUAL(seen, expected);
			CHECK_EQUAL(frame_be16(frame_fold(frame_sum_inline(frame + from, length))), expected);
		}
}

static void test_learning(void)
{
	const struct frame_stack stack = {.ip = 4, .vlan = 7};

	CHECK_EQUAL(frame_learning(frame, &(struct frame_stack){.ip = 6}, &ends[0]), 60);
	CHECK_EQUAL(word(12), 0x0806);
	CHECK(frame[0] == 0xff && frame[5] == 0xff);
	CHECK(memcmp(frame + 28, frame + 38, 4) == 0);
	CHECK_EQUAL(frame_learning(frame, &stack, &ends[0]), 64);
	CHECK_EQUAL(word(14), 7);
}

int main(void)
{
	frame_endpoint_default(&ends[0], 0, (const uint8_t[]){2, 0, 0, 0, 0, 1});
	frame_endpoint_default(&ends[1], 1, (const uint8_t[]){2, 0, 0, 0, 0, 2});
	test_smallest();
	test_stacks();
	test_flow_addresses();
	test_flow_macs();
	test_flows_differ();
	test_sums_agree();
	test_learning();
	return check_result();
}
