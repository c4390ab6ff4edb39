/* SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

static void ignore(struct expectation *e, unsigned offset, unsigned bytes)
{
	memset(e->mask + offset, 0, bytes);
}

bool expectation_build(struct expectation *e, const struct frame_template *t)
{
	const struct frame_layout *at = &t->layout;
	unsigned end = at->payload + FRAME_PAYLOAD_BYTES;

	if (at->outer_source_port || at->ue || end > EXPECT_MAX)
		return false;
	e->template = t;
	e->at = t->layout;
	e->ip_sum = t->ip_sum;
	e->udp_sum = t->udp_sum;
	e->head = (end + EXPECT_STEP - 1) / EXPECT_STEP * EXPECT_STEP;
	memset(e->mask, 0xff, sizeof(e->mask));
	ignore(e, at->address, 2);
	ignore(e, at->flow_port, 2);
	ignore(e, at->udp_checksum, 2);
	ignore(e, at->sequence, 4);
	ignore(e, at->time, 8);
	if (at->ip_checksum)
		ignore(e, at->ip_checksum, 2);
	if (t->destinations_mask)
		ignore(e, FRAME_DESTINATION, 1);
	if (t->flow_macs & FLOW_DESTINATION_MAC)
		ignore(e, FRAME_DESTINATION_LOW, 3);
	if (t->flow_macs & FLOW_SOURCE_MAC)
		ignore(e, FRAME_SOURCE_LOW, 3);
	if (at->length < e->head)
		ignore(e, at->length, e->head - at->length);
	return true;
}
