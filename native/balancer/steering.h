/* SPDX-License-Identifier: Apache-2.0 */
/* The balancer's program and tables in the kernel, for one tap. */
#ifndef NFVBED_STEERING_H
#define NFVBED_STEERING_H

#include <stdbool.h>
#include <stdint.h>

struct steering_totals {
	uint64_t periods;
	uint64_t moves;
	uint64_t flows; /* in the table now */
	uint64_t packets;
	uint64_t no_flow;
	uint64_t no_entry;
	uint64_t attached_again;
	uint64_t mapper_ns; /* 0 without `timed`, as is the number of its runs */
	uint64_t mapper_runs;
};

/* Loads the program. `timed`: the kernel takes the time of each run, of all programs of this host. */
int steering_open(const char *tap, unsigned queues, bool timed);

/* Lets the tap ask the program for each packet's queue. */
int steering_attach(void);

/* Ends a period: forgets flows without packets, and moves flows. Returns how many moved, or -errno. */
int steering_remap(uint64_t threshold);

/*
 * Attaches the program again where somebody took it off, as QEMU can by the same call.
 * Returns 1 where it did, else 0 or -errno.
 */
int steering_keep(void);

struct steering_totals steering_read(void);

/* Runs the program over and over on one packet of a known flow. Returns 0 and the ns of a run, or -errno. */
int steering_floor(unsigned repeat, unsigned *ns);

/* Gives the choice of queues back to the kernel. */
void steering_close(void);

#endif
