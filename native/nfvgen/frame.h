/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames that are sent: header stacks, complete templates, and where in a template the fields lie that differ from
 * frame to frame. The checksums of a frame are found from the template's partial sums and those fields alone, so a
 * payload is summed once for a trial and not once for a frame.
 */
#ifndef NFVGEN_FRAME_H
#define NFVGEN_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NFVGEN_MAGIC 0x4e465647u /* "NFVG" */
#define NFVGEN_UDP_PORT 9        /* discard */
#define NFVGEN_VXLAN_PORT 4789
#define NFVGEN_GTPU_PORT 2152
#define NFVGEN_FCS_BYTES 4
#define NFVGEN_MIN_FRAME_SIZE 64      /* with FCS */
#define NFVGEN_MAX_FRAME_SIZE 9728    /* with FCS; an engine may stop earlier */
#define FRAME_DESTINATION 5           /* the byte of the frame that distinguishes several destination addresses */
#define FRAME_DESTINATION_LOW 3       /* the last three bytes of the destination's MAC address */
#define FRAME_SOURCE_LOW 9            /* and of the source's */
#define NFVGEN_MIN_UDP_SOURCE 0xc000u /* flows use the dynamic ports, 49152 and up */

/* The payload: all big-endian, no padding; the rest of the payload is frame_pattern(). */
#define FRAME_PAYLOAD_MAGIC 0 /* u32 */
#define FRAME_PAYLOAD_STREAM                                                                                           \
	4 /* u16: trial, queue, direction (frame_stream): late frames of an earlier trial are foreign */
#define FRAME_PAYLOAD_SEQUENCE 6 /* u32 */
#define FRAME_PAYLOAD_TIME 10    /* u64, in ticks of the engine's clock; 0 with stamp:false */
#define FRAME_PAYLOAD_BYTES 18

#define NFVGEN_MAX_BEARERS 4096
#define FRAME_GTPU_BYTES 36   /* IPv4, UDP and GTP-U in front of a UE's packet */
#define FRAME_GTPU_FLAGS 0x30 /* version 1, GTP, no optional fields */
#define FRAME_GTPU_GPDU 0xff

/* A bearer of a mobile core. Addresses and numbers are as they lie in frames: big-endian. */
struct frame_bearer {
	uint32_t ue;
	uint32_t uplink_teid;   /* in frames from the eNB */
	uint32_t downlink_teid; /* in frames to it */
};

/* Port 0 is the eNB's end of S1-U, port 1 the server on SGi. Flow n is bearer n. */
struct frame_bearers {
	uint32_t enb;
	uint32_t sgw;
	uint32_t server;
	uint32_t count;
	struct frame_bearer bearer[NFVGEN_MAX_BEARERS];
};

/* Which 16 bits of an IP address the flow's number is added to; in replies the same of the other address. */
enum frame_flow_address {
	FLOW_SOURCE,              /* the last two bytes of the source's */
	FLOW_DESTINATION,         /* the last two bytes of the destination's */
	FLOW_DESTINATION_NETWORK, /* IPv4: its first two bytes; IPv6: bytes 6 and 7, the number of a /64 in its /48 */
};

/* Which MAC addresses (with VXLAN the outer ones) the flow's number is added to, in their last three bytes. */
enum frame_flow_macs {
	FLOW_SOURCE_MAC = 1,
	FLOW_DESTINATION_MAC = 2,
};

struct frame_stack {
	uint16_t vlan; /* 0: no tag */
	uint8_t ip;    /* 4 or 6; with VXLAN both outer and inner */
	bool vxlan;
	uint8_t flow_address; /* enum frame_flow_address */
	uint32_t vni;
	const struct frame_bearers *bearers; /* NULL: none; with them IPv4 without tag and VXLAN */
	bool uplink;                         /* with bearers: frames are in their tunnels */
	bool replies; /* what distinguishes flows moves to the other side: frames answer those of a stack without it */
};

struct frame_endpoint {
	uint8_t mac[6];
	uint8_t ipv4[4];
	uint8_t ipv6[16];
};

