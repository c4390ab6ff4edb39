/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Answers to "who has this address": ARP requests and neighbour solicitations for the ports' addresses. */
#ifndef NFVGEN_XDP_ANSWER_BPF_H
#define NFVGEN_XDP_ANSWER_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ipv6.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "xdp_shared.h"

#define ND_SOLICITATION 135
#define ND_ADVERTISEMENT 136
#define ND_TARGET_ADDRESS 2
/* Solicited, and to be believed over what was known before. */
#define ND_FLAGS 0x60000000

struct arp_packet {
	__be16 hardware, protocol;
	__u8 hardware_length, protocol_length;
	__be16 operation;
	__u8 sender_mac[6];
	__u8 sender_ip[4];
	__u8 target_mac[6];
	__u8 target_ip[4];
} __attribute__((packed));

/* With the one option that a solicitation outside address detection carries. */
struct nd_packet {
	__u8 type, code;
	__be16 checksum;
	__be32 flags;
	__u32 target[4];
	__u8 option, option_length;
	__u8 mac[6];
} __attribute__((packed));

static __always_inline void return_to_sender(struct ethhdr *ethernet, const __u8 *mac)
{
	__builtin_memcpy(ethernet->h_dest, ethernet->h_source, 6);
	__builtin_memcpy(ethernet->h_source, mac, 6);
}

/* Both return whether the request became its answer. */
static __always_inline int answer_arp(void *data, void *end, __u32 at, const struct sink_config *config, __u32 port)
{
	struct arp_packet *arp = data + at;
	const __u8 *mac = config->mac[port & 1];
	__u32 wanted, asker;

	if ((void *)(arp + 1) > end || arp->operation != bpf_htons(1) || arp->protocol != bpf_htons(ETH_P_IP))
		return 0;
	__builtin_memcpy(&wanted, arp->target_ip, 4);
	__builtin_memcpy(&asker, arp->sender_ip, 4);
	/* A gratuitous request, our own among them, asks nobody. */
	if (wanted != config->ipv4[port & 1] || asker == wanted)
		return 0;
	arp->operation = bpf_htons(2);
	__builtin_memcpy(arp->target_mac, arp->sender_mac, 6);
	__builtin_memcpy(arp->target_ip, &asker, 4);
	__builtin_memcpy(arp->sender_mac, mac, 6);
	__builtin_memcpy(arp->sender_ip, &wanted, 4);
	return_to_sender(data, mac);
	return 1;
}

static __always_inline __u16 nd_checksum(struct ipv6hdr *ip, struct nd_packet *nd)
{
	__u64 sum = bpf_htonl(sizeof(*nd)) + (__u64)bpf_htonl(IPPROTO_ICMPV6);

	sum += bpf_csum_diff(NULL, 0, (__be32 *)&ip->saddr, 32, 0) & 0xffffffff;
	sum += bpf_csum_diff(NULL, 0, (__be32 *)nd, sizeof(*nd), 0) & 0xffffffff;
	sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16) ~(sum + (sum >> 16));
}

static __always_inline int answer_nd(void *data, void *end, __u32 at, const struct sink_config *config, __u32 port)
{
	struct ipv6hdr *ip = data + at;
	struct nd_packet *nd = (void *)(ip + 1);
	const __u32 *mine = config->ipv6[port & 1];
	const __u8 *mac = config->mac[port & 1];

	if ((void *)(nd + 1) > end || ip->nexthdr != IPPROTO_ICMPV6 || ip->hop_limit != 255)
		return 0;
	if (nd->type != ND_SOLICITATION || ip->payload_len != bpf_htons(sizeof(*nd)))
		return 0;
	if (nd->target[0] != mine[0] || nd->target[1] != mine[1] || nd->target[2] != mine[2] ||
		nd->target[3] != mine[3])
		return 0;
	ip->daddr = ip->saddr;
	__builtin_memcpy(&ip->saddr, mine, 16);
	nd->type = ND_ADVERTISEMENT;
	nd->checksum = 0;
	nd->flags = bpf_htonl(ND_FLAGS);
	nd->option = ND_TARGET_ADDRESS;
	nd->option_length = 1;
	__builtin_memcpy(nd->mac, mac, 6);
	nd->checksum = nd_checksum(ip, nd);
	return_to_sender(data, mac);
	return 1;
}

/* The offset behind Ethernet and at most one tag, or 0. */
static __always_inline __u32 answer_offset(void *data, void *end, __be16 *type)
{
	struct ethhdr *ethernet = data;
	__be16 *tag = (void *)(ethernet + 1);

	if ((void *)(ethernet + 1) > end)
		return 0;
	*type = ethernet->h_proto;
	if (*type != bpf_htons(ETH_P_8021Q))
		return sizeof(*ethernet);
	if ((void *)(tag + 2) > end)
		return 0;
	*type = tag[1];
	return sizeof(*ethernet) + 4;
}

/* Our own learning frame, flooded to the other port: nobody else's frame. */
static __always_inline int is_own_learning(void *data, void *end, const struct sink_config *config)
{
	__be16 type;
	__u32 at = answer_offset(data, end, &type), same = XDP_PORTS;
	struct arp_packet *arp = data + at;

	if (!at || type != bpf_htons(ETH_P_ARP) || (void *)(arp + 1) > end)
		return 0;
#pragma unroll
	for (int port = 0; port < XDP_PORTS; port++)
		for (int i = 0; i < 6; i++)
			if (arp->sender_mac[i] != config->mac[port][i]) {
				same--;
				break;
			}
	return same && !__builtin_memcmp(arp->sender_ip, arp->target_ip, 4);
}

/*
 * Not XDP_TX: a veth leaves that in the ring of a peer that has only generic receive offload, until some other frame
 * wakes the peer up.
 */
static __always_inline int answer(struct xdp_md *ctx, const struct sink_config *config, __u32 port)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	int answered = 0;
	__be16 type;
	__u32 at = answer_offset(data, end, &type);

	if (at && type == bpf_htons(ETH_P_ARP))
		answered = answer_arp(data, end, at, config, port);
	else if (at && type == bpf_htons(ETH_P_IPV6))
		answered = answer_nd(data, end, at, config, port);
	return answered ? (int)bpf_redirect(ctx->ingress_ifindex, 0) : XDP_PASS;
}

#endif
