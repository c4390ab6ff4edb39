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

static const uint32_t many_flows[] = {0, 1, 2, 255, 256, 16383, 16384, 65535, 65536, 131071, 999999};

/* The addresses and ports of the datagram next to the payload, source first. */
struct ends_of_frame {
	uint8_t address[2][16];
	uint8_t port[2][2];
};

static struct ends_of_frame ends_seen(uint8_t ip)
{
	unsigned bytes = ip == 6 ? 16 : 4;
	struct ends_of_frame seen = {0};

	for (unsigned i = 0; i < 2; i++) {
		memcpy(seen.address[i], frame + t.layout.payload - 8 - (2 - i) * bytes, bytes);
		memcpy(seen.port[i], frame + t.layout.payload - 8 + i * 2, 2);
	}
	return seen;
}

/* Flow by flow what port 1 sends answers what port 0 sends, whatever moves with the flow; and all checksums are right.
 */
static void check_replies(struct frame_stack stack)
{
	unsigned size = frame_min_size(&stack) + 7u;
	struct ends_of_frame there[sizeof(many_flows) / sizeof(many_flows[0])], back;

	frame_template_build(&t, &stack, &ends[0], &ends[1], destination, (uint16_t)size, 0x1234);
	memcpy(frame, t.bytes, sizeof(frame));
	for (unsigned i = 0; i < sizeof(many_flows) / sizeof(many_flows[0]); i++) {
		frame_write(frame, &t, many_flows[i], 5, 6);
		there[i] = ends_seen(stack.ip);
	}
	stack.replies = true;
	frame_template_build(&t, &stack, &ends[1], &ends[0], destination, (uint16_t)size, 0x1234);
	memcpy(frame, t.bytes, sizeof(frame));
	for (unsigned i = 0; i < sizeof(many_flows) / sizeof(many_flows[0]); i++) {
		unsigned network = 14u + (stack.vlan ? 4 : 0), headers = (stack.ip == 6 ? 40u : 20u) + 8;

		frame_write(frame, &t, many_flows[i], i, 0x0123456789abcdefull);
		back = ends_seen(stack.ip);
		for (unsigned end = 0; end < 2; end++) {
			CHECK(memcmp(there[i].address[end], back.address[!end], 16) == 0);
			CHECK(memcmp(there[i].port[end], back.port[!end], 2) == 0);
		}
		CHECK_EQUAL(back.port[0][0] << 8 | back.port[0][1], NFVGEN_UDP_PORT);
		check_datagram(network, size - 4, stack.ip);
		if (!stack.vxlan)
			continue;
		/* The tunnel's source port spreads the flows of both directions. */
		CHECK_EQUAL(word(network + headers - 8), 0xc000 + ((many_flows[i] + (many_flows[i] >> 16)) & 0x3fff));
		CHECK_EQUAL(word(network + headers - 6), NFVGEN_VXLAN_PORT);
		check_datagram(network + headers + 8 + 14, size - 4, stack.ip);
	}
}

static void test_replies(void)
{
	for (unsigned vlan = 0; vlan < 2; vlan++)
		for (unsigned vxlan = 0; vxlan < 2; vxlan++)
			for (uint8_t ip = 4; ip <= 6; ip = (uint8_t)(ip + 2))
				for (uint8_t where = FLOW_SOURCE; where <= FLOW_DESTINATION_NETWORK; where++)
					check_replies((struct frame_stack){.vlan = (uint16_t)(vlan * 77),
						.ip = ip,
						.vxlan = vxlan,
						.flow_address = where,
						.vni = 5});
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

/* Bearers whose addresses and numbers use all bytes; bearer 0 is as others are. */
static void fill_bearers(struct frame_bearers *bearers)
{
	bearers->count = NFVGEN_MAX_BEARERS;
	bearers->enb = frame_be32(0xc0000201u);
	bearers->sgw = frame_be32(0xc00002feu);
	bearers->server = frame_be32(0xcb007109u);
	for (uint32_t i = 0; i < bearers->count; i++)
		bearers->bearer[i] = (struct frame_bearer){.ue = frame_be32(0x0a2dffffu + i * 0x01010007u),
			.uplink_teid = frame_be32(0xfffffffeu - i * 77777u),
			.downlink_teid = frame_be32(i + 1)};
}

static uint32_t long_word(unsigned at)
{
	return (uint32_t)word(at) << 16 | word(at + 2);
}

static void check_bearer(const struct frame_bearers *bearers, bool uplink, unsigned size, uint32_t number)
{
	unsigned network = uplink ? 14 + 36 : 14, end = size - 4 + (uplink ? 36 : 0), payload;
	const struct frame_bearer *bearer = &bearers->bearer[number];

	if (uplink) {
		CHECK_EQUAL(check_datagram(14, end, 4), 42);
		CHECK_EQUAL(long_word(26), frame_be32(bearers->enb));
		CHECK_EQUAL(long_word(30), frame_be32(bearers->sgw));
		CHECK_EQUAL(long_word(34), 2152u << 16 | 2152u);
		CHECK_EQUAL(long_word(42), 0x30ff0000u | (end - network));
		CHECK_EQUAL(long_word(46), frame_be32(bearer->uplink_teid));
	}
	payload = check_datagram(network, end, 4);
	CHECK_EQUAL(long_word(network + 12), frame_be32(uplink ? bearer->ue : bearers->server));
	CHECK_EQUAL(long_word(network + 16), frame_be32(uplink ? bearers->server : bearer->ue));
	CHECK_EQUAL(long_word(network + 20), (0xc000u + number) << 16 | 9);
	CHECK_EQUAL(t.layout.payload, payload);
	CHECK_EQUAL(t.layout.length, end);
	CHECK_EQUAL(long_word(payload), NFVGEN_MAGIC);
	CHECK_EQUAL(long_word(payload + 6), number * 4001u);
	for (unsigned i = FRAME_PAYLOAD_BYTES; payload + i < end; i++)
		CHECK_EQUAL(frame[payload + i], frame_pattern(i));
}

static void test_bearers(void)
{
	static struct frame_bearers bearers;
	const uint16_t sizes[] = {64, 65, 1482, NFVGEN_MAX_FRAME_SIZE - 36};
	const uint32_t numbers[] = {0, 1, 255, 256, 4095};

	fill_bearers(&bearers);
	for (unsigned uplink = 0; uplink < 2; uplink++) {
		const struct frame_stack stack = {.ip = 4, .bearers = &bearers, .uplink = uplink};

		CHECK(frame_template_build(&t, &stack, &ends[0], &ends[1], destination, 63, 0) < 0);
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			CHECK_EQUAL(
				frame_template_build(&t, &stack, &ends[0], &ends[1], destination, sizes[i], 0x1234), 0);
			memcpy(frame, t.bytes, sizeof(frame));
			check_bearer(&bearers, uplink, sizes[i], 0);
			for (unsigned n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
				frame_write(frame, &t, numbers[n], numbers[n] * 4001u, 0x0123456789abcdefull);
				check_bearer(&bearers, uplink, sizes[i], numbers[n]);
			}
		}
	}
	CHECK(frame_template_build(&t, &(struct frame_stack){.ip = 4, .bearers = &bearers, .uplink = true}, &ends[0],
		      &ends[1], destination, NFVGEN_MAX_FRAME_SIZE - 35, 0) < 0);
	CHECK(frame_template_build(&t, &(struct frame_stack){.ip = 6, .bearers = &bearers}, &ends[0], &ends[1],
		      destination, 200, 0) < 0);
}