/* Offsets from the start of the frame. With VXLAN the flow's fields are the inner ones, plus outer_source_port. */
struct frame_layout {
	uint16_t length;             /* bytes in memory: the frame's size without FCS */
	uint16_t network;            /* the first IP header */
	uint16_t inner_network;      /* the IP header next to the payload; = network without VXLAN */
	uint16_t address;            /* u16: the 16 bits of an address that distinguish flows */
	uint16_t ip_checksum;        /* u16; 0 with IPv6 */
	uint16_t flow_port;          /* u16: the UDP port that distinguishes flows */
	uint16_t udp_checksum;       /* u16 */
	uint16_t outer_source_port;  /* u16; 0 without VXLAN */
	uint16_t outer_udp_checksum; /* u16; 0 without VXLAN and GTP-U */
	uint16_t ue;                 /* u32; 0 without bearers */
	uint16_t teid;               /* u32; 0 without GTP-U */
	uint16_t payload;
	uint16_t sequence; /* u32 */
	uint16_t time;     /* u64 */
};

/*
 * A complete frame: flow 0, sequence 0, time 0, all checksums right. The sums are one's complement sums of 16-bit words
 * as they lie in memory (so the machine's byte order does not matter), folded, with the changing fields taken as 0.
 */
struct frame_template {
	struct frame_layout layout;
	uint8_t destinations_mask; /* set by who sends to several addresses: their number, a power of two, - 1 */
	uint8_t flow_macs;         /* set by who lets addresses move with the flow: enum frame_flow_macs */
	const struct frame_bearers *bearers; /* NULL: none */
	uint16_t address;                    /* flow 0's 16 bits, host order */
	uint16_t ip_sum;
	uint16_t udp_sum;
	uint16_t outer_udp_sum;
	uint8_t bytes[NFVGEN_MAX_FRAME_SIZE] __attribute__((aligned(64)));
};

/* What one flow puts into the fields, in memory (big-endian) order. */
struct frame_flow {
	uint16_t address;
	uint16_t port;
};

/* Smallest frame (with FCS) that holds the stack and the payload's header; with bearers its size on SGi. */
uint16_t frame_min_size(const struct frame_stack *stack);

/* RFC 2544 / RFC 5180 addresses for port 0 or 1. */
void frame_endpoint_default(struct frame_endpoint *endpoint, unsigned port, const uint8_t mac[6]);

/* -EINVAL for a size that does not fit the stack; size_bytes counts the FCS, and is with bearers that on SGi. */
int frame_template_build(struct frame_template *t, const struct frame_stack *stack, const struct frame_endpoint *source,
	const struct frame_endpoint *destination, const uint8_t destination_mac[6], uint16_t size_bytes,
	uint16_t stream);

/* A gratuitous ARP request (broadcast), tagged as the stack is, 60 or 64 bytes without FCS; returns the length. */
uint16_t frame_learning(uint8_t *bytes, const struct frame_stack *stack, const struct frame_endpoint *source);

/* The xdp engine's trials have 15 bits and no queue; the dpdk engine's have 11, and 4 are the sending queue's. */
#define FRAME_STREAM_QUEUE_BITS 4
#define FRAME_STREAM_TRIALS 2048u

static inline uint16_t frame_stream(unsigned trial, unsigned queue, unsigned direction)
{
	return (uint16_t)(trial << (FRAME_STREAM_QUEUE_BITS + 1) | queue << 1 | direction);
}

static inline unsigned frame_stream_direction(uint16_t stream)
{
	return stream & 1;
}

static inline unsigned frame_stream_queue(uint16_t stream)
{
	return stream >> 1 & ((1u << FRAME_STREAM_QUEUE_BITS) - 1);
}

/* The fixed byte at this offset of the payload (from FRAME_PAYLOAD_BYTES on). */
static inline uint8_t frame_pattern(unsigned offset)
{
	return (uint8_t)(offset * 167u + 13u);
}

static inline uint16_t frame_be16(uint16_t value)
{
	return __builtin_bswap16(value);
}

static inline uint32_t frame_be32(uint32_t value)
{
	return __builtin_bswap32(value);
}

static inline uint64_t frame_be64(uint64_t value)
{
	return __builtin_bswap64(value);
}

