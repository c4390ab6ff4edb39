/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* How a fresh frame becomes one of the trial: headers of a template, and the fields that differ from frame to frame. */
#ifndef NFVGEN_XDP_FRAME_BPF_H
#define NFVGEN_XDP_FRAME_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "xdp_shared.h"

const volatile struct gen_config config = {};
const volatile struct gen_template templates[XDP_DIRECTIONS * XDP_MIX] = {};
struct gen_bearer bearers[XDP_BEARERS] = {}; /* of trials with bearers, with the uplink's TEID */

static __always_inline __u16 fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)(sum + (sum >> 16));
}

/* 0 means "no checksum" in UDP. */
static __always_inline __u16 udp_final(__u64 sum)
{
	__u16 value = (__u16)~fold(sum);

	return value ? value : 0xffff;
}

static __always_inline void copy_headers(void *frame, const volatile struct gen_template *t)
{
#pragma unroll
	for (__u32 i = 0; i < XDP_HEADER_BYTES / 8; i++) {
		if (i * 8 + 8 > config.header_length)
			break;
		*(__u64 *)(frame + i * 8) = t->words[i];
	}
	*(__u64 *)(frame + config.header_length - 8) = t->last;
}

/* A number counted in three bytes. */
static __always_inline void write24(__u8 *to, __u32 value)
{
	to[0] = (__u8)(value >> 16);
	to[1] = (__u8)(value >> 8);
	to[2] = (__u8)value;
}

/* As frame_write_macs() of frame.h. The words hold the frame's first 16 bytes: destination, source, what follows. */
static __always_inline void write_macs(void *frame, const volatile struct gen_template *t, __u32 flow, __u32 macs)
{
	if (config.destinations_mask)
		*(__u8 *)(frame + XDP_DESTINATION) =
			(__u8)(t->words[0] >> 8 * XDP_DESTINATION) + (__u8)(flow & config.destinations_mask);
	if (macs & XDP_FLOW_DESTINATION_MAC)
		write24(frame + 3, (__u32)(bpf_be64_to_cpu(t->words[0]) >> 16) + flow);
	if (macs & XDP_FLOW_SOURCE_MAC)
		write24(frame + 9, (__u32)(bpf_be64_to_cpu(t->words[1]) >> 32) + flow);
}

/* What distinguishes flows, in a place of its own where the direction is that of replies. */
static __always_inline void write_flow(
	void *frame, const volatile struct gen_template *t, __u32 flow, __u16 address, __u16 port, __u32 direction)
{
	if (config.replies < XDP_DIRECTIONS && direction == config.replies) {
		*(__u16 *)(frame + config.reply_address) = address;
		*(__u16 *)(frame + config.reply_port) = port;
		write_macs(frame, t, flow, config.reply_macs);
		return;
	}
	*(__u16 *)(frame + config.address) = address;
	*(__u16 *)(frame + config.flow_port) = port;
	write_macs(frame, t, flow, config.flow_macs);
}

/* What goes into every frame. */
struct frame_mark {
	__u32 direction;
	__u32 flow;
	__u32 sequence;
	__u64 time;
};

/* As frame_write() of frame.h. */
static __always_inline void write_fields(
	void *frame, const volatile struct gen_template *t, const struct frame_mark *mark)
{
	__u16 address = bpf_htons((__u16)(t->address + mark->flow));
	__u16 port = bpf_htons(0xc000 + ((mark->flow + (mark->flow >> 16)) & 0x3fff));
	__u32 sequence_be = bpf_htonl(mark->sequence);
	__u64 time_be = bpf_cpu_to_be64(mark->time);
	__u64 sum = (__u64)t->udp_sum + address + port + sequence_be + (__u32)time_be + (time_be >> 32);

	write_flow(frame, t, mark->flow, address, port, mark->direction);
	*(__u16 *)(frame + config.udp_checksum) = udp_final(sum);
	*(__u32 *)(frame + config.sequence) = sequence_be;
	*(__u64 *)(frame + config.time) = time_be;
	if (config.ip_checksum)
		*(__u16 *)(frame + config.ip_checksum) = (__u16)~fold((__u64)t->ip_sum + address);
	if (config.outer_source_port) {
		sum = (__u64)t->outer_udp_sum + port + (config.ip_checksum ? (__u16)~address : 0);
		*(__u16 *)(frame + config.outer_source_port) = port;
		*(__u16 *)(frame + config.outer_udp_checksum) = udp_final(sum);
	}
}

/* Frames of bearers: Ethernet, in the uplink's tunnel IPv4, UDP and GTP-U, then IPv4, UDP and the payload's header. */
#define PLAIN_NETWORK 14
#define PLAIN_HEADERS 60

static __always_inline void copy_bearer_headers(void *frame, const volatile struct gen_template *t, __u32 length)
{
#pragma unroll
	for (__u32 i = 0; i < length / 8; i++)
		*(__u64 *)(frame + i * 8) = t->words[i];
	if (length % 8)
		*(__u64 *)(frame + length - 8) = t->last;
}

/* As frame_write() and frame_write_bearer() of frame.h. `tunnel`, a constant, is the bytes of the tunnel's headers. */
static __always_inline int write_bearer(
	struct xdp_md *ctx, const volatile struct gen_template *t, struct frame_mark mark, __u32 tunnel)
{
	void *frame = (void *)(long)ctx->data, *ip = frame + PLAIN_NETWORK + tunnel, *udp = ip + 20;
	const struct gen_bearer *bearer = &bearers[mark.flow % XDP_BEARERS];
	__u16 port = bpf_htons(0xc000 + (mark.flow & 0x3fff));
	__u32 sequence_be = bpf_htonl(mark.sequence), ue = bearer->ue, teid = bearer->teid;
	__u64 time_be = bpf_cpu_to_be64(mark.time);

	if (frame + PLAIN_HEADERS + tunnel > (void *)(long)ctx->data_end)
		return -1;
	copy_bearer_headers(frame, t, PLAIN_HEADERS + tunnel);
	*(__u16 *)(ip + 10) = (__u16)~fold((__u64)t->ip_sum + ue);
	*(__u32 *)(ip + (tunnel ? 12 : 16)) = ue;
	*(__u16 *)udp = port;
	*(__u16 *)(udp + 6) = udp_final((__u64)t->udp_sum + ue + port + sequence_be + (__u32)time_be + (time_be >> 32));
	*(__u32 *)(udp + 14) = sequence_be;
	*(__u64 *)(udp + 18) = time_be;
	if (tunnel) {
		*(__u16 *)(ip - 10) = udp_final((__u64)t->outer_udp_sum + teid + (__u32)~ue);
		*(__u32 *)(ip - 4) = teid;
	}
	return 0;
}

/* Frames are born in the tunnel where a direction is: the other's begin behind it, so that the patterns fit. */
static __always_inline int shape(struct xdp_md *ctx, __u32 length, int plain)
{
	__u32 born = config.longest;

	if (plain && config.uplink < XDP_DIRECTIONS) {
		if (bpf_xdp_adjust_head(ctx, XDP_GTPU_BYTES))
			return -1;
		born -= XDP_GTPU_BYTES;
	}
	return length < born && bpf_xdp_adjust_tail(ctx, (int)length - (int)born) ? -1 : 0;
}

#endif
