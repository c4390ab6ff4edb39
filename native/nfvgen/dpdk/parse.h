/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds our payload from the frame alone: a switch or VNF may have swapped addresses and ports, lowered the TTL, taken
 * a tag away or put one on. IPv4 options and IPv6 extension headers are never sent, so a frame with them is foreign.
 */
#ifndef NFVGEN_PARSE_H
#define NFVGEN_PARSE_H

#include "dpdk.h"

struct parsed {
	uint16_t payload; /* 0: not one of ours */
	bool intact;      /* lengths (and, with `check`, checksums) are right */
	bool astray;      /* with bearers: not as its bearer has it on the port at which it came */
};

#define UDP_BYTES 8
#define VXLAN_BYTES 8

static inline uint16_t read16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t read32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return frame_be32(value);
}

/* One IP and UDP header, checked against the space they are in. */
struct datagram {
	uint32_t addresses; /* offset of the source address: the addresses, the UDP header and its data follow each
			       other */
	uint32_t udp;
	uint32_t end;
	bool ip_intact;
};

static inline bool ipv4_datagram(const uint8_t *frame, uint32_t at, uint32_t length, bool check, struct datagram *d)
{
	if (length < at + 20 + UDP_BYTES || frame[at] != 0x45 || frame[at + 9] != 17)
		return false;
	d->addresses = at + 12;
	d->udp = at + 20;
	d->end = at + read16(frame + at + 2);
	d->ip_intact = !check || frame_fold(frame_sum_inline(frame + at, 20)) == 0xffff;
	return true;
}

static inline bool ipv6_datagram(const uint8_t *frame, uint32_t at, uint32_t length, struct datagram *d)
{
	if (length < at + 40 + UDP_BYTES || frame[at] >> 4 != 6 || frame[at + 6] != 17)
		return false;
	d->addresses = at + 8;
	d->udp = at + 40;
	d->end = at + 40 + read16(frame + at + 4);
	d->ip_intact = true;
	return true;
}

/* From an Ethernet header on. */
static inline bool ethernet_datagram(const uint8_t *frame, uint32_t at, uint32_t length, bool check, struct datagram *d)
{
	uint16_t type;

	if (length < at + 14)
		return false;
	type = read16(frame + at + 12);
	at += 14;
	for (unsigned tags = 0; (type == 0x8100 || type == 0x88a8) && tags < 2 && length >= at + 4; tags++) {
		type = read16(frame + at + 2);
		at += 4;
	}
	if (type == 0x0800)
		return ipv4_datagram(frame, at, length, check, d);
	return type == 0x86dd && ipv6_datagram(frame, at, length, d);
}

static inline bool datagram_intact(const uint8_t *frame, uint32_t length, const struct datagram *d, bool check)
{
	uint32_t udp_length = read16(frame + d->udp + 4);

	/* Up to 60 bytes of memory a frame may carry padding, when a tag was taken off on the way. */
	if (d->end != d->udp + udp_length || d->end > length || (d->end != length && length > 60))
		return false;
	if (!check)
		return true;
	if (!d->ip_intact)
		return false;
	/* A checksum of 0 means none: ours always have one. */
	return read16(frame + d->udp + 6) != 0 &&
	       frame_fold(frame_sum_inline(frame + d->addresses, d->end - d->addresses) +
			  frame_be16((uint16_t)udp_length) + frame_be16(17)) == 0xffff;
}

static inline bool is_ours(const uint8_t *frame, uint32_t payload, uint32_t length)
{
	return length >= payload + FRAME_PAYLOAD_BYTES && read32(frame + payload) == NFVGEN_MAGIC;
}

static inline struct parsed parse_vxlan(const uint8_t *frame, uint32_t length, const struct datagram *outer, bool check)
{
	struct parsed parsed = {0};
	struct datagram inner;
	uint32_t payload;

	if (!ethernet_datagram(frame, outer->udp + UDP_BYTES + VXLAN_BYTES, length, check, &inner))
		return parsed;
	payload = inner.udp + UDP_BYTES;
	if (!is_ours(frame, payload, length))
		return parsed;
	parsed.payload = (uint16_t)payload;
	/* The outer checksum covers the same bytes again; a tunnel end may rewrite it to 0. The inner one is the proof.
	 */
	parsed.intact = datagram_intact(frame, length, outer, false) && (!check || outer->ip_intact) &&
			datagram_intact(frame, length, &inner, check);
	return parsed;
}

static inline struct parsed dpdk_parse(const uint8_t *frame, uint32_t length, bool check)
{
	struct parsed parsed = {0};
	struct datagram d;
	uint32_t payload;

	if (!ethernet_datagram(frame, 0, length, check, &d))
		return parsed;
	payload = d.udp + UDP_BYTES;
	if (likely(is_ours(frame, payload, length))) {
		parsed.payload = (uint16_t)payload;
		parsed.intact = datagram_intact(frame, length, &d, check);
		return parsed;
	}
	if (read16(frame + d.udp) == NFVGEN_VXLAN_PORT || read16(frame + d.udp + 2) == NFVGEN_VXLAN_PORT)
		return parse_vxlan(frame, length, &d, check);
	return parsed;
}

#endif
