/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The quick check of a frame that nobody rewrote on its way: every byte of its headers but those that differ from frame
 * to frame must be the template's, and those must fit each other by the UDP checksum. It accepts nothing that the
 * parser and the sum over the datagram would not accept, and costs a fraction. A frame that is not as expected may
 * still be ours (addresses swapped, a tag added): it is parsed then.
 */
#ifndef NFVGEN_XDP_EXPECT_BPF_H
#define NFVGEN_XDP_EXPECT_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "xdp_checksum.bpf.h"
#include "xdp_shared.h"

/* What the headers end with, as seen from their end: the UDP header and the payload's. See set_quick() of expect.c. */
#define EXPECT_TIME 8
#define EXPECT_SEQUENCE 12
#define EXPECT_UDP_CHECKSUM 20
#define EXPECT_PORTS 26 /* the source's, then the destination's */
/* The last two bytes of the source's address, and how many bytes behind them are those of the destination's. */
#define EXPECT_ADDRESS_IPV4 32
#define EXPECT_BETWEEN_IPV4 4
#define EXPECT_ADDRESS_IPV6 44
#define EXPECT_BETWEEN_IPV6 16

struct sink_quick quick = {};

/* As they lie in the frame: big-endian. */
struct expect_mark {
	__u32 sequence;
	__u64 time;
};

/* The bytes of a frame that differ from the template where the mask is set. `head` is a constant. */
static __always_inline __u64 expect_differs(const void *frame, const struct sink_expect *e, __u32 head)
{
	__u64 wrong = 0;

#pragma unroll
	for (__u32 i = 0; i < head / 8; i++)
		wrong |= (*(const __u64 *)(frame + i * 8) ^ e->words[i]) & e->mask[i];
	if (head % 8)
		wrong |= (*(const __u64 *)(frame + head - 8) ^ e->words[head / 8]) & e->mask[head / 8];
	return wrong;
}

/*
 * Do the fields that differ from frame to frame fit the checksum? Flows differ on one of both sides; the other one's
 * address and port, which the mask has compared, are read too, so that there is nothing to choose.
 */
static __always_inline int expect_sum_fits(
	const void *behind, const struct sink_expect *e, __u32 address, __u32 between, const struct expect_mark *mark)
{
	__u64 sum = (__u64)e->udp_sum + *(const __u16 *)(behind - address) +
		    *(const __u16 *)(behind - address + between) + *(const __u16 *)(behind - EXPECT_PORTS) +
		    *(const __u16 *)(behind - EXPECT_PORTS + 2) + mark->sequence + (__u32)mark->time +
		    (mark->time >> 32);

	return checksum_udp(sum) == *(const __u16 *)(behind - EXPECT_UDP_CHECKSUM);
}

static __always_inline int expect_head(const struct xdp_md *ctx, const struct sink_expect *e, __u32 head, __u32 address,
	__u32 between, struct expect_mark *mark)
{
	const void *frame = (const void *)(long)ctx->data, *end = (const void *)(long)ctx->data_end;
	const void *behind = frame + head;

	if (behind > end || expect_differs(frame, e, head))
		return 0;
	mark->sequence = *(const __u32 *)(behind - EXPECT_SEQUENCE);
	mark->time = *(const __u64 *)(behind - EXPECT_TIME);
	return !quick.check || expect_sum_fits(behind, e, address, between, mark);
}

/* The header stacks by their length; VXLAN, whose outer headers differ too, has none. */
static __always_inline int expect_headers(
	const struct xdp_md *ctx, const struct sink_expect *e, __u32 head, struct expect_mark *mark)
{
	switch (head) {
	case 60:
		return expect_head(ctx, e, 60, EXPECT_ADDRESS_IPV4, EXPECT_BETWEEN_IPV4, mark);
	case 64:
		return expect_head(ctx, e, 64, EXPECT_ADDRESS_IPV4, EXPECT_BETWEEN_IPV4, mark);
	case 80:
		return expect_head(ctx, e, 80, EXPECT_ADDRESS_IPV6, EXPECT_BETWEEN_IPV6, mark);
	case 84:
		return expect_head(ctx, e, 84, EXPECT_ADDRESS_IPV6, EXPECT_BETWEEN_IPV6, mark);
	default:
		return 0;
	}
}

static __always_inline int is_expected(struct xdp_md *ctx, __u32 port, struct expect_mark *mark)
{
	__u32 length = (__u32)((void *)(long)ctx->data_end - (void *)(long)ctx->data), head = quick.head;
	__u32 size = quick.size_of[length % XDP_LENGTHS];
	const struct sink_expect *e = &quick.expect[port & 1][(size - 1) % XDP_MIX];
	__s64 rest;

	if (!size || !expect_headers(ctx, e, head, mark))
		return 0;
	if (length == head || !quick.check)
		return 1;
	rest = nfvgen_sum(ctx, head, length - head);
	return rest >= 0 && checksum_proper(checksum_fold((__u64)rest)) == e->rest_sum;
}

#endif
