// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/* A switch of cables, and four tasks whose cost is measured in its place. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "xdp_switch.h"

/* Cables at each port, by interface number; the verifier drops what concerns shares where no port has several. */
const volatile __u8 ways[SWITCH_IFINDEX_END] = {};
const volatile __u8 has_shares = 0;

/* The port at the other end, by interface number and way. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, SWITCH_IFINDEX_END *SWITCH_WAYS);
	__type(key, __u32);
	__type(value, __u32);
} way_out SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SWITCH_IFINDEX_END);
	__type(key, __u32);
	__type(value, struct switch_counts);
} counts SEC(".maps");

/* The table of task C: which port a station is at, by its address in the low six bytes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SWITCH_STATIONS);
	__type(key, __u64);
	__type(value, __u32);
} stations SEC(".maps");

/* Shares go by the last byte of the destination address, as the generator counts it up from flow to flow. */
static __always_inline __u32 way_of(struct xdp_md *ctx, __u32 port)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *ethernet = data;

	if (!has_shares || port >= SWITCH_IFINDEX_END || ways[port] < 2 || (void *)(ethernet + 1) > end)
		return 0;
	return ethernet->h_dest[ETH_ALEN - 1] % ways[port];
}

SEC("xdp")
int nfvbed_switch(struct xdp_md *ctx)
{
	__u32 port = ctx->ingress_ifindex;
	struct switch_counts *mine = bpf_map_lookup_elem(&counts, &port);
	int verdict = bpf_redirect_map(&way_out, port * SWITCH_WAYS + way_of(ctx, port), XDP_ABORTED);

	if (mine) {
		mine->received++;
		if (verdict != XDP_REDIRECT)
			mine->no_way++;
	}
	return verdict;
}

/* Reads what tells that a frame is a whole IPv4 packet. Returns 0 where it is not. */
static __always_inline int is_ipv4(void *data, void *end)
{
	struct ethhdr *ethernet = data;
	struct iphdr *ip = data + sizeof(*ethernet);

	if ((void *)(ip + 1) > end || ethernet->h_proto != bpf_htons(ETH_P_IP))
		return 0;
	return ip->version == 4 && ip->ihl >= 5 && bpf_ntohs(ip->tot_len) >= sizeof(*ip) &&
	       bpf_ntohs(ip->tot_len) <= (long)end - (long)ip;
}

/* Task A. */
SEC("xdp")
int nfvbed_drop(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_DROP;
}

/* Task B. What it reads decides its verdict, or the compiler would leave the reading out. */
SEC("xdp")
int nfvbed_parse(struct xdp_md *ctx)
{
	return is_ipv4((void *)(long)ctx->data, (void *)(long)ctx->data_end) ? XDP_DROP : XDP_PASS;
}

/* Task C. */
SEC("xdp")
int nfvbed_lookup(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 station = 0;

	if (!is_ipv4(data, end))
		return XDP_PASS;
	__builtin_memcpy(&station, data, ETH_ALEN);
	return bpf_map_lookup_elem(&stations, &station) ? XDP_DROP : XDP_PASS;
}

/* Task D. */
SEC("xdp")
int nfvbed_rewrite(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *ethernet = data;
	__u8 mac[ETH_ALEN];

	if (!is_ipv4(data, end) || (void *)(ethernet + 1) > end)
		return XDP_PASS;
	__builtin_memcpy(mac, ethernet->h_dest, ETH_ALEN);
	__builtin_memcpy(ethernet->h_dest, ethernet->h_source, ETH_ALEN);
	__builtin_memcpy(ethernet->h_source, mac, ETH_ALEN);
	return XDP_TX;
}

char LICENSE[] SEC("license") = "GPL";
