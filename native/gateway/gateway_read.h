/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a frame that a gateway received. An ARP question becomes its answer here. */
#ifndef NFVBED_GATEWAY_READ_H
#define NFVBED_GATEWAY_READ_H

#include "gateway_headers.h"

enum gateway_step {
	GATEWAY_DONE,      /* counted, and ended here */
	GATEWAY_SEND_BACK, /* the frame is an answer now, to be sent at the port it came from */
	GATEWAY_SEND_ECHO, /* gateway_write_echo() writes the answer */
	GATEWAY_PASS_ON,   /* a bearer is to be looked up by `key` */
};

/* What is in a frame. */
struct gateway_seen {
	__u32 count;        /* enum gateway_count */
	__u32 key;          /* TEID at S1-U, the UE's address at SGi */
	__u32 source;       /* of the inner packet; of an echo request, of the outer one */
	__u32 inner_at;     /* bytes from the frame's start */
	__u32 inner_length; /* as the inner packet says */
	gateway_mac learnt; /* of the neighbour; 0: none */
	__u16 echo_port;
	__u16 echo_sequence;
	__u8 echo_flags;
	__u8 ttl; /* of the inner packet */
};

static __always_inline int gateway_stop(struct gateway_seen *seen, enum gateway_count why)
{
	seen->count = why;
	return GATEWAY_DONE;
}

/* Checks an IPv4 header of `room` bytes or fewer with its packet. Returns its length in bytes, or 0: it is malformed.
 */
static __always_inline __u32 gateway_check_ipv4(const struct gateway_ipv4 *ip, const void *end, __u32 room)
{
	const gateway_word *word = (const void *)ip;
	__u32 words, length;
	__u64 sum = 0;

	if ((const void *)(ip + 1) > end)
		return 0;
	words = ip->version_words & 0xf;
	length = GATEWAY_SWAP16(ip->length);
	if (words < GATEWAY_IPV4_BYTES / 4 || length < 4 * words || length > room)
		return 0;
#pragma GCC unroll 5
	for (int i = 0; i < GATEWAY_IPV4_BYTES / 4; i++)
		sum += word[i];
	word = (const void *)(ip + 1);
	for (__u32 i = GATEWAY_IPV4_BYTES / 4; i < GATEWAY_MOST_WORDS; i++) {
		if (i >= words)
			break;
		GATEWAY_KEEP_CHECK(word);
		if ((const void *)(word + 1) > end)
			return 0;
		sum += *word++;
	}
	return gateway_fold(sum) == 0xffff ? 4 * words : 0;
}

/* Who asks for the side's address gets an answer in his own frame; what the neighbour says of itself is learnt. */
static __always_inline int gateway_look_arp(
	const volatile struct gateway_side *side, void *data, void *end, struct gateway_seen *seen)
{
	struct gateway_ethernet *ethernet = data;
	struct gateway_arp *arp = data + GATEWAY_ETHERNET_BYTES;
	__u32 sender, target;

	if ((void *)(arp + 1) > end || arp->hardware != GATEWAY_SWAP16(1) || arp->protocol != GATEWAY_TYPE_IPV4 ||
		arp->sizes != GATEWAY_SWAP16(0x0604))
		return gateway_stop(seen, GATEWAY_MALFORMED);
	sender = gateway_address(arp->sender);
	target = gateway_address(arp->target);
	/* A group address, or none, is nobody's. */
	if (sender == side->neighbour && !side->neighbour_given && !(arp->sender_mac[0] & 1))
		seen->learnt = gateway_mac_of(arp->sender_mac);
	if (arp->operation != GATEWAY_ARP_REQUEST || target != side->address)
		return gateway_stop(seen, seen->learnt ? GATEWAY_ARP : GATEWAY_FOREIGN);
	gateway_put_mac(ethernet->destination, arp->sender_mac);
	gateway_put_mac(ethernet->source, side->mac);
	gateway_put_mac(arp->target_mac, arp->sender_mac);
	gateway_put_address(arp->target, sender);
	gateway_put_mac(arp->sender_mac, side->mac);
	gateway_put_address(arp->sender, side->address);
	arp->operation = GATEWAY_ARP_REPLY;
	seen->count = GATEWAY_ARP;
	return GATEWAY_SEND_BACK;
}

/* Returns GATEWAY_PASS_ON where an IPv4 packet to this station follows the Ethernet header. */
static __always_inline int gateway_look_ethernet(
	const volatile struct gateway_side *side, void *data, void *end, struct gateway_seen *seen)
{
	struct gateway_ethernet *ethernet = data;
	int own;

	if ((void *)(ethernet + 1) > end)
		return gateway_stop(seen, GATEWAY_MALFORMED);
	own = gateway_same_mac(ethernet->destination, side->mac);
	if (ethernet->type == GATEWAY_TYPE_ARP && (own || ethernet->destination[0] == 0xff))
		return gateway_look_arp(side, data, end, seen);
	if (!own)
		return gateway_stop(seen, GATEWAY_FOREIGN);
	if (ethernet->type != GATEWAY_TYPE_IPV4)
		return gateway_stop(seen, GATEWAY_NOT_IPV4);
	return GATEWAY_PASS_ON;
}

