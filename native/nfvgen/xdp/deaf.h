/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port that takes nothing at all, by what the kernel reports of the frames that it was handed, and not by the time
 * that goes by: a thread that was kept from its core after it made a frame has handed nothing over, and nothing is
 * reported of it.
 */
#ifndef NFVGEN_XDP_DEAF_H
#define NFVGEN_XDP_DEAF_H

#include <stdbool.h>
#include <stdint.h>

#include "xdp_shared.h"

/* Not at the first error: a peer may be setting its rings up. */
#define DEAF_LOOKS 4

struct deaf {
	uint64_t turned_away; /* as of the last look */
	unsigned looks;       /* in which there were more of them than in the one before, and still none taken */
};

/* While frames are sent. A full ring is an answer too: the port has taken what is in it. */
static inline bool deaf_look(struct deaf *deaf, const struct xmit_counts *now)
{
	if (now->taken) {
		deaf->looks = 0;
		return false;
	}
	if (now->turned_away > deaf->turned_away)
		deaf->looks++;
	deaf->turned_away = now->turned_away;
	return deaf->looks >= DEAF_LOOKS;
}

/* After the last frame, when all were handed over: frames of which nothing is reported were not taken either. */
static inline bool deaf_at_end(uint64_t generated, const struct xmit_counts *now)
{
	return generated && !now->taken && (now->turned_away || !now->refused);
}

#endif
