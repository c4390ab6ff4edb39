/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine offers, and what the rest of nfvgen gives it: declared values go in, counts come out. */
#ifndef NFVGEN_ENGINE_H
#define NFVGEN_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"
#include "histogram.h"

#define NFVGEN_PORTS 2
#define NFVGEN_DIRECTIONS 2
#define NFVGEN_MIX 16
#define NFVGEN_QUEUES 16 /* of a port */
#define NFVGEN_CORES 16
#define NFVGEN_MAX_FLOWS 1000000u
/* A frame later than this is not sent: a generator that catches up sends bursts that were never asked for. */
#define NFVGEN_LATE_NS 100000ull
/*
 * A round of the sending loop that takes longer than this, and than its frames explain, has a gap, as long as they do
 * not explain: the thread was kept from its core. After one at most so many frames of a direction, those that are not
 * late yet, are sent on: a ring of the system under test holds them.
 */
#define NFVGEN_GAP_NS 20000ull
#define NFVGEN_FRAME_NS 200ull /* of a frame in a round; few take longer */
#define NFVGEN_SENT_ON 256

/* The command line, parsed. Strings belong to argv. */
struct engine_options {
	const char *ports[NFVGEN_PORTS];
	int cores[NFVGEN_CORES]; /* the first is of the thread that runs the trials */
	unsigned core_count;
	unsigned queues; /* that frames are sent on, of either port; shared out to the cores in turn */
	int sink_core;   /* -1: leave it */
	unsigned memory_mib;
	unsigned burst;
	unsigned queue_size;
	unsigned mbufs;
	bool yield;
	const char *file_prefix;
	const char *hugepage_dir;
	bool no_huge;       /* ordinary memory, which vhost-user and memif cannot share */
	const char *socket; /* (added later) its folder is the only place where an engine may write files */
};

struct port_info {
	char name[64];
	char driver[32];
	uint8_t mac[6];
	bool link_up;
	uint32_t speed_mbps; /* 0: not known */
};

struct engine_info {
	char version[64];
	unsigned core_count; /* that count received frames; 0: the kernel does, on whichever */
	uint16_t min_frame_size_bytes;
	uint16_t max_frame_size_bytes;
	uint64_t tsc_hz;
	int thread_ids[NFVGEN_CORES]; /* of the threads on the cores of engine_options */
	const char *clock;            /* "tsc" or "monotonic" */
	struct port_info ports[NFVGEN_PORTS];
};

struct frame_mix {
	unsigned count;
	uint16_t size_bytes[NFVGEN_MIX]; /* with FCS */
	uint16_t weight[NFVGEN_MIX];
};

struct direction {
	uint8_t tx;
	uint8_t rx;
};

/* One trial as asked for, already checked against engine_info. */
struct trial {
	uint64_t duration_ns;
	uint64_t frames;           /* per direction; 0: no bound */
	uint64_t rate_pps;         /* per direction; 0: maximum */
	uint64_t then_rate_pps;    /* per direction, in a second stretch of the trial; 0: there is none */
	uint64_t then_duration_ns; /* of it */
	uint64_t timeline_ns;      /* width of the bins (timeline.h); 0: none */
	uint64_t drain_ns;
	unsigned directions;
	struct direction direction[NFVGEN_DIRECTIONS];
	struct frame_mix mix;
	uint32_t flows;
	struct frame_stack stack; /* its bearers are freed by trial_free() */
	struct frame_endpoint endpoint[NFVGEN_PORTS];
	uint8_t destination_mac[NFVGEN_PORTS][6];
	uint8_t destination_mac_count; /* of either port, in turn by flow: a power of two */
	uint8_t flow_macs;             /* enum frame_flow_macs */
	bool mirrored;                 /* frames of port 1 are the replies to those of port 0, flow by flow */
	unsigned learning_frames;
	bool check;
	bool stamp;
};

/* The stack of what a port sends. */
static inline struct frame_stack trial_stack(const struct trial *trial, unsigned tx)
{
	struct frame_stack stack = trial->stack;

	stack.uplink = stack.bearers && tx == 0;
	stack.replies = trial->mirrored && tx == 1;
	return stack;
}

/* The MAC addresses that move with the flow in what a port sends: in replies those of the other side. */
static inline uint8_t trial_flow_macs(const struct trial *trial, unsigned tx)
{
	const uint8_t macs = trial->flow_macs;

	if (!trial->mirrored || tx == 0)
		return macs;
	return (uint8_t)((macs & FLOW_SOURCE_MAC ? FLOW_DESTINATION_MAC : 0) |
			 (macs & FLOW_DESTINATION_MAC ? FLOW_SOURCE_MAC : 0));
}

/* bearers.c: idempotent; the trial must not be running. */
void trial_free(struct trial *trial);

/* Counts of one direction; the engine alone writes them, others may read them while it runs. */
struct direction_counts {
	uint64_t intended;
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t unsent;
	uint64_t late; /* of the unsent: the port took all that it was offered, the sender came too late */
	uint64_t refused;
	uint64_t received;         /* distinct frames */
	uint64_t received_in_time; /* of them, until the last one was sent; the others came in the drain */
	uint64_t received_bytes;
	uint64_t reordered;
	uint64_t duplicated;
	uint64_t corrupted;
	struct histogram latency; /* ns */
};

/* The same of the frames that one queue of a direction's port sent; the direction's are the sums. */
struct queue_counts {
	uint64_t sent;
	uint64_t unsent;
	uint64_t late;
	uint64_t refused;
	uint64_t received;
	uint64_t reordered;
	uint64_t duplicated;
	uint64_t corrupted; /* received on it: what such a frame says of itself is not believed */
};

struct trial_counts {
	uint64_t duration_ns;
	uint64_t busy_ns; /* of the core that was busy longest, without gaps */
	uint64_t gaps; /* rounds of the loop of more than NFVGEN_GAP_NS, beyond what their frames took; of all cores */
	uint64_t gap_ns; /* all of them together */
	uint64_t gap_longest_ns;
	uint64_t foreign[NFVGEN_PORTS];
	struct direction_counts direction[NFVGEN_DIRECTIONS];
	struct queue_counts queue[NFVGEN_DIRECTIONS][NFVGEN_QUEUES]; /* only with several queues */
};

/* Why a call failed, for the person who asked. */
struct failure {
	char text[256];
};

/*
 * One engine. Every call returns 0 or a negative errno and then fills `why`.
 * `run` is called on the thread that the engine owns (options->cores[0]), blocks until the trial has ended, and looks
 * at `stop` at least every 10 ms. `idle` is called on that thread between trials, about every millisecond (ARP, ND,
 * draining). `snapshot` may be called on any thread while `run` runs. `links` (added later; may be NULL: then the
 * states that `open` found hold) may be called on any thread at any time.
 */
struct engine {
	const char *name;
	int (*open)(const struct engine_options *options, struct engine_info *info, struct failure *why);
	int (*run)(
		const struct trial *trial, struct trial_counts *counts, const atomic_bool *stop, struct failure *why);
	void (*idle)(const struct trial *last);
	void (*snapshot)(struct trial_counts *counts);
	void (*close)(void);
	void (*links)(bool up[NFVGEN_PORTS]);
};

extern const struct engine engine_dpdk;
extern const struct engine engine_xdp;

#endif
