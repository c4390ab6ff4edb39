/* SPDX-License-Identifier: Apache-2.0 */
/* A failed check says where and what, and the test goes on; check_result() is what main() returns. */
#ifndef NFVGEN_CHECK_H
#define NFVGEN_CHECK_H

#include <stdio.h>

static int check_failures;

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                      \
			check_failures++;                                                                              \
		}                                                                                                      \
	} while (0)

#define CHECK_EQUAL(seen, expected)                                                                                    \
	do {                                                                                                           \
		long long seen_ = (long long)(seen), expected_ = (long long)(expected);                                \
		if (seen_ != expected_) {                                                                              \
			fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #seen, seen_,        \
				expected_);                                                                            \
			check_failures++;                                                                              \
		}                                                                                                      \
	} while (0)

static inline int check_result(void)
{
	return check_failures ? 1 : 0;
}

#endif
