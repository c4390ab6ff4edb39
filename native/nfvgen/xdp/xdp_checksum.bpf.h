/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The Internet checksum (RFC 1071) over a part of a received frame, in a way that the verifier takes. */
#ifndef NFVGEN_XDP_CHECKSUM_BPF_H
#define NFVGEN_XDP_CHECKSUM_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

static __always_inline __u16 checksum_fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)(sum + (sum >> 16));
}

/* One's complement has two zeros; they are the same sum. */
static __always_inline __u16 checksum_proper(__u16 sum)
{
	return sum ? sum : 0xffff;
}

/* 0 means "no checksum" in UDP. */
static __always_inline __u16 checksum_udp(__u64 sum)
{
	return checksum_proper((__u16)~checksum_fold(sum));
}

/* The barrier keeps the compiler from comparing p with end - bytes, which the verifier does not allow. */
static __always_inline int holds(void *p, __u32 bytes, void *end)
{
	void *behind = p + bytes;

	barrier_var(behind);
	return behind <= end;
}

/*
 * The next `bytes` (a constant) of the frame, or NULL. The mask bounds the offset in a way that does not depend on what
 * came before, so the verifier looks at every stretch once and not once for every way to it.
 */
static __always_inline void *stretch(void *data, void *end, __u32 *at, __u32 bytes)
{
	void *p = data + (*at & 0xfff);

	/* Or the compiler computes it twice, and the verifier takes the two for different pointers. */
	barrier_var(p);
	*at += bytes;
	return holds(p, bytes, end) ? p : NULL;
}

static __always_inline __u64 sum_words(const __u32 *p, __u32 words)
{
	__u64 sum = 0;

#pragma unroll
	for (__u32 i = 0; i < words; i++)
		sum += p[i];
	return sum;
}

/* What is left below 64 bytes. */
static __always_inline __s64 sum_rest(void *data, void *end, __u32 at, __u32 length)
{
	__u64 sum = 0;
	void *p;

#define SUM_STRETCH(bytes, value)                                                                                      \
	do {                                                                                                           \
		if (length & (bytes)) {                                                                                \
			p = stretch(data, end, &at, bytes);                                                            \
			if (!p)                                                                                        \
				return -1;                                                                             \
			sum += (value);                                                                                \
		}                                                                                                      \
	} while (0)
	SUM_STRETCH(32, sum_words(p, 8));
	SUM_STRETCH(16, sum_words(p, 4));
	SUM_STRETCH(8, sum_words(p, 2));
	SUM_STRETCH(4, *(__u32 *)p);
	SUM_STRETCH(2, *(__u16 *)p);
	SUM_STRETCH(1, bpf_htons((__u16)(*(__u8 *)p << 8)));
#undef SUM_STRETCH
	return (__s64)sum;
}

/*
 * The one's complement sum over `length` bytes from `at` on; negative where the frame ends before.
 * A global function: verified by itself, not again for every header stack that leads here.
 */
__attribute__((noinline)) __s64 nfvgen_sum(struct xdp_md *ctx, __u32 at, __u32 length)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end, *p;
	__u64 sum = 0;
	__s64 rest;

	/* The helper sums long stretches with the CPU's widest adds, but is not worth a call for short ones. */
	for (int i = 0; i < 16 && length >= 256; i++, length -= 256) {
		p = stretch(data, end, &at, 256);
		if (!p)
			return -1;
		sum += bpf_csum_diff(NULL, 0, p, 256, 0) & 0xffffffff;
	}
	for (int i = 0; i < 4 && length >= 64; i++, length -= 64) {
		p = stretch(data, end, &at, 64);
		if (!p)
			return -1;
		sum += sum_words(p, 16);
	}
	rest = sum_rest(data, end, at, length);
	return rest < 0 ? rest : (__s64)sum + rest;
}

#endif
