/* SPDX-License-Identifier: Apache-2.0 */
/* What the sinks' quick check compares a frame with. */
#include <string.h>

#include "xdp.h"

/* Where the two ends' ports and the last 16 bits of their addresses lie in a frame. */
struct sides {
	uint16_t source;
	uint16_t destination;
	uint16_t ports;
};

static struct sides sides_of(const struct frame_stack *stack, const struct frame_layout *at)
{
	uint16_t source = (uint16_t)(at->inner_network + (stack->ip == 6 ? 8 + 14 : 12 + 2));

	return (struct sides){.source = source,
		.destination = (uint16_t)(source + (stack->ip == 6 ? 16 : 4)),
		.ports = (uint16_t)(at->payload - 8)};
}

/* Where the fields lie that differ from frame to frame is fixed in the program: seen from the end of the headers. */
static bool has_quick(const struct frame_stack *stack, const struct frame_layout *at)
{
	const struct sides sides = sides_of(stack, at);
	unsigned head = at->payload + FRAME_PAYLOAD_BYTES;

	return !stack->vxlan && head <= XDP_EXPECT_WORDS * 8 && at->time + 8u == head && at->sequence + 12u == head &&
	       at->udp_checksum + 20u == head && sides.ports + 26u == head &&
	       sides.source + (stack->ip == 6 ? 44u : 32u) == head &&
	       (at->address == sides.source || at->address == sides.destination);
}

static void take_words(__u64 words[XDP_EXPECT_WORDS], const uint8_t *bytes, unsigned head)
{
	memcpy(words, bytes, head / 8 * 8);
	if (head % 8)
		memcpy(&words[head / 8], bytes + head - 8, 8);
}

static void make_mask(__u64 mask[XDP_EXPECT_WORDS], const struct frame_template *t, unsigned head)
{
	const struct frame_layout *at = &t->layout;
	uint8_t bytes[XDP_EXPECT_WORDS * 8];

	memset(bytes, 0xff, sizeof(bytes));
	memset(bytes + at->address, 0, 2);
	memset(bytes + at->flow_port, 0, 2);
	memset(bytes + at->udp_checksum, 0, 2);
	memset(bytes + at->sequence, 0, 4);
	memset(bytes + at->time, 0, 8);
	/* No more than the parser looks at: it does not verify the checksum of the IP header either. */
	if (at->ip_checksum)
		memset(bytes + at->ip_checksum, 0, 2);
	if (t->destinations_mask)
		bytes[FRAME_DESTINATION] = 0;
	if (t->flow_macs & FLOW_DESTINATION_MAC)
		memset(bytes + FRAME_DESTINATION_LOW, 0, 3);
	if (t->flow_macs & FLOW_SOURCE_MAC)
		memset(bytes + FRAME_SOURCE_LOW, 0, 3);
	take_words(mask, bytes, head);
}

/* The template's sum without a word of it: in one's complement minus is the complement. */
static uint16_t without(uint16_t sum, const uint8_t *word)
{
	uint16_t value;

	memcpy(&value, word, sizeof(value));
	return frame_fold((uint64_t)sum + (uint16_t)~value);
}

/* The sum has the flow's own fields as 0 already; the other side's are taken out of it, as the program reads both. */
static uint16_t sum_without_sides(const struct frame_stack *stack, const struct frame_template *t)
{
	const struct sides sides = sides_of(stack, &t->layout);
	const struct frame_layout *at = &t->layout;
	uint16_t port = at->flow_port == sides.ports ? (uint16_t)(sides.ports + 2) : sides.ports;
	uint16_t address = at->address == sides.source ? sides.destination : sides.source;

	return without(without(t->udp_sum, t->bytes + port), t->bytes + address);
}

static void expect(
	struct sink_expect *to, const struct frame_stack *stack, const struct frame_template *t, unsigned head)
{
	uint16_t rest = frame_fold(frame_sum(t->bytes + head, t->layout.length - head));

	take_words(to->words, t->bytes, head);
	make_mask(to->mask, t, head);
	to->udp_sum = sum_without_sides(stack, t);
	to->rest_sum = rest ? rest : 0xffff;
}

void xdp_expect(struct sink_quick *quick, const struct trial *trial, uint16_t trial_number)
{
	static struct frame_template template;

	memset(quick, 0, sizeof(*quick));
	/* A gateway rewrites every frame: they are parsed, and the clock is read then. */
	if (trial->stack.bearers)
		return;
	quick->stamp = trial->stamp;
	quick->check = trial->check;
	for (unsigned d = 0; d < trial->directions; d++) {
		const struct direction *direction = &trial->direction[d];
		const struct frame_stack stack = trial_stack(trial, direction->tx);

		for (unsigned i = 0; i < trial->mix.count; i++) {
			/* Without the quick check every frame is parsed, so an error is none; the sender tells it. */
			if (frame_template_build(&template, &stack, &trial->endpoint[direction->tx],
				    &trial->endpoint[direction->rx], trial->destination_mac[direction->tx],
				    trial->mix.size_bytes[i], (uint16_t)(trial_number << 1 | d)) ||
				!has_quick(&stack, &template.layout)) {
				quick->head = 0;
				return;
			}
			template.destinations_mask = (uint8_t)(trial->destination_mac_count - 1);
			template.flow_macs = trial_flow_macs(trial, direction->tx);
			quick->head = template.layout.payload + FRAME_PAYLOAD_BYTES;
			quick->size_of[template.layout.length % XDP_LENGTHS] = (uint8_t)(i + 1);
			expect(&quick->expect[direction->rx][i], &stack, &template, quick->head);
		}
	}
}
