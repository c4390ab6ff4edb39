/* SPDX-License-Identifier: Apache-2.0 */
#include "mix.h"

unsigned mix_schedule(uint8_t schedule[MIX_SCHEDULE], const struct frame_mix *mix)
{
	int64_t credit[NFVGEN_MIX] = {0};
	unsigned total = 0;

	for (unsigned i = 0; i < mix->count; i++)
		total += mix->weight[i];
	if (total > MIX_SCHEDULE)
		total = MIX_SCHEDULE;
	for (unsigned at = 0; at < total; at++) {
		unsigned best = 0;

		for (unsigned i = 0; i < mix->count; i++) {
			credit[i] += mix->weight[i];
			if (credit[i] > credit[best])
				best = i;
		}
		credit[best] -= total;
		schedule[at] = (uint8_t)best;
	}
	return total;
}
