/* SPDX-License-Identifier: Apache-2.0 */
/* Time-outs are for a machine of the usual kind; NFVBED_PATIENCE stretches them on a slow one. */
#ifndef NFVBED_PATIENCE_H
#define NFVBED_PATIENCE_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t patient(uint64_t time)
{
	const char *text = getenv("NFVBED_PATIENCE");
	double factor = text ? strtod(text, NULL) : 1;

	return factor > 1 ? (uint64_t)((double)time * factor) : time;
}

#endif
