// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/* Redirects every frame from either of two ports to the other one. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

const volatile __u32 first_ifindex = 0;

/* Indexed by the port that a frame came in at; the value is the port that it leaves by. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} way_out SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} received SEC(".maps");

SEC("xdp")
int nfvbed_forward(struct xdp_md *ctx)
{
	__u32 port = ctx->ingress_ifindex != first_ifindex;
	__u64 *count = bpf_map_lookup_elem(&received, &port);

	if (count)
		(*count)++;
	return bpf_redirect_map(&way_out, port, XDP_ABORTED);
}

char LICENSE[] SEC("license") = "GPL";
