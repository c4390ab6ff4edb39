// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/* A gateway of the user plane: one program for each of its ports. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "gateway_write.h"

const volatile struct gateway_config config = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GATEWAY_BEARERS);
	__type(key, __u32);   /* the TEID of frames from the eNB */
	__type(value, __u32); /* the UE's address */
} uplink SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GATEWAY_BEARERS);
	__type(key, __u32);   /* the UE's address */
	__type(value, __u32); /* the TEID of frames to the eNB */
} downlink SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GATEWAY_PORTS);
	__type(key, __u32);
	__type(value, gateway_mac);
} neighbours SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GATEWAY_PORTS);
	__type(key, __u32);
	__type(value, struct gateway_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, GATEWAY_PORTS);
	__type(key, __u32);
	__type(value, __u32);
} ports SEC(".maps");

/* Makes the frame end `length` bytes behind its start. Returns 0 or -errno. */
static __always_inline int set_length(struct xdp_md *ctx, __u32 length)
{
	int more = (int)length - (int)(ctx->data_end - ctx->data);

	return more ? bpf_xdp_adjust_tail(ctx, more) : 0;
}

static __always_inline gateway_mac neighbour_at(__u32 port)
{
	gateway_mac *mac = bpf_map_lookup_elem(&neighbours, &port);

	return mac ? *mac : 0;
}

/* Not XDP_TX: a veth keeps that back where its other end has no XDP program. */
static __always_inline int send_at(__u32 port, struct gateway_seen *seen)
{
	int verdict = bpf_redirect_map(&ports, port, XDP_ABORTED);

	if (verdict != XDP_REDIRECT)
		seen->count = GATEWAY_NOT_SENT;
	return verdict;
}

static __always_inline int answer_echo(struct xdp_md *ctx, struct gateway_seen *seen)
{
	if (set_length(ctx, gateway_echo_bytes(seen)) ||
		gateway_write_echo(
			&config.side[GATEWAY_S1U], seen, (void *)(long)ctx->data, (void *)(long)ctx->data_end)) {
		seen->count = GATEWAY_NOT_SENT;
		return XDP_ABORTED;
	}
	return send_at(GATEWAY_S1U, seen);
}

static __always_inline int pass_up(struct xdp_md *ctx, struct gateway_seen *seen)
{
	__u32 *ue = bpf_map_lookup_elem(&uplink, &seen->key);
	gateway_mac next = neighbour_at(GATEWAY_SGI);

	if (!ue)
		seen->count = GATEWAY_UNKNOWN_TEID;
	else if (*ue != seen->source)
		seen->count = GATEWAY_WRONG_SOURCE;
	else
		seen->count = gateway_admit(&config.side[GATEWAY_SGI], next, seen, 0);
	if (seen->count != GATEWAY_FORWARDED)
		return XDP_DROP;
	if (bpf_xdp_adjust_head(ctx, (int)seen->inner_at - GATEWAY_ETHERNET_BYTES) ||
		set_length(ctx, GATEWAY_ETHERNET_BYTES + seen->inner_length) ||
		gateway_write_uplink(&config, next, (void *)(long)ctx->data, (void *)(long)ctx->data_end)) {
		seen->count = GATEWAY_NOT_SENT;
		return XDP_ABORTED;
	}
	return send_at(GATEWAY_SGI, seen);
}

static __always_inline int pass_down(struct xdp_md *ctx, struct gateway_seen *seen)
{
	__u32 *teid = bpf_map_lookup_elem(&downlink, &seen->key);
	gateway_mac next = neighbour_at(GATEWAY_S1U);

	if (!teid)
		seen->count = GATEWAY_UNKNOWN_UE;
	else
		seen->count = gateway_admit(&config.side[GATEWAY_S1U], next, seen, GATEWAY_TUNNEL_BYTES);
	if (!teid || seen->count != GATEWAY_FORWARDED)
		return XDP_DROP;
	if (set_length(ctx, GATEWAY_ETHERNET_BYTES + seen->inner_length) ||
		bpf_xdp_adjust_head(ctx, -GATEWAY_TUNNEL_BYTES) ||
		gateway_write_downlink(&config, next, *teid, (void *)(long)ctx->data, (void *)(long)ctx->data_end)) {
		seen->count = GATEWAY_NOT_SENT;
		return XDP_ABORTED;
	}
	return send_at(GATEWAY_S1U, seen);
}

/* Counts a frame, and keeps what was learnt of it. */
static __always_inline void note(__u32 port, struct gateway_seen *seen)
{
	struct gateway_counts *mine = bpf_map_lookup_elem(&counts, &port);

	if (seen->learnt)
		bpf_map_update_elem(&neighbours, &port, &seen->learnt, BPF_ANY);
	if (mine && seen->count < GATEWAY_COUNTS) {
		mine->count[GATEWAY_RECEIVED]++;
		mine->count[seen->count]++;
	}
}

SEC("xdp")
int nfvbed_s1u(struct xdp_md *ctx)
{
	struct gateway_seen seen = {};
	int step = gateway_look_s1u(
		&config.side[GATEWAY_S1U], (void *)(long)ctx->data, (void *)(long)ctx->data_end, &seen);
	int verdict = XDP_DROP;

	if (step == GATEWAY_PASS_ON)
		verdict = pass_up(ctx, &seen);
	else if (step == GATEWAY_SEND_ECHO)
		verdict = answer_echo(ctx, &seen);
	else if (step == GATEWAY_SEND_BACK)
		verdict = send_at(GATEWAY_S1U, &seen);
	note(GATEWAY_S1U, &seen);
	return verdict;
}

SEC("xdp")
int nfvbed_sgi(struct xdp_md *ctx)
{
	struct gateway_seen seen = {};
	int step = gateway_look_sgi(
		&config.side[GATEWAY_SGI], (void *)(long)ctx->data, (void *)(long)ctx->data_end, &seen);
	int verdict = XDP_DROP;

	if (step == GATEWAY_PASS_ON)
		verdict = pass_down(ctx, &seen);
	else if (step == GATEWAY_SEND_BACK)
		verdict = send_at(GATEWAY_SGI, &seen);
	note(GATEWAY_SGI, &seen);
	return verdict;
}

char LICENSE[] SEC("license") = "GPL";
