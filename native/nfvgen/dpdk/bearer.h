/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds our payload in a frame that a gateway of a mobile core made of ours: on port 1 the UE's packet out of its
 * tunnel, on port 0 the server's in the tunnel of its bearer. The inner UDP source port, which its checksum covers,
 * says which bearer it was sent on. As xdp_bearer.bpf.h.
 */
#ifndef NFVGEN_BEARER_H
#define NFVGEN_BEARER_H

#include "parse.h"

#define GTPU_BYTES 8

struct tunnelled {
	struct datagram outer; /* with `is_inside` */
	struct datagram inner;
	bool is_inside;
};

static inline bool is_ipv4(const struct datagram *d)
{
	return d->udp - d->addresses == 8;
}

/*
 * The tunnel's headers around a packet that is right by itself: that sums to nothing but minus its pseudo header. An
 * outer checksum of 0, none, is allowed over IPv4.
 */
static inline bool tunnel_intact(const uint8_t *frame, const struct tunnelled *t, bool check)
{
	uint32_t network = t->inner.udp - 20, length = t->inner.end - network, addresses[2];
	const uint8_t *udp = frame + t->outer.udp, *gtpu = udp + UDP_BYTES, *inner_udp = frame + t->inner.udp;
	uint16_t inner_length;
	uint64_t sum;

	if (gtpu[0] != FRAME_GTPU_FLAGS || gtpu[1] != FRAME_GTPU_GPDU || read16(gtpu + 2) != length ||
		read16(udp + 4) != length + UDP_BYTES + GTPU_BYTES || t->outer.end != t->inner.end)
		return false;
	if (!check)
		return true;
	if (!t->outer.ip_intact)
		return false;
	if (read16(udp + 6) == 0)
		return true;
	memcpy(addresses, frame + t->inner.addresses, sizeof(addresses));
	memcpy(&inner_length, inner_udp + 4, sizeof(inner_length));
	sum = frame_sum_inline(frame + t->outer.addresses, network - t->outer.addresses) +
	      frame_be16((uint16_t)(length + UDP_BYTES + GTPU_BYTES));
	sum += (uint64_t)(uint32_t)~addresses[0] + (uint32_t)~addresses[1] + (uint16_t)~inner_length;
	return frame_fold(sum) == 0xffff;
}

/* Whether the frame is as the bearer that it was sent on has it on this port. */
static inline bool is_of_bearer(
	const uint8_t *frame, const struct tunnelled *t, const struct frame_bearers *bearers, unsigned port)
{
	uint32_t flow = (uint32_t)read16(frame + t->inner.udp) - NFVGEN_MIN_UDP_SOURCE, outer[2], inner[2], teid;
	const struct frame_bearer *bearer = &bearers->bearer[flow % NFVGEN_MAX_BEARERS];

	if (flow >= bearers->count || read16(frame + t->inner.udp + 2) != NFVGEN_UDP_PORT)
		return false;
	memcpy(inner, frame + t->inner.addresses, sizeof(inner));
	if (port == 1)
		return !t->is_inside && inner[0] == bearer->ue && inner[1] == bearers->server;
	if (!t->is_inside)
		return false;
	memcpy(outer, frame + t->outer.addresses, sizeof(outer));
	memcpy(&teid, frame + t->outer.udp + UDP_BYTES + 4, sizeof(teid));
	return outer[0] == bearers->sgw && outer[1] == bearers->enb && teid == bearer->downlink_teid &&
	       inner[0] == bearers->server && inner[1] == bearer->ue;
}

/* Frames that arrive on `port`. */
static inline struct parsed dpdk_parse_bearer(
	const uint8_t *frame, uint32_t length, bool check, const struct frame_bearers *bearers, unsigned port)
{
	struct tunnelled found = {0};
	struct parsed parsed = {0};
	uint32_t payload;

	if (!ethernet_datagram(frame, 0, length, check, &found.inner) || !is_ipv4(&found.inner))
		return parsed;
	if (read16(frame + found.inner.udp + 2) == NFVGEN_GTPU_PORT) {
		found.is_inside = true;
		found.outer = found.inner;
		if (!ipv4_datagram(frame, found.outer.udp + UDP_BYTES + GTPU_BYTES, length, check, &found.inner))
			return parsed;
	}
	payload = found.inner.udp + UDP_BYTES;
	if (!is_ours(frame, payload, length))
		return parsed;
	parsed.payload = (uint16_t)payload;
	parsed.intact = datagram_intact(frame, length, &found.inner, check) &&
			(!found.is_inside || tunnel_intact(frame, &found, check));
	parsed.astray = !is_of_bearer(frame, &found, bearers, port);
	return parsed;
}

#endif
