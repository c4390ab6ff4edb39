/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a gateway share: options, the table of bearers, and what moves the frames. */
#ifndef NFVBED_GATEWAY_H
#define NFVBED_GATEWAY_H

#include <stdbool.h>
#include <stdint.h>

#include "gateway_shared.h"

enum gateway_exit { GATEWAY_ENDED = 0, GATEWAY_FAILED = 1, GATEWAY_USAGE = 2 };

struct gateway_bearer {
	uint32_t ue;
	uint32_t uplink;   /* TEID of frames from the eNB */
	uint32_t downlink; /* TEID of frames to it */
};

struct gateway_table {
	unsigned bearers;
	struct gateway_bearer bearer[GATEWAY_BEARERS];
};

struct gateway_options {
	const char *socket;
	const char *table; /* a file; NULL: the gateway begins without bearers */
	const char *port[GATEWAY_PORTS];
	struct gateway_config config; /* MAC addresses and MTUs are the ports' own, read when they are opened */
	gateway_mac neighbour[GATEWAY_PORTS];
	gateway_mac mac[GATEWAY_PORTS]; /* of the poll loop, in place of the ports' own; 0: those */
	unsigned core;                  /* of the poll loop */
	unsigned memory_mib;            /* of it */
	unsigned mtu;                   /* of ports that have none of their own */
	const char *hugepages;          /* a directory; NULL: anonymous hugepages */
	const char *file_prefix;        /* of a DPDK process */
	bool no_huge;
	bool yield; /* the poll loop gives its core away when nothing has come */
};

/* What moves the frames: XDP programs in the kernel, or a loop that polls. All return 0 or -errno. */
struct gateway_backend {
	const char *name;    /* as answers have it */
	const char *program; /* as messages have it */
	bool polls;          /* it has the options of the poll loop */
	/* After one line on standard error; completes the options by what the ports are. */
	int (*open)(struct gateway_options *options);
	void (*close)(void);
	int (*add)(const struct gateway_bearer *bearer);
	int (*remove)(const struct gateway_bearer *bearer);
	int (*read)(enum gateway_port port, struct gateway_counts *sum, gateway_mac *neighbour);
	int (*ask)(enum gateway_port port, const uint8_t *frame, unsigned length); /* sends a frame of its own */
	uint64_t (*busy)(void); /* TSC cycles of its loop while frames had come; NULL: it has none */
	int (*failed)(void);    /* a descriptor that tells that it has ended; -1: it cannot */
};

extern const struct gateway_backend gateway_backend;

/* options.c: 0, GATEWAY_USAGE after one line on standard error, or -1 after --help. */
int gateway_options(int argc, char **argv, const struct gateway_backend *backend, struct gateway_options *options);

/* table.c */
/* Reads "UE UPLINK-TEID DOWNLINK-TEID". Returns 0 or -EINVAL. */
int gateway_bearer_parse(const char *line, struct gateway_bearer *bearer);
/* 0; -EEXIST: the UE or a TEID is there; -ENOSPC. */
int gateway_table_add(struct gateway_table *table, const struct gateway_bearer *bearer);
/* 0 and the bearer that was taken out, or -ENOENT. */
int gateway_table_remove(struct gateway_table *table, uint32_t ue, struct gateway_bearer *removed);
/* 0 or -errno, after one line on standard error. */
int gateway_table_read(const char *path, struct gateway_table *table);

/* control.c: answers until a signal comes, and asks for neighbours meanwhile; returns an enum gateway_exit. */
int gateway_serve(const struct gateway_options *options, struct gateway_table *table, int signals);

#endif