/* `from` and a number, counted in three bytes. */
static inline void frame_add24(uint8_t *to, const uint8_t *from, uint32_t number)
{
	uint32_t sum = ((uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2]) + number;

	to[0] = (uint8_t)(sum >> 16);
	to[1] = (uint8_t)(sum >> 8);
	to[2] = (uint8_t)sum;
}

/* A half added to the other, turned half round, leaves its end-around sum in the upper one. */
static inline uint16_t frame_fold(uint64_t sum)
{
	uint32_t part = (uint32_t)((sum + (sum << 32 | sum >> 32)) >> 32);

	return (uint16_t)((part + (part << 16 | part >> 16)) >> 16);
}

/* Whether a sum that has its checksum in it is right: folding is counting modulo 65,535. */
static inline bool frame_sum_fits(uint64_t sum)
{
	return sum % 0xffff == 0;
}

/* One's complement sum of 16-bit words in memory order, not folded below 64 bits. Vectorised where the CPU can. */
uint64_t frame_sum(const void *data, size_t length);

/* The same, without the call for what is too short for vectors: headers and small frames. */
static inline uint64_t frame_sum_inline(const uint8_t *at, size_t length)
{
	uint64_t sum = 0, word;

	if (length > 128)
		return frame_sum(at, length);
	for (; length >= 8; at += 8, length -= 8) {
		memcpy(&word, at, 8);
		sum += word;
		sum += sum < word;
	}
	word = 0;
	if (length & 4) {
		uint32_t part;

		memcpy(&part, at, 4);
		word = part;
		at += 4;
	}
	if (length & 2) {
		uint16_t part;

		memcpy(&part, at, 2);
		word += part;
		at += 2;
	}
	if (length & 1)
		word += *at;
	sum = (sum & 0xffffffffu) + (sum >> 32); /* room for what the caller adds */
	return sum + word;
}

/*
 * Flow numbers to fields: the address moves in 16 bits only, so that a flow never leaves its port's range; the port
 * moves with it, and one step more for every 65,536 flows, so that a million flows are all different.
 */
static inline struct frame_flow frame_flow(const struct frame_template *t, uint32_t flow)
{
	return (struct frame_flow){
		.address = frame_be16((uint16_t)(t->address + flow)),
		.port = frame_be16((uint16_t)(NFVGEN_MIN_UDP_SOURCE + ((flow + (flow >> 16)) & 0x3fffu))),
	};
}

static inline uint16_t frame_udp_final(uint64_t sum)
{
	uint16_t value = (uint16_t)~frame_fold(sum);

	return value ? value : 0xffff; /* 0 means "no checksum" */
}

/* The fields that only VXLAN has; the inner UDP sum is 0 by construction, so only its addresses remain in the outer
 * one. */
static inline void frame_write_outer(uint8_t *frame, const struct frame_template *t, struct frame_flow flow)
{
	const struct frame_layout *at = &t->layout;
	uint16_t outer = frame_udp_final(
		(uint64_t)t->outer_udp_sum + flow.port + (at->ip_checksum ? (uint16_t)~flow.address : 0));

	memcpy(frame + at->outer_source_port, &flow.port, 2);
	memcpy(frame + at->outer_udp_checksum, &outer, 2);
}

/* Whether frames need frame_write_rest(): rare, so it is asked once for a burst. */
static inline bool frame_has_rest(const struct frame_template *t)
{
	return t->destinations_mask || t->flow_macs || t->bearers;
}

/* Addresses of more than one host. */
static inline void frame_write_macs(uint8_t *frame, const struct frame_template *t, uint32_t number)
{
	if (t->destinations_mask)
		frame[FRAME_DESTINATION] = (uint8_t)(t->bytes[FRAME_DESTINATION] + (number & t->destinations_mask));
	if (t->flow_macs & FLOW_DESTINATION_MAC)
		frame_add24(frame + FRAME_DESTINATION_LOW, t->bytes + FRAME_DESTINATION_LOW, number);
	if (t->flow_macs & FLOW_SOURCE_MAC)
		frame_add24(frame + FRAME_SOURCE_LOW, t->bytes + FRAME_SOURCE_LOW, number);
}

