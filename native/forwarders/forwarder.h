/* SPDX-License-Identifier: Apache-2.0 */
/* What the forwarders share: two ports, their counters on a Unix socket, an end that is reported by a signal. */
#ifndef NFVBED_FORWARDER_H
#define NFVBED_FORWARDER_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#define FORWARDER_PORTS 2

enum forwarder_exit { FORWARDER_ENDED = 0, FORWARDER_FAILED = 1, FORWARDER_USAGE = 2 };

struct forwarder_options {
	const char *socket;
	const char *port[FORWARDER_PORTS];
	unsigned ifindex[FORWARDER_PORTS];
	unsigned burst;
	unsigned descriptors;
	bool retry;
};

/* Cumulative since the start. A negative count is one that this forwarder does not have; it is left out. */
struct forwarder_counts {
	int64_t rx_packets;
	int64_t tx_packets;
	int64_t rx_dropped; /* came, and found no room */
	int64_t tx_dropped; /* the other port did not take it */
};

typedef void (*forwarder_read)(struct forwarder_counts counts[FORWARDER_PORTS]);

/* 0, FORWARDER_USAGE after one line on standard error, or -1 after --help. */
int forwarder_options(int argc, char **argv, const char *program, struct forwarder_options *options);

/*
 * Blocks SIGINT and SIGTERM, for this thread and those that it starts; returns a descriptor that tells of them, or
 * -errno.
 */
int forwarder_signals(void);

/*
 * Answers every connection on the socket with one JSON document and closes it, until a signal comes or `failed`, a
 * descriptor, is readable. Returns an enum forwarder_exit.
 */
int forwarder_serve(const struct forwarder_options *options, int signals, int failed, forwarder_read read_counts);

#endif
