// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * The receiver, on both ports: counts and drops our frames, answers for our addresses, leaves the rest to the kernel.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "xdp_answer.bpf.h"
#include "xdp_bearer.bpf.h"
#include "xdp_checksum.bpf.h"
#include "xdp_expect.bpf.h"
#include "xdp_shared.h"

#define MAGIC 0x4e465647
#define PAYLOAD_BYTES 18
#define VXLAN_PORT 4789
#define VXLAN_BYTES 8
#define HISTOGRAM_LINEAR_BITS 11
#define HISTOGRAM_HALF 1024
#define HISTOGRAM_MAX_NS 60000000000ull

struct payload {
	__be32 magic;
	__be16 stream;
	__be32 sequence;
	__be64 time;
} __attribute__((packed));

/* Where the datagram next to the payload lies. */
struct datagram {
	__u32 addresses;
	__u32 udp;
};

struct sink_config config = {};
/*
 * Plain stores are enough: a queue is one CPU's at a time, and a number's place in the window that of the one CPU which
 * has its frame. Where flows are spread over queues frames pass each other between them; what is out of order is so
 * within its queue, so each queue has its next number (on a cache line of its own).
 * `window` holds the last sequence number + 1 that fell on each place, so nothing has to be cleared as it slides.
 */
__u32 next_sequence[XDP_PORTS][XDP_QUEUES][16] = {};
__u32 window[XDP_PORTS][XDP_WINDOW] = {};
struct sink_timeline timeline = {};
struct sink_gap gap[XDP_PORTS] = {};
__u32 received_bins[XDP_PORTS][XDP_BINS] = {};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XDP_PORTS);
	__type(key, __u32);
	__type(value, struct sink_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XDP_PORTS *XDP_ROWS);
	__type(key, __u32);
	__type(value, struct sink_row);
} latency SEC(".maps");

/* Ethernet, up to two tags: a switch may have added or taken one. Returns the offset after it, or 0. */
static __always_inline __u32 skip_ethernet(void *data, void *end, __u32 at, __be16 *type)
{
	struct ethhdr *ethernet = data + at;

	if ((void *)(ethernet + 1) > end)
		return 0;
	*type = ethernet->h_proto;
	at += sizeof(*ethernet);
#pragma unroll
	for (int i = 0; i < 2; i++) {
		__be16 *tag = data + at;

		if (*type != bpf_htons(ETH_P_8021Q) && *type != bpf_htons(ETH_P_8021AD))
			break;
		if ((void *)(tag + 2) > end)
			return 0;
		*type = tag[1];
		at += 4;
	}
	return at;
}

/* Returns the offset of the UDP header, or 0. */
static __always_inline __u32 skip_ip(void *data, void *end, __u32 at, __be16 type, struct datagram *found)
{
	if (type == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = data + at;

		if ((void *)(ip + 1) > end || ip->protocol != IPPROTO_UDP || ip->ihl != 5)
			return 0;
		found->addresses = at + 12;
		found->udp = at + sizeof(*ip);
	} else if (type == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = data + at;

		if ((void *)(ip + 1) > end || ip->nexthdr != IPPROTO_UDP)
			return 0;
		found->addresses = at + 8;
		found->udp = at + sizeof(*ip);
	} else {
		return 0;
	}
	return found->udp;
}

/* Finds our payload through whatever stack the frame has now. */
static __always_inline struct payload *find_payload(void *data, void *end, struct datagram *found)
{
	struct payload *payload;
	struct udphdr *udp;
	__u32 at = 0;
	__be16 type;

#pragma unroll
	for (int layer = 0; layer < 2; layer++) {
		at = skip_ethernet(data, end, at, &type);
		if (!at || !skip_ip(data, end, at, type, found))
			return NULL;
		udp = data + found->udp;
		if ((void *)(udp + 1) > end)
			return NULL;
		at = found->udp + sizeof(*udp);
		if (layer || udp->dest != bpf_htons(VXLAN_PORT))
			break;
		at += VXLAN_BYTES;
	}
	payload = data + at;
	if ((void *)(payload + 1) > end || payload->magic != bpf_htonl(MAGIC))
		return NULL;
	return payload;
}

