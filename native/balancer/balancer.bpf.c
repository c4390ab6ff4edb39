// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * The flow mapper of Han's balancer for multi-queue interfaces (Seoul National University, 2013): a packet of a known
 * flow goes to the flow's queue, a new flow to the least loaded one. The kernel runs it for each packet that goes out
 * by a tap (TUNSETSTEERINGEBPF). Nobody can read a tap's backlog, so a queue's load is its packets of this period and
 * of the one before. What has no IP header goes to the first queue.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "balancer.h"

#define FRAGMENT bpf_htons(0x3fff) /* more fragments, or an offset: the ports are not in each of them */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BALANCER_FLOWS);
	__type(key, __u32);
	__type(value, struct balancer_flow);
} flows SEC(".maps");

const volatile __u32 queues = 1;

struct balancer_queue queue[BALANCER_QUEUES];
__u32 period;
__u64 packets;
__u64 no_flow;  /* packets without an IP header */
__u64 no_entry; /* packets of flows that the table had no room for */

struct ports {
	__be16 source;
	__be16 destination;
};

/* Of CRC-32 (IEEE 802.3, reflected), four bits at a time. */
static const __u32 crc_of_nibble[16] = {
	0x00000000,
	0x1db71064,
	0x3b6e20c8,
	0x26d930ac,
	0x76dc4190,
	0x6b6b51f4,
	0x4db26158,
	0x5005713c,
	0xedb88320,
	0xf00f9344,
	0xd6d6a3e8,
	0xcb61b38c,
	0x9b64c2b0,
	0x86d3d2d4,
	0xa00ae278,
	0xbdbdf21c,
};

static __always_inline __u32 crc_add(__u32 crc, const void *data, unsigned size)
{
	const __u8 *bytes = data;

	for (unsigned i = 0; i < size; i++) {
		crc ^= bytes[i];
		crc = crc >> 4 ^ crc_of_nibble[crc & 15];
		crc = crc >> 4 ^ crc_of_nibble[crc & 15];
	}
	return crc;
}

/* Adds the ports to what is known of a flow; protocols without ports, and fragments, have none. */
static __always_inline __u32 crc_of_rest(struct __sk_buff *skb, __u32 crc, __u8 protocol, __u32 offset)
{
	struct ports ports = {0};

	if (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP)
		bpf_skb_load_bytes(skb, offset, &ports, sizeof(ports));
	return ~crc_add(crc_add(crc, &ports, sizeof(ports)), &protocol, sizeof(protocol));
}

/* Returns 0 and the flow's id, or -1: the packet has none. */
static __always_inline int find_id(struct __sk_buff *skb, __u32 *id)
{
	__u32 offset = sizeof(struct ethhdr);
	struct ipv6hdr ip6;
	struct iphdr ip;

	if (skb->protocol == bpf_htons(ETH_P_IP) && !bpf_skb_load_bytes(skb, offset, &ip, sizeof(ip))) {
		__u8 protocol = ip.frag_off & FRAGMENT ? 0 : ip.protocol;

		*id = crc_of_rest(skb, crc_add(~0u, &ip.saddr, 2 * sizeof(ip.saddr)), protocol, offset + ip.ihl * 4);
		return 0;
	}
	if (skb->protocol == bpf_htons(ETH_P_IPV6) && !bpf_skb_load_bytes(skb, offset, &ip6, sizeof(ip6))) {
		*id = crc_of_rest(
			skb, crc_add(~0u, &ip6.saddr, 2 * sizeof(ip6.saddr)), ip6.nexthdr, offset + sizeof(ip6));
		return 0;
	}
	return -1;
}

static __always_inline __u32 find_least_loaded(void)
{
	__u64 least = ~0ull;
	__u32 found = 0;

	for (__u32 i = 0; i < BALANCER_QUEUES && i < queues; i++) {
		__u64 load = queue[i].packets - queue[i].base;

		if (load < least) {
			least = load;
			found = i;
		}
	}
	return found;
}

static __always_inline struct balancer_flow *find_flow(__u32 id)
{
	struct balancer_flow new = {.period = period}, *flow = bpf_map_lookup_elem(&flows, &id);

	if (flow)
		return flow;
	new.queue = find_least_loaded();
	/* Another core may have had the flow's first packet at the same time: then its entry counts. */
	bpf_map_update_elem(&flows, &id, &new, BPF_NOEXIST);
	return bpf_map_lookup_elem(&flows, &id);
}

static __always_inline __u32 map(struct __sk_buff *skb)
{
	struct balancer_flow *flow;
	__u32 id;

	if (find_id(skb, &id)) {
		__sync_fetch_and_add(&no_flow, 1);
		return 0;
	}
	flow = find_flow(id);
	if (!flow) {
		__sync_fetch_and_add(&no_entry, 1);
		return id % queues;
	}
	if (flow->period != period) {
		flow->period = period;
		flow->packets = 0;
	}
	__sync_fetch_and_add(&flow->packets, 1);
	return flow->queue;
}

SEC("socket")
int nfvbed_map_flow(struct __sk_buff *skb)
{
	__u32 at = map(skb);

	/* The mask bounds all 64 bits for the verifier; a comparison of the lower ones, as clang 19 makes, does not. */
	__sync_fetch_and_add(&queue[at & (BALANCER_QUEUES - 1)].packets, 1);
	__sync_fetch_and_add(&packets, 1);
	return (int)at;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
