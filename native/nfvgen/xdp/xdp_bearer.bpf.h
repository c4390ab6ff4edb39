/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The check of a frame that a gateway of a mobile core made of ours: on port 1 the UE's packet out of its tunnel, on
 * port 0 the server's in the tunnel of its bearer. The inner UDP source port, which its checksum covers, says which
 * bearer it was sent on.
 */
#ifndef NFVGEN_XDP_BEARER_BPF_H
#define NFVGEN_XDP_BEARER_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "xdp_checksum.bpf.h"
#include "xdp_expect.bpf.h"
#include "xdp_shared.h"

#define BEARER_MAGIC 0x4e465647
#define BEARER_PORT 2152
#define BEARER_DISCARD 9
#define BEARER_FIRST_FLOW 0xc000

struct gtpu_header {
	__u8 flags, type;
	__be16 length;
	__be32 teid;
};

/* The headers in front of what is behind UDP: GTP-U, or the payload, which begins with its magic number. */
struct bearer_packet {
	struct iphdr ip;
	struct udphdr udp;
	union {
		struct gtpu_header gtpu;
		__be32 magic;
	};
};

/* From the packet's begin; the payload's fields are not aligned. */
#define BEARER_STREAM 32
#define BEARER_SEQUENCE 34
#define BEARER_TIME 38
#define BEARER_HEADERS 46

struct sink_bearers bearers = {};

enum bearer_verdict {
	BEARER_FOREIGN, /* not ours */
	BEARER_OTHER,   /* ours, of another trial or direction */
	BEARER_WRONG,   /* damaged, not decapsulated or encapsulated, another bearer's tunnel or address */
	BEARER_RIGHT,
};

/* IPv4 without options, UDP, and at least the payload's header; NULL otherwise. */
static __always_inline struct bearer_packet *bearer_packet_at(void *data, void *end, __u32 at)
{
	struct bearer_packet *packet = data + at;

	if ((void *)packet + BEARER_HEADERS > end || packet->ip.version != 4 || packet->ip.ihl != 5)
		return NULL;
	return packet->ip.protocol == IPPROTO_UDP ? packet : NULL;
}

/* An IPv4 header. */
static __always_inline int header_fits(const void *ip)
{
	return checksum_fold(sum_words(ip, 5)) == 0xffff;
}

/*
 * The tunnel's headers around a packet that is right by itself: that sums to nothing but minus its pseudo header. An
 * outer checksum of 0, none, is allowed over IPv4. So is one that the gateway's kernel left to its port, which then has
 * the sum of the pseudo header alone: a NIC would have completed it, and a veth hands it on.
 */
static __always_inline int tunnel_fits(
	const struct bearer_packet *outer, const struct bearer_packet *inner, __u32 check)
{
	__u32 length = bpf_ntohs(inner->ip.tot_len);
	__u64 sum = outer->ip.saddr + (__u64)outer->ip.daddr + outer->udp.len;

	if (outer->gtpu.flags != 0x30 || outer->gtpu.type != 0xff || outer->gtpu.length != inner->ip.tot_len ||
		bpf_ntohs(outer->udp.len) != length + 16 || bpf_ntohs(outer->ip.tot_len) != length + 36)
		return 0;
	if (!check)
		return 1;
	if (!header_fits(outer))
		return 0;
	if (outer->udp.check == checksum_fold(sum + bpf_htons(IPPROTO_UDP)))
		return 1;
	sum += sum_words((const void *)outer + sizeof(outer->ip), 4);
	sum += (__u64)(__u32)~inner->ip.saddr + (__u32)~inner->ip.daddr + (__u16)~inner->udp.len;
	return !outer->udp.check || checksum_fold(sum) == 0xffff;
}

/* Whether the packet is right by itself. */
static __always_inline int packet_fits(
	struct xdp_md *ctx, const struct bearer_packet *packet, __u32 at, __u32 length, __u32 check)
{
	__u32 total = bpf_ntohs(packet->ip.tot_len), datagram = bpf_ntohs(packet->udp.len);
	__be16 datagram_be = packet->udp.len;
	__s64 sum;

	if (total != datagram + sizeof(packet->ip) || total < BEARER_HEADERS || at + total > length)
		return 0;
	if (!check)
		return 1;
	if (!packet->udp.check || !header_fits(packet))
		return 0;
	sum = nfvgen_sum(ctx, at + 12, total - 12);
	return sum >= 0 && checksum_fold((__u64)sum + bpf_htons(IPPROTO_UDP) + datagram_be) == 0xffff;
}

/* Whether the frame is as the bearer that it was sent on has it on this port. */
static __always_inline int is_of_bearer(
	const struct bearer_packet *outer, const struct bearer_packet *inner, __u32 port)
{
	__u32 flow = (__u32)bpf_ntohs(inner->udp.source) - BEARER_FIRST_FLOW;
	const struct gen_bearer *bearer = &bearers.bearer[flow % XDP_BEARERS];

	if (flow >= bearers.count || inner->udp.dest != bpf_htons(BEARER_DISCARD))
		return 0;
	if (port)
		return !outer && inner->ip.saddr == bearer->ue && inner->ip.daddr == bearers.server;
	return outer && outer->ip.saddr == bearers.sgw && outer->ip.daddr == bearers.enb &&
	       outer->gtpu.teid == bearer->teid && inner->ip.saddr == bearers.server && inner->ip.daddr == bearer->ue;
}

/* Where the first IPv4 header is, behind at most two tags; 0: there is none. */
static __always_inline __u32 bearer_network(void *data, void *end)
{
	struct ethhdr *ethernet = data;
	__u32 at = sizeof(*ethernet);
	__be16 type;

	if ((void *)(ethernet + 1) > end)
		return 0;
	type = ethernet->h_proto;
#pragma unroll
	for (int i = 0; i < 2; i++) {
		__be16 *tag = data + at;

		if (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD))
			break;
		if ((void *)(tag + 2) > end)
			return 0;
		type = tag[1];
		at += 4;
	}
	return type == bpf_htons(ETH_P_IP) ? at : 0;
}

/*
 * `expected` is the stream that ends on this port.
 * A global function: verified by itself, and no part of the way of frames without bearers.
 */
__attribute__((noinline)) int nfvgen_bearer(
	struct xdp_md *ctx, __u32 port, __u32 expected, __u32 check, struct expect_mark *mark)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct bearer_packet *outer = NULL, *inner;
	__u32 at = bearer_network(data, end);

	if (!mark)
		return BEARER_FOREIGN;
	inner = at ? bearer_packet_at(data, end, at) : NULL;
	if (inner && inner->udp.dest == bpf_htons(BEARER_PORT)) {
		outer = inner;
		at += XDP_GTPU_BYTES;
		inner = bearer_packet_at(data, end, at);
	}
	if (!inner || inner->magic != bpf_htonl(BEARER_MAGIC))
		return BEARER_FOREIGN;
	/* The stream of a damaged frame cannot be trusted: it belongs to the direction that ends here. */
	if (expected == XDP_NO_STREAM)
		return BEARER_OTHER;
	if (!packet_fits(ctx, inner, at, (__u32)(end - data), check) || (outer && !tunnel_fits(outer, inner, check)))
		return BEARER_WRONG;
	if (bpf_ntohs(*(__be16 *)((void *)inner + BEARER_STREAM)) != expected)
		return BEARER_OTHER;
	mark->sequence = *(__u32 *)((void *)inner + BEARER_SEQUENCE);
	mark->time = *(__u64 *)((void *)inner + BEARER_TIME);
	return is_of_bearer(outer, inner, port) ? BEARER_RIGHT : BEARER_WRONG;
}

#endif
