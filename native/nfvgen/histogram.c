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

void histogram_merge(struct histogram *h, const struct histogram *other)
{
	if (other->total == 0)
		return;
	if (h->total == 0 || other->min < h->min)
		h->min = other->min;
	if (other->max > h->max)
		h->max = other->max;
	h->total += other->total;
	h->sum += other->sum;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->counts[i] += other->counts[i];
}
