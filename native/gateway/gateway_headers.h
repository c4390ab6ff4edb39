/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers of the gateway's frames, and their sums. GTP-U is 3GPP TS 29.281, version 1.
 *
 * This, gateway_read.h and gateway_write.h are shared by the XDP programs, the poll loop and the tests: every access is
 * checked against the frame's end in a form that the kernel's verifier follows. Little-endian machines, as all that
 * these ports exist on.
 */
#ifndef NFVBED_GATEWAY_HEADERS_H
#define NFVBED_GATEWAY_HEADERS_H

#include "gateway_shared.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sums and constants are for little-endian machines");

#define GATEWAY_SWAP16(value) ((__u16)__builtin_bswap16((__u16)(value)))

/* Else a compiler puts the checks of a loop before it, in a form that the verifier does not follow. */
#define GATEWAY_KEEP_CHECK(pointer) __asm__ volatile("" : "+r"(pointer))

#define GATEWAY_TYPE_IPV4 GATEWAY_SWAP16(0x0800)
#define GATEWAY_TYPE_ARP GATEWAY_SWAP16(0x0806)
#define GATEWAY_ARP_REQUEST GATEWAY_SWAP16(1)
#define GATEWAY_ARP_REPLY GATEWAY_SWAP16(2)
#define GATEWAY_UDP 17
#define GATEWAY_GTPU_PORT GATEWAY_SWAP16(2152)
#define GATEWAY_DONT_FRAGMENT GATEWAY_SWAP16(0x4000)
#define GATEWAY_FRAGMENT GATEWAY_SWAP16(0x3fff) /* more fragments, or an offset */
#define GATEWAY_TTL 64

#define GATEWAY_GTP_VERSION_MASK 0xf0
#define GATEWAY_GTP_VERSION 0x30  /* version 1, protocol type GTP */
#define GATEWAY_GTP_OPTIONAL 0x07 /* one of them, and four more bytes are there */
#define GATEWAY_GTP_EXTENSION 0x04
#define GATEWAY_GTP_SEQUENCE 0x02
#define GATEWAY_GTP_ECHO_REQUEST 1
#define GATEWAY_GTP_ECHO_RESPONSE 2
#define GATEWAY_GTP_PACKET 255
#define GATEWAY_GTP_RECOVERY 14 /* the information element of an echo response; its value is 0 in GTP-U */

#define GATEWAY_ETHERNET_BYTES 14
#define GATEWAY_IPV4_BYTES 20
#define GATEWAY_UDP_BYTES 8
#define GATEWAY_GTP_BYTES 8
#define GATEWAY_GTP_OPTIONAL_BYTES 4
#define GATEWAY_RECOVERY_BYTES 2
#define GATEWAY_TUNNEL_BYTES (GATEWAY_IPV4_BYTES + GATEWAY_UDP_BYTES + GATEWAY_GTP_BYTES)
#define GATEWAY_ARP_BYTES 28
#define GATEWAY_CHUNK_BYTES 64
#ifdef __bpf__
#define GATEWAY_MOST_CHUNKS 56 /* what fits into a page with XDP's headroom; the verifier follows each */
#else
#define GATEWAY_MOST_CHUNKS 256 /* 16 KiB, more than any frame */
#endif
#define GATEWAY_MOST_WORDS 15 /* of an IPv4 header */

/*
 * A header begins 14 bytes into a frame, or anywhere behind another one: compilers of a CPU are told that it need not
 * be at a multiple of four. The kernel's verifier knows by itself; told, the compiler would read byte by byte there.
 */
#ifdef __bpf__
#define GATEWAY_ANYWHERE
#else
#define GATEWAY_ANYWHERE __attribute__((packed, aligned(1)))
#endif

/* For sums over what is written and read as something else. */
#ifdef __bpf__
typedef __u32 __attribute__((may_alias)) gateway_word;
typedef __u16 __attribute__((may_alias)) gateway_half;
#else
typedef __u32 __attribute__((may_alias, aligned(1))) gateway_word;
typedef __u16 __attribute__((may_alias, aligned(1))) gateway_half;
#endif

struct gateway_ethernet {
	__u8 destination[6];
	__u8 source[6];
	__u16 type;
} GATEWAY_ANYWHERE;

struct gateway_ipv4 {
	__u8 version_words;
	__u8 service;
	__u16 length;
	__u16 identification;
	__u16 fragment;
	__u8 ttl;
	__u8 protocol;
	__u16 checksum;
	__u32 source;
	__u32 destination;
} GATEWAY_ANYWHERE;

struct gateway_udp {
	__u16 source;
	__u16 destination;
	__u16 length;
	__u16 checksum;
} GATEWAY_ANYWHERE;

struct gateway_gtp {
	__u8 flags;
	__u8 type;
	__u16 length;
	__u32 teid;
} GATEWAY_ANYWHERE;

struct gateway_gtp_optional {
	__u16 sequence;
	__u8 n_pdu;
	__u8 next_extension;
} GATEWAY_ANYWHERE;

/* Addresses are in halves: whole ones would not be at multiples of their size. */
struct gateway_arp {
	__u16 hardware;
	__u16 protocol;
	__u16 sizes;
	__u16 operation;
	__u8 sender_mac[6];
	gateway_half sender[2];
	__u8 target_mac[6];
	gateway_half target[2];
} GATEWAY_ANYWHERE;

static __always_inline __u16 gateway_fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)sum;
}

/* Adds up a frame's bytes to its end, as the Internet checksum does (RFC 1071); `at` is at a whole word. */
static __always_inline __u64 gateway_sum(const void *at, const void *end, __u64 sum)
{
	for (int i = 0; i < GATEWAY_MOST_CHUNKS; i++) {
		const gateway_word *word;
		__u64 even = 0, odd = 0;

		GATEWAY_KEEP_CHECK(at);
		if (at + GATEWAY_CHUNK_BYTES > end)
			break;
		word = at;
#pragma GCC unroll 8
		for (int pair = 0; pair < GATEWAY_CHUNK_BYTES / 8; pair++) {
			even += word[2 * pair];
			odd += word[2 * pair + 1];
		}
		sum += even + odd;
		at += GATEWAY_CHUNK_BYTES;
	}
	for (int i = 0; i < GATEWAY_CHUNK_BYTES / 4 - 1; i++) {
		GATEWAY_KEEP_CHECK(at);
		if (at + 4 > end)
			break;
		sum += *(const gateway_word *)at;
		at += 4;
	}
	if (at + 2 <= end) {
		sum += *(const gateway_half *)at;
		at += 2;
	}
	if (at + 1 <= end)
		sum += *(const __u8 *)at;
	return sum;
}

static __always_inline int gateway_same_mac(const __u8 *seen, const volatile __u8 *own)
{
	int same = 1;

#pragma GCC unroll 6
	for (int i = 0; i < 6; i++)
		same &= seen[i] == own[i];
	return same;
}

static __always_inline void gateway_put_mac(__u8 *to, const volatile __u8 *from)
{
#pragma GCC unroll 6
	for (int i = 0; i < 6; i++)
		to[i] = from[i];
}

static __always_inline gateway_mac gateway_mac_of(const __u8 *mac)
{
	gateway_mac found = 0;

	__builtin_memcpy(&found, mac, 6);
	return found;
}

static __always_inline __u32 gateway_address(const gateway_half *halves)
{
	return halves[0] | (__u32)halves[1] << 16;
}

static __always_inline void gateway_put_address(gateway_half *halves, __u32 address)
{
	halves[0] = (__u16)address;
	halves[1] = (__u16)(address >> 16);
}

#endif
