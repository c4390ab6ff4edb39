/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the XDP programs and the engine that loads them agree on. Every value is in host order unless it says so. */
#ifndef NFVGEN_XDP_SHARED_H
#define NFVGEN_XDP_SHARED_H

#include <linux/types.h>

#define XDP_PORTS 2
#define XDP_DIRECTIONS 2
#define XDP_MIX 16
/* VLAN, IPv6, VXLAN, IPv6 and the payload's header are 154 bytes. */
#define XDP_HEADER_BYTES 160
#define XDP_DESTINATION 5 /* the byte of the frame that distinguishes several destination addresses */
#define XDP_FLOW_SOURCE_MAC 1
#define XDP_FLOW_DESTINATION_MAC 2
#define XDP_SCHEDULE 16384 /* one turn through a mix: 16 sizes of weight 1,000; a power of two, as it is a mask */
#define XDP_WINDOW 65536
/* The histogram's 27,648 buckets lie in rows: one value of a per-CPU map is at most 32 KiB. */
#define XDP_ROW 1024
#define XDP_ROWS 27
#define XDP_LATE_NS 100000ull
#define XDP_SENT_ON 256 /* after a gap, of a direction */
#define XDP_QUEUES 8    /* whose frames have an order of their own; a power of two */
#define XDP_NO_STREAM 0x10000u
/* The longest headers that have a quick check: VLAN, IPv6 and the payload's header are 84 bytes. */
#define XDP_EXPECT_WORDS 11
#define XDP_BINS 131072  /* of a timeline; a power of two */
#define XDP_BEARERS 4096 /* a power of two */
#define XDP_GTPU_BYTES 36
#define XDP_LENGTHS 4096 /* a power of two above the longest live frame */

/* One size of one direction: the headers to write and the sums that the changing fields are added to. */
struct gen_template {
	__u64 words[XDP_HEADER_BYTES / 8];
	__u64 last; /* the last eight bytes of the headers: they need not end on a multiple of eight */
	__u32 udp_sum;
	__u32 outer_udp_sum;
	__u32 ip_sum;
	__u16 address;
	__u16 length; /* in memory */
};

/* All fields big-endian. */
struct gen_bearer {
	__u32 ue;
	__u32 teid;
};

/*
 * Constant while a program is loaded, so the verifier removes what a trial does not use.
 * Offsets are those of struct frame_layout.
 */
struct gen_config {
	__u64 duration_ns;
	__u64 frames;        /* per direction at maximum load; 0: no bound */
	__u64 interval_ns;   /* between the slots of all directions: whole part */
	__u64 interval_rest; /* and rest, in 1 / slots_per_s ns */
	__u64 slots_per_s;   /* 0: as fast as it goes */
	__u64 then_ns;       /* after so long at another pace; 0: never */
	__u64 then_interval_ns;
	__u64 then_interval_rest;
	__u64 then_slots_per_s;
	__u64 gap_ns;   /* a turn that takes longer was kept from its core, */
	__u64 batch_ns; /* but for the time of the frames that the kernel hands over together */
	__u64 bin_ns;   /* of the timeline; 0: none, and the trial begins with its first turn */
	__u32 bins;
	__u32 directions; /* that this program sends */
	__u32 first;      /* the only one, where it is one */
	__u32 appointed;  /* it begins at a time that it is given, as another one sends beside it */
	__u32 flows;
	__u32 destinations_mask; /* destination addresses, a power of two, - 1 */
	__u32 flow_macs;         /* which MAC addresses move with the flow */
	__u32 stamp;
	__u32 sizes;
	__u32 schedule_length;
	__u32 longest; /* the length with which every frame is born */
	__u32 uplink;  /* with bearers: the direction that is in tunnels; XDP_DIRECTIONS: none */
	__u32 replies; /* the direction whose flows differ on the other side; XDP_DIRECTIONS: none */
	__u32 reply_address;
	__u32 reply_port;
	__u32 reply_macs;
	__u32 header_length;
	__u32 address;
	__u32 ip_checksum;
	__u32 flow_port;
	__u32 udp_checksum;
	__u32 outer_source_port;
	__u32 outer_udp_checksum;
	__u32 sequence;
	__u32 time;
};

/* What one direction has done. `unsent` counts the slots that were missed, not what the port refused. */
struct gen_direction {
	__u64 generated;
	__u64 unsent;
	__u32 flow;
	__u32 slot; /* in the schedule of sizes */
};