static __always_inline int is_intact(struct xdp_md *ctx, void *data, void *end, const struct datagram *found)
{
	struct udphdr *udp = data + found->udp;
	__u32 length;
	__s64 sum;

	if ((void *)(udp + 1) > end)
		return 0;
	length = bpf_ntohs(udp->len);
	if (length < sizeof(*udp) + PAYLOAD_BYTES || found->udp + length > (__u32)(end - data))
		return 0;
	if (!config.check)
		return 1;
	/* The addresses of the pseudo header are just before the UDP header: one stretch. */
	sum = nfvgen_sum(ctx, found->addresses, length + found->udp - found->addresses);
	return sum >= 0 && checksum_fold((__u64)sum + bpf_htons(IPPROTO_UDP) + udp->len) == 0xffff;
}

/* As histogram_index() of histogram.h; BPF cannot count leading zeros. */
static __always_inline __u32 bucket_of(__u64 ns)
{
	__u32 shift = 1, rest;

	if (ns < 1u << HISTOGRAM_LINEAR_BITS)
		return (__u32)ns;
	if (ns > HISTOGRAM_MAX_NS)
		ns = HISTOGRAM_MAX_NS;
	rest = (__u32)(ns >> HISTOGRAM_LINEAR_BITS);
#pragma unroll
	for (int bits = 16; bits; bits /= 2) {
		if (rest >> bits) {
			rest >>= bits;
			shift += bits;
		}
	}
	return shift * HISTOGRAM_HALF + (__u32)(ns >> shift);
}

static __always_inline void count_latency(struct sink_counts *mine, __u32 port, __u64 sent_ns, __u64 now)
{
	__u64 ns = now > sent_ns ? now - sent_ns : 0;
	__u32 bucket = bucket_of(ns), key = port * XDP_ROWS + bucket / XDP_ROW;
	struct sink_row *row = bpf_map_lookup_elem(&latency, &key);

	mine->latency_count++;
	mine->latency_sum += ns;
	if (ns > mine->latency_max)
		mine->latency_max = ns;
	if (~ns > mine->latency_min_inverted)
		mine->latency_min_inverted = ~ns;
	if (row)
		row->counts[bucket % XDP_ROW]++;
}

/* Returns 0 for a sequence number that was seen before. */
static __always_inline int track(struct sink_counts *mine, __u32 port, __u32 queue, __u32 sequence)
{
	__u32 *next = &next_sequence[port & 1][queue % XDP_QUEUES][0];
	__u32 *seen = &window[port & 1][sequence % XDP_WINDOW];
	__s32 behind = (__s32)(*next - sequence);

	if (*seen == sequence + 1) {
		mine->duplicated++;
		return 0;
	}
	/* So far behind that its place belongs to a later one: nobody can tell whether it came before. */
	if (behind <= XDP_WINDOW)
		*seen = sequence + 1;
	if (behind > 0)
		mine->reordered++;
	else
		*next = sequence + 1;
	return 1;
}

/* One above the highest number of all queues. */
static __always_inline __u32 highest(__u32 port)
{
	__u32 found = 0;

#pragma unroll
	for (__u32 queue = 0; queue < XDP_QUEUES; queue++)
		if (next_sequence[port & 1][queue][0] > found)
			found = next_sequence[port & 1][queue][0];
	return found;
}

/* As timeline_received() of timeline.h. */
static __always_inline void note_time(__u32 port, __u64 sent_ns, __u64 now)
{
	struct sink_gap *mine = &gap[port & 1];
	__u64 at = sent_ns > timeline.start_ns ? (sent_ns - timeline.start_ns) / timeline.bin_ns : 0;
	__u32 missing;

	mine->received++;
	received_bins[port & 1][at % XDP_BINS]++;
	missing = highest(port) - mine->received;
	if (missing > mine->missing && now > mine->last_ns && now - mine->last_ns > mine->to_ns - mine->from_ns) {
		mine->from_ns = mine->last_ns;
		mine->to_ns = now;
	}
	mine->missing = missing;
	mine->last_ns = now;
}

/* A frame's length, queue and time of arrival. */
struct arrival {
	__u32 length;
	__u32 queue;
	__u64 now;
};

