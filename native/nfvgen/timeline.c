/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pacing.h"

static struct {
	uint64_t width_ns; /* 0: the trial has no timeline */
	struct timeline of[NFVGEN_DIRECTIONS];
} timelines;

int timeline_prepare(const struct trial *trial)
{
	uint64_t total = trial->duration_ns + trial->then_duration_ns;

	timelines.width_ns = 0;
	for (unsigned i = 0; i < NFVGEN_DIRECTIONS; i++) {
		free(timelines.of[i].bins);
		memset(&timelines.of[i], 0, sizeof(timelines.of[i]));
	}
	for (unsigned i = 0; trial->timeline_ns && i < trial->directions; i++) {
		/* One more, for the frames that were due before the end and are sent just after it. */
		timelines.of[i].count = (uint32_t)(total / trial->timeline_ns + 2);
		timelines.of[i].bins = calloc(timelines.of[i].count, sizeof(*timelines.of[i].bins));
		if (!timelines.of[i].bins)
			return -ENOMEM;
	}
	timelines.width_ns = trial->timeline_ns;
	return 0;
}

struct timeline *timeline_of(unsigned direction)
{
	return timelines.width_ns && timelines.of[direction].bins ? &timelines.of[direction] : NULL;
}

void timeline_start(struct timeline *t, uint64_t start, uint64_t hz)
{
	t->start = start;
	t->last = start;
	t->hz = hz;
	t->width_ns = timelines.width_ns;
	t->width = pacing_ticks(t->width_ns, hz);
	t->gap_from = start;
	t->gap_to = start;
}

void timeline_end(struct timeline *t, uint64_t end, uint64_t lost)
{
	if (t->refused + lost <= t->missing || end <= t->last || end - t->last <= t->gap_to - t->gap_from)
		return;
	t->gap_from = t->last;
	t->gap_to = 0;
}