struct gen_state {
	__u64 start_ns;
	__u64 last_ns;
	__u64 due_ns;
	__u64 due_rest;
	__u64 waited_ns;
	__u64 gaps;
	__u64 gaps_ns; /* all of them together */
	__u64 gap_longest_ns;
	__u32 waiting;
	__u32 turn; /* the direction of the next slot */
	__u32 done;
	__u32 iterations;
	__u32 after_gap;
	__u32 second; /* the pace has changed */
	struct gen_direction direction[XDP_DIRECTIONS];
};

/* What the ports took, reported by the kernel for every burst. */
struct xmit_config {
	__u32 netns; /* inode */
	__u32 ifindex[XDP_PORTS];
};

/* The map that a trial redirects by, and the lengths of its frames; constant during a trial. */
struct xmit_trial {
	__u32 map[XDP_DIRECTIONS]; /* its number; that of another sender, for its direction */
	__u32 directions;          /* entries of it */
	__u32 tx[XDP_DIRECTIONS];  /* the port of each of its entries */
	__u32 schedule_length;
	__u32 turn_bytes[XDP_DIRECTIONS];                 /* of one turn through the mix */
	__u32 bytes_before[XDP_DIRECTIONS][XDP_SCHEDULE]; /* of the frames of a turn that come before each of it */
};

/*
 * How far a direction's frames have come. The kernel offers them to the port in their order, and of a burst drops the
 * last ones: so the sizes of those that were taken are known.
 */
struct xmit_progress {
	__u64 offered;
	__u64 away; /* turned away before they were offered, since the last burst */
	__u64 taken_bytes;
};

struct xmit_counts {
	__u64 taken;
	__u64 refused;
	__u64 turned_away; /* with an error: of the refused, and those that the kernel did not even offer to the port */
	__s64 error;       /* the last one */
};

struct sink_config {
	__u32 ifindex[XDP_PORTS];
	__u32 stream[XDP_PORTS]; /* what is expected on the port; XDP_NO_STREAM: nothing */
	__u32 check;
	__u32 ipv4[XDP_PORTS];    /* big-endian */
	__u32 ipv6[XDP_PORTS][4]; /* big-endian */
	__u8 mac[XDP_PORTS][8];   /* six are used */
};

/* What a gateway made of frames of bearers is known by. All addresses and TEIDs big-endian. */
struct sink_bearers {
	__u32 count; /* 0: the trial has none */
	__u32 enb;
	__u32 sgw;
	__u32 server;
	struct gen_bearer bearer[XDP_BEARERS]; /* with the downlink's TEID */
};

/*
 * A frame that nobody rewrote on its way. The words cover the headers up to the end of the payload's header; the last
 * one overlaps the one before where they do not end on a multiple of eight.
 */
struct sink_expect {
	__u64 words[XDP_EXPECT_WORDS];
	__u64 mask[XDP_EXPECT_WORDS]; /* 0 where frames differ from each other */
	__u32 udp_sum;                /* without the fields that the check reads from the frame */
	__u32 rest_sum;               /* of what follows the headers, folded; 0 is reported as 0xffff */
};

/* What is expected on every port, for each size of the mix. */
struct sink_quick {
	__u32 head; /* bytes of headers; 0: this trial has no quick check */
	__u32 stamp;
	__u32 check;
	__u8 size_of[XDP_LENGTHS]; /* the index of a length in memory, + 1 */
	struct sink_expect expect[XDP_PORTS][XDP_MIX];
};

/* What a timeline goes by; constant during a trial but for `start_ns`, which is that of the first frame. */
struct sink_timeline {
	__u64 bin_ns; /* 0: none */
	__u64 start_ns;
};

/* The longest time in which nothing came although frames were missing. Times are of the system's clock. */
struct sink_gap {
	__u64 last_ns; /* when a frame came last; 0: none did */
	__u64 from_ns;
	__u64 to_ns;
	__u32 received;
	__u32 missing; /* numbers that were skipped until then */
};

struct sink_row {
	__u64 counts[XDP_ROW];
};

/* One CPU's share of what a port received. */
struct sink_counts {
	__u64 received; /* distinct */
	__u64 received_bytes;
	__u64 reordered;
	__u64 duplicated;
	__u64 corrupted;
	__u64 foreign;
	__u64 latency_count;
	__u64 latency_sum;
	__u64 latency_max;
	__u64 latency_min_inverted; /* ~min: a fresh counter is 0 */
};

#endif
