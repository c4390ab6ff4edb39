/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs and their loader share. */
#ifndef NFVBED_XDP_SWITCH_H
#define NFVBED_XDP_SWITCH_H

/* Ports are looked up by interface number in plain arrays: in a namespace of its own a switch has low numbers. */
#define SWITCH_IFINDEX_END 128
#define SWITCH_WAYS 16 /* cables at one port, at most; flows are shared among them */
#define SWITCH_STATIONS 1024

struct switch_counts {
	unsigned long long received;
	unsigned long long no_way; /* came in where no cable is, or a share's cable is missing */
};

#endif