/* One frame of every direction as it is written in TS 29.281, by hand. */
static void test_golden_bearer(void)
{
	static const uint8_t golden[] = {2, 9, 9, 9, 9, 9, 2, 0, 0, 0, 0, 1, 8, 0,               /* to the gateway */
		0x45, 0, 0, 82, 0, 0, 0x40, 0, 64, 17, 0xb6, 0x97, 192, 0, 2, 1, 192, 0, 2, 2,   /* S1-U */
		8, 104, 8, 104, 0, 62, 0, 0, 0x30, 0xff, 0, 46, 0x11, 0x22, 0x33, 0x44,          /* GTP-U */
		0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0xf4, 0x87, 10, 45, 0, 1, 203, 0, 113, 9, /* the UE's */
		0xc0, 0, 0, 9, 0, 26, 0, 0, 'N', 'F', 'V', 'G', 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	static struct frame_bearers bearers = {.count = 1};
	uint8_t downlink[60];

	bearers.enb = frame_be32(0xc0000201u);
	bearers.sgw = frame_be32(0xc0000202u);
	bearers.server = frame_be32(0xcb007109u);
	bearers.bearer[0] =
		(struct frame_bearer){.ue = frame_be32(0x0a2d0001u), .uplink_teid = frame_be32(0x11223344u)};
	frame_template_build(&t, &(struct frame_stack){.ip = 4, .bearers = &bearers, .uplink = true}, &ends[0],
		&ends[1], destination, 64, 5);
	CHECK_EQUAL(t.layout.length, sizeof(golden));
	/* The sums were verified bit by bit above. */
	memset(t.bytes + 40, 0, 2);
	memset(t.bytes + 76, 0, 2);
	CHECK(memcmp(t.bytes, golden, sizeof(golden)) == 0);
	frame_template_build(
		&t, &(struct frame_stack){.ip = 4, .bearers = &bearers}, &ends[1], &ends[0], destination, 64, 5);
	memcpy(downlink, golden, 14);
	downlink[11] = 2;
	memcpy(downlink + 14, golden + 50, 46);
	memcpy(downlink + 26, golden + 66, 4);
	memcpy(downlink + 30, golden + 62, 4);
	CHECK_EQUAL(t.layout.length, sizeof(downlink));
	memset(t.bytes + 40, 0, 2);
	CHECK(memcmp(t.bytes, downlink, sizeof(downlink)) == 0);
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
		uint32_t key = (uint32_t)flow.address << 14 | (frame_be16(flow.port) - NFVGEN_MIN_UDP_SOURCE);

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

static void test_streams(void)
{
	uint16_t last = frame_stream(FRAME_STREAM_TRIALS - 1, 15, 1);

	CHECK_EQUAL(last, 0xffff);
	CHECK_EQUAL(frame_stream_queue(last), 15);
	CHECK_EQUAL(frame_stream_direction(last), 1);
	CHECK_EQUAL(frame_stream_queue(frame_stream(1, 0, 1)), 0);
	CHECK_EQUAL(frame_stream_queue(frame_stream(3, 6, 0)), 6);
}

int main(void)
{
	frame_endpoint_default(&ends[0], 0, (const uint8_t[]){2, 0, 0, 0, 0, 1});
	frame_endpoint_default(&ends[1], 1, (const uint8_t[]){2, 0, 0, 0, 0, 2});
	test_smallest();
	test_stacks();
	test_flow_addresses();
	test_replies();
	test_flow_macs();
	test_bearers();
	test_golden_bearer();
	test_flows_differ();
	test_sums_agree();
	test_streams();
	test_learning();
	return check_result();
}
