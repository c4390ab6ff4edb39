/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest clock of the processor, and its rate. */
#ifndef NFVBED_COREDISTANCE_TICKS_H
#define NFVBED_COREDISTANCE_TICKS_H

#include <stdint.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
static inline uint64_t ticks_now(void)
{
	return __rdtsc();
}
#elif defined(__aarch64__)
static inline uint64_t ticks_now(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}
#else
static inline uint64_t ticks_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
#endif

struct ticks_rate {
	uint64_t hz;
	const char *source; /* "cpuid-0x15", "cpuid-0x40000010", "register", "given" or "calibrated" */
};

/* `known_hz`: what an earlier call found; it is taken where the processor does not tell its rate. 0: not known. */
struct ticks_rate ticks_rate(uint64_t known_hz);

#endif
