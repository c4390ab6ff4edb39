/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "../mix.h"
#include "../timeline.h"
#include "xdp.h"

#define NS_PER_S 1000000000ull

_Static_assert(XDP_MIX == NFVGEN_MIX && XDP_DIRECTIONS == NFVGEN_DIRECTIONS && XDP_PORTS == NFVGEN_PORTS &&
		       XDP_SCHEDULE == MIX_SCHEDULE && XDP_DESTINATION == FRAME_DESTINATION &&
		       XDP_FLOW_SOURCE_MAC == FLOW_SOURCE_MAC && XDP_FLOW_DESTINATION_MAC == FLOW_DESTINATION_MAC &&
		       XDP_BEARERS == NFVGEN_MAX_BEARERS && XDP_GTPU_BYTES == FRAME_GTPU_BYTES,
	"the program and the core have the same bounds");

/* All but what distinguishes flows lies at the same places in both directions. */
static void set_layout(struct gen_config *config, const struct frame_layout *at, bool replies)
{
	config->header_length = at->payload + FRAME_PAYLOAD_BYTES;
	*(replies ? &config->reply_address : &config->address) = at->address;
	*(replies ? &config->reply_port : &config->flow_port) = at->flow_port;
	config->ip_checksum = at->ip_checksum;
	config->udp_checksum = at->udp_checksum;
	config->outer_source_port = at->outer_source_port;
	config->outer_udp_checksum = at->outer_udp_checksum;
	config->sequence = at->sequence;
	config->time = at->time;
}

static void set_template(struct gen_template *to, const struct frame_template *from, uint32_t header_length)
{
	memcpy(to->words, from->bytes, header_length);
	memcpy(&to->last, from->bytes + header_length - sizeof(to->last), sizeof(to->last));
	to->udp_sum = from->udp_sum;
	to->outer_udp_sum = from->outer_udp_sum;
	to->ip_sum = from->ip_sum;
	to->address = from->address;
	to->length = from->layout.length;
}

static int set_templates(struct xdp_plan *plan, const struct trial *trial, uint16_t trial_number)
{
	static struct frame_template template;
	struct gen_config *config = &plan->config;

	for (unsigned d = 0; d < trial->directions; d++) {
		const struct direction *direction = &trial->direction[d];
		const struct frame_stack stack = trial_stack(trial, direction->tx);

		if (stack.uplink)
			config->uplink = d;
		if (stack.replies)
			config->replies = d;
		for (unsigned i = 0; i < trial->mix.count; i++) {
			int err = frame_template_build(&template, &stack, &trial->endpoint[direction->tx],
				&trial->endpoint[direction->rx], trial->destination_mac[direction->tx],
				trial->mix.size_bytes[i], (uint16_t)(trial_number << 1 | d));

			if (err)
				return err;
			set_layout(config, &template.layout, stack.replies);
			if (config->header_length > XDP_HEADER_BYTES)
				return -EMSGSIZE;
			set_template(&plan->templates[d * XDP_MIX + i], &template, config->header_length);
			/* Every frame is born with the longest one's pattern, which begins like any shorter one's. */
			if (template.layout.length > config->longest) {
				config->longest = template.layout.length;
				memcpy(plan->longest, template.bytes, template.layout.length);
			}
		}
	}
	return 0;
}

/* Slots of all its directions come in turn, so the program paces their sum. */
static void set_pace(struct gen_config *config, const struct trial *trial)
{
	uint64_t slots = trial->rate_pps * config->directions;
	__extension__ unsigned __int128 bound;

	config->duration_ns = trial->duration_ns;
	config->slots_per_s = slots;
	config->frames = trial->frames;
	if (!slots)
		return;
	config->then_ns = trial->then_rate_pps ? trial->duration_ns : 0;
	config->duration_ns += trial->then_duration_ns;
	config->then_slots_per_s = trial->then_rate_pps * config->directions;
	if (config->then_slots_per_s) {
		config->then_interval_ns = NS_PER_S / config->then_slots_per_s;
		config->then_interval_rest = NS_PER_S % config->then_slots_per_s;
	}
	config->interval_ns = NS_PER_S / slots;
	config->interval_rest = NS_PER_S % slots;
	/* With a pace, a number of frames is a time: also slots that were missed belong to it. */
	config->frames = 0;
	bound = trial->frames;
	bound = bound * config->directions * NS_PER_S / slots;
	if (trial->frames && bound < config->duration_ns)
		config->duration_ns = (uint64_t)bound;
}

int xdp_plan(struct xdp_plan *plan, const struct trial *trial, int direction, uint16_t trial_number)
{
	struct gen_config *config = &plan->config;

	memset(plan, 0, sizeof(*plan));
	config->directions = direction == XDP_ALL ? trial->directions : 1;
	config->first = direction == XDP_ALL ? 0 : (uint32_t)direction;
	config->appointed = direction != XDP_ALL;
	config->flows = trial->flows;
	config->destinations_mask = trial->destination_mac_count - 1u;
	config->flow_macs = trial->flow_macs;
	config->reply_macs = trial_flow_macs(trial, 1);
	config->uplink = XDP_DIRECTIONS;
	config->replies = XDP_DIRECTIONS;
	config->stamp = trial->stamp;
	config->sizes = trial->mix.count;
	config->schedule_length = mix_schedule(plan->schedule, &trial->mix);
	set_pace(config, trial);
	config->bin_ns = trial->timeline_ns;
	config->bins = timeline_of(0) ? timeline_of(0)->count : 0;
	return set_templates(plan, trial, trial_number);
}
