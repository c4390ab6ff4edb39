/* SPDX-License-Identifier: Apache-2.0 */
/* The user plane of an emulated eNB with one UE. */
#ifndef NFVBED_ENB_H
#define NFVBED_ENB_H

#include <stdint.h>

#define ENB_PROGRAM "nfvbed-enb"

enum enb_exit { ENB_ENDED = 0, ENB_USAGE = 2, ENB_FAILED = 3 };

/* Addresses and TEIDs are in network byte order. */
struct enb_options {
	const char *tun;
	const char *netns; /* where the tun device is: the UE's */
	uint32_t address;  /* of the eNB on S1-U */
	uint32_t gateway;  /* the serving gateway's */
	uint32_t uplink_teid;
	uint32_t downlink_teid;
};

int enb_options(int argc, char **argv, struct enb_options *options);

#endif