static __always_inline struct arrival arrival_of(const struct xdp_md *ctx, __u64 now)
{
	return (struct arrival){.length = ctx->data_end - ctx->data, .queue = ctx->rx_queue_index, .now = now};
}

static __always_inline void count_intact(
	struct sink_counts *mine, __u32 port, const struct expect_mark *mark, struct arrival at)
{
	if (!track(mine, port, at.queue, bpf_ntohl(mark->sequence)))
		return;
	mine->received++;
	mine->received_bytes += at.length + 4;
	if (mark->time) {
		count_latency(mine, port, bpf_be64_to_cpu(mark->time), at.now);
		if (timeline.bin_ns)
			note_time(port, bpf_be64_to_cpu(mark->time), at.now);
	}
}

static __always_inline void count_ours(struct xdp_md *ctx, struct sink_counts *mine, __u32 port,
	const struct datagram *found, const struct payload *payload)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 stream = bpf_ntohs(payload->stream), expected = config.stream[port & 1];
	struct expect_mark mark = {.sequence = payload->sequence, .time = payload->time};

	/* The stream of a damaged frame cannot be trusted: it belongs to the direction that ends here. */
	if (expected != XDP_NO_STREAM && !is_intact(ctx, data, end, found)) {
		mine->corrupted++;
		return;
	}
	if (stream != expected) {
		mine->foreign++;
		return;
	}
	count_intact(mine, port, &mark, arrival_of(ctx, mark.time ? bpf_ktime_get_ns() : 0));
}

/*
 * The clock is read before the frame is looked at: what the CPU waits for, the frame's cache line from the sender's
 * core, is then on its way while it reads the clock.
 */
static __always_inline int count_expected(struct xdp_md *ctx, struct sink_counts *mine, __u32 port)
{
	__u64 now = quick.stamp ? bpf_ktime_get_ns() : 0;
	struct expect_mark mark;

	if (config.stream[port & 1] == XDP_NO_STREAM || !is_expected(ctx, port, &mark))
		return 0;
	count_intact(mine, port, &mark, arrival_of(ctx, now));
	return 1;
}

/* Kept apart, so that the quick way is short. */
static __always_inline int look_closer(struct xdp_md *ctx, struct sink_counts *mine, __u32 port)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct datagram found = {};
	struct payload *payload = find_payload(data, end, &found);

	if (payload) {
		count_ours(ctx, mine, port, &found, payload);
		return XDP_DROP;
	}
	if (!is_own_learning(data, end, &config))
		mine->foreign++;
	return answer(ctx, &config, port);
}

SEC("xdp")
int nfvgen_sink(struct xdp_md *ctx)
{
	__u32 port = ctx->ingress_ifindex != config.ifindex[0];
	struct sink_counts *mine = bpf_map_lookup_elem(&counts, &port);

	if (!mine)
		return XDP_PASS;
	if (count_expected(ctx, mine, port))
		return XDP_DROP;
	return look_closer(ctx, mine, port);
}

/* The receiver of trials with bearers: a program of its own, so that the others' is as it would be without. */
SEC("xdp")
int nfvgen_sink_bearers(struct xdp_md *ctx)
{
	__u32 port = ctx->ingress_ifindex != config.ifindex[0];
	struct sink_counts *mine = bpf_map_lookup_elem(&counts, &port);
	struct expect_mark mark = {};
	struct arrival at;

	if (!mine)
		return XDP_PASS;
	switch (nfvgen_bearer(ctx, port, config.stream[port & 1], config.check, &mark)) {
	case BEARER_RIGHT:
		at = (struct arrival){.length = (__u32)bpf_xdp_get_buff_len(ctx),
			.queue = ctx->rx_queue_index,
			.now = mark.time ? bpf_ktime_get_ns() : 0};
		count_intact(mine, port, &mark, at);
		return XDP_DROP;
	case BEARER_WRONG:
		mine->corrupted++;
		return XDP_DROP;
	case BEARER_OTHER:
		mine->foreign++;
		return XDP_DROP;
	}
	if (!is_own_learning((void *)(long)ctx->data, (void *)(long)ctx->data_end, &config))
		mine->foreign++;
	return answer(ctx, &config, port);
}

char LICENSE[] SEC("license") = "GPL";
