/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets have in common. libFuzzer calls LLVMFuzzerTestOneInput() with bytes of its choice; what it has
 * not allocated, or a promise that is not kept, ends the program with the input in a file.
 */
#ifndef NFVBED_FUZZ_H
#define NFVBED_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PROMISED(condition)                                                                                            \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                      \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

/* A copy that ends where its memory ends, with room before it. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t size, size_t before)
{
	uint8_t *made = malloc(before + size + !(before + size));

	if (!made)
		abort();
	if (size)
		memcpy(made + before, data, size);
	return made;
}

#endif