/*
 * The bearer's fields of a frame that has its number and time. In a tunnel the UE's packet, right by itself, sums to
 * nothing but minus its addresses: of all that the outer sum covers only the UE's address and the TEID differ.
 */
static inline void frame_write_bearer(uint8_t *frame, const struct frame_template *t, uint32_t number)
{
	const struct frame_layout *at = &t->layout;
	const struct frame_bearer *bearer = &t->bearers->bearer[number % NFVGEN_MAX_BEARERS];
	uint16_t port = frame_flow(t, number).port, checksum;
	uint32_t sequence;
	uint64_t time;

	memcpy(&sequence, frame + at->sequence, sizeof(sequence));
	memcpy(&time, frame + at->time, sizeof(time));
	memcpy(frame + at->ue, &bearer->ue, sizeof(bearer->ue));
	checksum = frame_udp_final((uint64_t)t->udp_sum + bearer->ue + port + sequence + (uint32_t)time + (time >> 32));
	memcpy(frame + at->udp_checksum, &checksum, sizeof(checksum));
	checksum = (uint16_t)~frame_fold((uint64_t)t->ip_sum + bearer->ue);
	memcpy(frame + at->ip_checksum, &checksum, sizeof(checksum));
	if (!at->teid)
		return;
	memcpy(frame + at->teid, &bearer->uplink_teid, sizeof(bearer->uplink_teid));
	checksum = frame_udp_final((uint64_t)t->outer_udp_sum + bearer->uplink_teid + (uint32_t)~bearer->ue);
	memcpy(frame + at->outer_udp_checksum, &checksum, sizeof(checksum));
}

/* What goes with the flow beyond frame_write_next(). */
static inline void frame_write_rest(uint8_t *frame, const struct frame_template *t, uint32_t number)
{
	frame_write_macs(frame, t, number);
	if (t->bearers)
		frame_write_bearer(frame, t, number);
}

/*
 * What the frames of one size and one time have in common. A copy, so that the compiler knows that writing a frame does
 * not change it and keeps it in registers.
 */
struct frame_writer {
	const struct frame_template *template;
	struct frame_layout at;
	uint16_t ip_sum;
	uint64_t udp_sum; /* with the time */
	uint64_t time_be;
};

/* `time` in host order. */
static inline struct frame_writer frame_writer(const struct frame_template *t, uint64_t time)
{
	uint64_t time_be = frame_be64(time);

	return (struct frame_writer){
		.template = t,
		.at = t->layout,
		.ip_sum = t->ip_sum,
		.udp_sum = (uint64_t)t->udp_sum + (uint32_t)time_be + (time_be >> 32),
		.time_be = time_be,
	};
}

/* Makes a copy of the template's headers the frame of this flow and sequence, but for frame_write_rest(). */
static inline void frame_write_next(
	uint8_t *frame, const struct frame_writer *w, struct frame_flow flow, uint32_t sequence)
{
	uint32_t sequence_be = frame_be32(sequence);
	uint16_t udp = frame_udp_final(w->udp_sum + flow.address + flow.port + sequence_be);

	memcpy(frame + w->at.address, &flow.address, 2);
	memcpy(frame + w->at.flow_port, &flow.port, 2);
	memcpy(frame + w->at.udp_checksum, &udp, 2);
	memcpy(frame + w->at.sequence, &sequence_be, 4);
	memcpy(frame + w->at.time, &w->time_be, 8);
	if (w->at.ip_checksum) {
		uint16_t ip = (uint16_t)~frame_fold((uint64_t)w->ip_sum + flow.address);

		memcpy(frame + w->at.ip_checksum, &ip, 2);
	}
	if (w->at.outer_source_port)
		frame_write_outer(frame, w->template, flow);
}

static inline void frame_write(
	uint8_t *frame, const struct frame_template *t, uint32_t flow_number, uint32_t sequence, uint64_t time)
{
	struct frame_writer writer = frame_writer(t, time);

	frame_write_next(frame, &writer, frame_flow(t, flow_number), sequence);
	if (frame_has_rest(t))
		frame_write_rest(frame, t, flow_number);
}

#endif
