/* SPDX-License-Identifier: Apache-2.0 */
/* How the frame that leaves a gateway is written. */
#ifndef NFVBED_GATEWAY_WRITE_H
#define NFVBED_GATEWAY_WRITE_H

#include "gateway_read.h"

/* What a packet whose bearer is known may still lack. Returns GATEWAY_FORWARDED, or why it is not. */
static __always_inline enum gateway_count gateway_admit(
	const volatile struct gateway_side *out, gateway_mac next, const struct gateway_seen *seen, __u32 more_bytes)
{
	if (seen->ttl <= 1)
		return GATEWAY_TTL_EXPIRED;
	if (seen->inner_length + more_bytes > out->mtu)
		return GATEWAY_TOO_BIG;
	return next ? GATEWAY_FORWARDED : GATEWAY_NO_NEIGHBOUR;
}

/* As the kernel does it (RFC 1141), whose checksum is the same. */
static __always_inline void gateway_decrease_ttl(struct gateway_ipv4 *ip)
{
	__u32 checksum = ip->checksum;

	checksum += GATEWAY_SWAP16(0x0100);
	ip->checksum = (__u16)(checksum + (checksum >= 0xffff));
	ip->ttl--;
}

static __always_inline void gateway_write_ethernet(
	struct gateway_ethernet *ethernet, const volatile struct gateway_side *out, gateway_mac next)
{
	__builtin_memcpy(ethernet->destination, &next, 6);
	gateway_put_mac(ethernet->source, out->mac);
	ethernet->type = GATEWAY_TYPE_IPV4;
}

/* As a socket of the kernel's writes it, but for the identification, which what is no fragment needs not. */
static __always_inline void gateway_write_ipv4(struct gateway_ipv4 *ip, __u32 source, __u32 destination, __u32 length)
{
	__u64 sum = 0;
	const gateway_word *word = (const void *)ip;

	ip->version_words = 0x45;
	ip->service = 0;
	ip->length = GATEWAY_SWAP16(length);
	ip->identification = 0;
	ip->fragment = GATEWAY_DONT_FRAGMENT;
	ip->ttl = GATEWAY_TTL;
	ip->protocol = GATEWAY_UDP;
	ip->checksum = 0;
	ip->source = source;
	ip->destination = destination;
#pragma GCC unroll 5
	for (int i = 0; i < GATEWAY_IPV4_BYTES / 4; i++)
		sum += word[i];
	ip->checksum = (__u16)~gateway_fold(sum);
}

/* The checksum of a datagram that ends with its frame; 0 is written as its other form (RFC 768). */
static __always_inline __u16 gateway_udp_checksum(
	const struct gateway_ipv4 *ip, const struct gateway_udp *udp, const void *end)
{
	__u64 sum = (__u64)ip->source + ip->destination + GATEWAY_SWAP16(GATEWAY_UDP) + udp->length;
	__u16 checksum = (__u16)~gateway_fold(gateway_sum(udp, end, sum));

	return checksum ? checksum : 0xffff;
}

/* The frame begins at the inner packet's new Ethernet header, and ends with the packet. Returns 0, or -1. */
static __always_inline int gateway_write_uplink(
	const volatile struct gateway_config *config, gateway_mac next, void *data, void *end)
{
	struct gateway_ipv4 *ip = data + GATEWAY_ETHERNET_BYTES;

	if ((void *)(ip + 1) > end)
		return -1;
	gateway_decrease_ttl(ip);
	gateway_write_ethernet(data, &config->side[GATEWAY_SGI], next);
	return 0;
}

/* There is room for the tunnel's headers before the inner packet, and the frame ends with it. Returns 0, or -1. */
static __always_inline int gateway_write_downlink(
	const volatile struct gateway_config *config, gateway_mac next, __u32 teid, void *data, void *end)
{
	const volatile struct gateway_side *out = &config->side[GATEWAY_S1U];
	struct gateway_ipv4 *ip = data + GATEWAY_ETHERNET_BYTES;
	struct gateway_udp *udp = (void *)(ip + 1);
	struct gateway_gtp *gtp = (void *)(udp + 1);
	struct gateway_ipv4 *inner = (void *)(gtp + 1);
	__u32 length;

	if ((void *)(inner + 1) > end)
		return -1;
	length = GATEWAY_SWAP16(inner->length);
	gateway_decrease_ttl(inner);
	gateway_write_ethernet(data, out, next);
	gateway_write_ipv4(ip, out->address, out->neighbour, length + GATEWAY_TUNNEL_BYTES);
	udp->source = GATEWAY_GTPU_PORT;
	udp->destination = GATEWAY_GTPU_PORT;
	udp->length = GATEWAY_SWAP16(length + GATEWAY_UDP_BYTES + GATEWAY_GTP_BYTES);
	udp->checksum = 0;
	gtp->flags = GATEWAY_GTP_VERSION;
	gtp->type = GATEWAY_GTP_PACKET;
	gtp->length = GATEWAY_SWAP16(length);
	gtp->teid = teid;
	if (!config->no_outer_checksum)
		udp->checksum = gateway_udp_checksum(ip, udp, end);
	return 0;
}

/* Returns the length of the frame that answers an echo request. */
static __always_inline __u32 gateway_echo_bytes(const struct gateway_seen *seen)
{
	return GATEWAY_ETHERNET_BYTES + GATEWAY_TUNNEL_BYTES + GATEWAY_RECOVERY_BYTES +
	       (seen->echo_flags ? GATEWAY_GTP_OPTIONAL_BYTES : 0);
}

/* The frame is the request, made as long as its answer. Returns 0, or -1. */
static __always_inline int gateway_write_echo(
	const volatile struct gateway_side *side, const struct gateway_seen *seen, void *data, void *end)
{
	struct gateway_ethernet *ethernet = data;
	struct gateway_ipv4 *ip = data + GATEWAY_ETHERNET_BYTES;
	struct gateway_udp *udp = (void *)(ip + 1);
	struct gateway_gtp *gtp = (void *)(udp + 1);
	struct gateway_gtp_optional *optional = (void *)(gtp + 1);
	__u8 *recovery = (void *)(gtp + 1);
	__u32 more = GATEWAY_RECOVERY_BYTES + (seen->echo_flags ? GATEWAY_GTP_OPTIONAL_BYTES : 0);

	if ((void *)(recovery + GATEWAY_RECOVERY_BYTES) > end)
		return -1;
	gateway_put_mac(ethernet->destination, ethernet->source);
	gateway_put_mac(ethernet->source, side->mac);
	gateway_write_ipv4(ip, side->address, seen->source, GATEWAY_TUNNEL_BYTES + more);
	udp->source = GATEWAY_GTPU_PORT;
	udp->destination = seen->echo_port;
	udp->length = GATEWAY_SWAP16(GATEWAY_UDP_BYTES + GATEWAY_GTP_BYTES + more);
	udp->checksum = 0;
	gtp->flags = GATEWAY_GTP_VERSION | seen->echo_flags;
	gtp->type = GATEWAY_GTP_ECHO_RESPONSE;
	gtp->length = GATEWAY_SWAP16(more);
	gtp->teid = 0;
	if (seen->echo_flags) {
		recovery = (void *)(optional + 1);
		if ((void *)(recovery + GATEWAY_RECOVERY_BYTES) > end)
			return -1;
		optional->sequence = seen->echo_sequence;
		optional->n_pdu = 0;
		optional->next_extension = 0;
	}
	recovery[0] = GATEWAY_GTP_RECOVERY;
	recovery[1] = 0;
	udp->checksum = gateway_udp_checksum(ip, udp, end);
	return 0;
}

#endif
