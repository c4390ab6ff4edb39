/* SPDX-License-Identifier: Apache-2.0 */
#include "histogram.h"

#include <string.h>

void histogram_clear(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
}

uint64_t histogram_value(unsigned index)
{
	if (index < HISTOGRAM_LINEAR)
		return index;
	unsigned shift = index / HISTOGRAM_HALF - 1;

	return (uint64_t)(index - shift * HISTOGRAM_HALF) << shift;
}

void histogram_add_bucket(struct histogram *h, unsigned index, uint64_t count)
{
	if (index >= HISTOGRAM_BUCKETS)
		return;
	h->counts[index] += count;
	h->total += count;
}
