// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * Counts what the ports really took of the frames that were redirected into them. The sender cannot see it: the kernel
 * hands frames over in bursts, after the program has returned, and drops what the port refuses.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "xdp_shared.h"

/* Live frames are born on the loopback interface, which no other redirect comes from. */
#define LOOPBACK_IFINDEX 1

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	int ifindex;
	possible_net_t nd_net;
};
#pragma clang attribute pop

const volatile struct xmit_config config = {};
struct xmit_trial trial = {};
struct xmit_progress progress[XDP_DIRECTIONS] = {};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XDP_PORTS);
	__type(key, __u32);
	__type(value, struct xmit_counts);
} counts SEC(".maps");

/* The bytes of a direction's first `frames` frames. */
static __always_inline __u64 bytes_of(__u32 direction, __u64 frames)
{
	__u32 length = trial.schedule_length;

	if (!length)
		return 0;
	return frames / length * trial.turn_bytes[direction & 1] +
	       trial.bytes_before[direction & 1][(frames % length) % XDP_SCHEDULE];
}

static __always_inline void account_burst(__u32 port, __u32 sent, __u32 drops)
{
	__u32 direction = trial.tx[0] == port ? 0 : 1;
	struct xmit_progress *mine = &progress[direction];

	if (trial.directions <= direction)
		return;
	mine->taken_bytes += bytes_of(direction, mine->offered + sent) - bytes_of(direction, mine->offered);
	mine->offered += sent + drops + mine->away;
	mine->away = 0;
}

SEC("tp_btf/xdp_devmap_xmit")
int BPF_PROG(nfvgen_taken, const struct net_device *from, const struct net_device *to, int sent, int drops, int err)
{
	struct xmit_counts *mine;
	__u32 port = 0, ifindex = (__u32)to->ifindex;

	if (from->ifindex != LOOPBACK_IFINDEX)
		return 0;
	if (ifindex == config.ifindex[1])
		port = 1;
	else if (ifindex != config.ifindex[0])
		return 0;
	/* Interface numbers are counted again in every namespace. */
	if (to->nd_net.net->ns.inum != config.netns)
		return 0;
	mine = bpf_map_lookup_elem(&counts, &port);
	if (!mine)
		return 0;
	if (sent > 0)
		mine->taken += sent;
	if (drops > 0)
		mine->refused += drops;
	account_burst(port, sent > 0 ? sent : 0, drops > 0 ? drops : 0);
	if (err) {
		mine->error = err;
		mine->turned_away += drops > 0 ? drops : 0;
	}
	return 0;
}

/* A frame that does not even come to the port: it is down, its MTU too small, or a veth's peer takes none. */
SEC("tp_btf/xdp_redirect_err")
int BPF_PROG(nfvgen_turned_away, const struct net_device *from, const void *program, const void *to, int err,
	int map_type, __u32 map, __u32 index)
{
	struct xmit_counts *mine;
	__u32 port;

	if (map != trial.map[0] && map != trial.map[1])
		return 0;
	port = index ? trial.tx[1] : trial.tx[0];
	mine = bpf_map_lookup_elem(&counts, &port);
	if (!mine)
		return 0;
	mine->turned_away++;
	mine->error = err;
	progress[index ? 1 : 0].away++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
