/* SPDX-License-Identifier: Apache-2.0 */
/* What the gateway's programs, its loader and its poll loop share. Addresses and TEIDs are in network byte order. */
#ifndef NFVBED_GATEWAY_SHARED_H
#define NFVBED_GATEWAY_SHARED_H

#include <linux/types.h>

#define GATEWAY_BEARERS 4096
#define GATEWAY_PORTS 2

enum gateway_port { GATEWAY_S1U = 0, GATEWAY_SGI = 1 };

/* Of every port. A frame counts as received, and under exactly one of the others: where it went, or why not. */
enum gateway_count {
	GATEWAY_RECEIVED,
	GATEWAY_FORWARDED,    /* handed to the other port */
	GATEWAY_ARP,          /* answered, or learnt from */
	GATEWAY_ECHO,         /* GTP-U echo requests; answered */
	GATEWAY_FOREIGN,      /* to another station, or ARP that does not concern this one */
	GATEWAY_NOT_IPV4,     /* neither IPv4 nor ARP, or a tunnelled packet of another version */
	GATEWAY_NOT_GTPU,     /* at S1-U: other than GTP-U's user packets and echo requests to its address */
	GATEWAY_EXTENSION,    /* a GTP-U header with extension headers */
	GATEWAY_UNKNOWN_TEID, /* at S1-U: no bearer has it */
	GATEWAY_UNKNOWN_UE,   /* at SGi: no bearer has the destination */
	GATEWAY_WRONG_SOURCE, /* at S1-U: the source is not the bearer's UE */
	GATEWAY_TTL_EXPIRED,
	GATEWAY_MALFORMED,    /* lengths that cannot be, or a wrong header checksum */
	GATEWAY_FRAGMENTS,    /* at S1-U: fragments of tunnel packets */
	GATEWAY_TOO_BIG,      /* longer than the other port's MTU */
	GATEWAY_NO_NEIGHBOUR, /* the MAC address of the next hop is not known yet */
	GATEWAY_NOT_SENT,     /* the port, or the kernel, did not take it */
	GATEWAY_COUNTS
};

struct gateway_counts {
	unsigned long long count[GATEWAY_COUNTS];
};

/* One side of the gateway: its own address, and whom it sends to. */
struct gateway_side {
	__u32 address;
	__u32 neighbour;      /* the eNB; on SGi the next hop */
	__u32 mtu;            /* of the IPv4 packets that are sent */
	__u8 mac[6];          /* its own */
	__u8 neighbour_given; /* its MAC address is not to be learnt */
	__u8 reserved;
};

struct gateway_config {
	struct gateway_side side[GATEWAY_PORTS];
	__u32 no_outer_checksum; /* the outer UDP checksum is 0 */
};

/* A MAC address in the low six bytes, as it is in memory; 0: not known. One store changes it as a whole. */
typedef __u64 gateway_mac;

#endif
