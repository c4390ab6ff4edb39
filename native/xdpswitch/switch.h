/* SPDX-License-Identifier: Apache-2.0 */
/* The loader of an XDP switch: ports, the cables between them, and what it is asked over its socket. */
#ifndef NFVBED_SWITCH_H
#define NFVBED_SWITCH_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "xdp_switch.h"

#define SWITCH_PORTS 32
#define SWITCH_CABLES 64

enum switch_exit { SWITCH_ENDED = 0, SWITCH_FAILED = 1, SWITCH_USAGE = 2 };

struct switch_cable {
	unsigned end[2]; /* places among the ports */
};

struct switch_options {
	const char *socket;
	bool generic;
	const char *port[SWITCH_PORTS];
	unsigned ports;
	struct switch_cable cable[SWITCH_CABLES];
	unsigned cables;
	uint64_t station[2]; /* addresses that task C's table holds */
	unsigned stations;
};

/* What a program gave in repeated runs on one frame. */
struct switch_floor {
	uint32_t verdict;
	uint32_t duration_ns; /* of one run, as the kernel has it */
	uint64_t cpu_ns;      /* run time of this thread in all runs, with the call */
};

/* options.c: 0, SWITCH_USAGE after one line on standard error, or -1 after --help. */
int switch_options(int argc, char **argv, struct switch_options *options);

/* programs.c: 0 or -errno, after one line on standard error. */
int switch_open(const struct switch_options *options);
void switch_close(void);
const char *switch_program(void); /* the one that is attached */
int switch_replace(const char *program);
int switch_read(unsigned port, struct switch_counts *sum);
int switch_measure(const char *program, unsigned repeat, unsigned size, struct switch_floor *floor);

/* control.c: answers until a signal comes; returns an enum switch_exit. */
int switch_serve(const struct switch_options *options, int signals);

#endif
