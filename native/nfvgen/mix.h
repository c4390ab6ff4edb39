/* SPDX-License-Identifier: Apache-2.0 */
/* In which order the frames of a size mix are sent. */
#ifndef NFVGEN_MIX_H
#define NFVGEN_MIX_H

#include "engine.h"

#define MIX_SCHEDULE 16384 /* NFVGEN_MIX sizes of weight 1,000, the largest, fit */

/*
 * One turn through the mix: for every frame the index of its size. Sizes come in turn and not in blocks, as the weights
 * want it (smooth weighted round-robin). Returns the length of the turn, which is the sum of the weights.
 */
unsigned mix_schedule(uint8_t schedule[MIX_SCHEDULE], const struct frame_mix *mix);

#endif