/* The packet that a bearer carries, of `room` bytes or fewer. */
static __always_inline int gateway_look_inner(
	const void *data, const void *end, const struct gateway_ipv4 *inner, __u32 room, struct gateway_seen *seen)
{
	if ((const void *)(inner + 1) > end || room < GATEWAY_IPV4_BYTES)
		return gateway_stop(seen, GATEWAY_MALFORMED);
	if (inner->version_words >> 4 != 4)
		return gateway_stop(seen, GATEWAY_NOT_IPV4);
	if (!gateway_check_ipv4(inner, end, room))
		return gateway_stop(seen, GATEWAY_MALFORMED);
	seen->inner_at = (__u32)((long)inner - (long)data);
	seen->inner_length = GATEWAY_SWAP16(inner->length);
	seen->source = inner->source;
	seen->ttl = inner->ttl;
	seen->count = GATEWAY_FORWARDED;
	return GATEWAY_PASS_ON;
}

/* GTP-U of `room` bytes. */
static __always_inline int gateway_look_gtp(
	const void *data, const void *end, const struct gateway_gtp *gtp, __u32 room, struct gateway_seen *seen)
{
	const struct gateway_gtp_optional *optional = (const void *)(gtp + 1);
	const struct gateway_ipv4 *inner = (const void *)(gtp + 1);
	__u32 length;

	if ((const void *)(gtp + 1) > end || room < GATEWAY_GTP_BYTES)
		return gateway_stop(seen, GATEWAY_MALFORMED);
	if ((gtp->flags & GATEWAY_GTP_VERSION_MASK) != GATEWAY_GTP_VERSION)
		return gateway_stop(seen, GATEWAY_NOT_GTPU);
	length = GATEWAY_SWAP16(gtp->length);
	if (length > room - GATEWAY_GTP_BYTES)
		return gateway_stop(seen, GATEWAY_MALFORMED);
	seen->key = gtp->teid;
	seen->echo_flags = gtp->flags & GATEWAY_GTP_SEQUENCE;
	if (gtp->flags & GATEWAY_GTP_OPTIONAL) {
		if ((const void *)(optional + 1) > end || length < GATEWAY_GTP_OPTIONAL_BYTES)
			return gateway_stop(seen, GATEWAY_MALFORMED);
		if (gtp->flags & GATEWAY_GTP_EXTENSION && optional->next_extension)
			return gateway_stop(seen, GATEWAY_EXTENSION);
		seen->echo_sequence = optional->sequence;
		length -= GATEWAY_GTP_OPTIONAL_BYTES;
		inner = (const void *)(optional + 1);
	}
	if (gtp->type == GATEWAY_GTP_ECHO_REQUEST) {
		seen->count = GATEWAY_ECHO;
		return GATEWAY_SEND_ECHO;
	}
	if (gtp->type != GATEWAY_GTP_PACKET)
		return gateway_stop(seen, GATEWAY_NOT_GTPU);
	return gateway_look_inner(data, end, inner, length, seen);
}

/* A frame that came at S1-U. Returns an enum gateway_step. */
static __always_inline int gateway_look_s1u(
	const volatile struct gateway_side *side, void *data, void *end, struct gateway_seen *seen)
{
	const struct gateway_ipv4 *ip = data + GATEWAY_ETHERNET_BYTES;
	const struct gateway_udp *udp;
	int step = gateway_look_ethernet(side, data, end, seen);
	__u32 header, length, udp_length;

	if (step != GATEWAY_PASS_ON)
		return step;
	header = gateway_check_ipv4(ip, end, (__u32)((long)end - (long)ip));
	if (!header || (const void *)(ip + 1) > end || ip->version_words >> 4 != 4)
		return gateway_stop(seen, GATEWAY_MALFORMED);
	if (ip->destination != side->address || ip->protocol != GATEWAY_UDP)
		return gateway_stop(seen, GATEWAY_NOT_GTPU);
	if (ip->fragment & GATEWAY_FRAGMENT)
		return gateway_stop(seen, GATEWAY_FRAGMENTS);
	length = GATEWAY_SWAP16(ip->length) - header;
	udp = (const void *)ip + header;
	if ((const void *)(udp + 1) > end)
		return gateway_stop(seen, GATEWAY_MALFORMED);
	if (udp->destination != GATEWAY_GTPU_PORT)
		return gateway_stop(seen, GATEWAY_NOT_GTPU);
	udp_length = GATEWAY_SWAP16(udp->length);
	if (udp_length < GATEWAY_UDP_BYTES || udp_length > length)
		return gateway_stop(seen, GATEWAY_MALFORMED);
	step = gateway_look_gtp(data, end, (const void *)(udp + 1), udp_length - GATEWAY_UDP_BYTES, seen);
	if (step == GATEWAY_SEND_ECHO) {
		seen->source = ip->source;
		seen->echo_port = udp->source;
	}
	return step;
}

/* A frame that came at SGi. Returns an enum gateway_step. */
static __always_inline int gateway_look_sgi(
	const volatile struct gateway_side *side, void *data, void *end, struct gateway_seen *seen)
{
	const struct gateway_ipv4 *ip = data + GATEWAY_ETHERNET_BYTES;
	int step = gateway_look_ethernet(side, data, end, seen);

	if (step != GATEWAY_PASS_ON)
		return step;
	step = gateway_look_inner(data, end, ip, (__u32)((long)end - (long)ip), seen);
	/* A frame that says IPv4 and holds something else is none. */
	if (step == GATEWAY_DONE && seen->count == GATEWAY_NOT_IPV4)
		seen->count = GATEWAY_MALFORMED;
	if (step == GATEWAY_PASS_ON && (const void *)(ip + 1) <= end)
		seen->key = ip->destination;
	return step;
}

#endif
