/* SPDX-License-Identifier: Apache-2.0 */
#include "ticks.h"

#define NS_PER_S 1000000000ull
/* 20 ms against a clock read to about 50 ns: five parts in a million. */
#define CALIBRATION_NS 20000000ull

static uint64_t raw_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

static struct ticks_rate told_rate(void)
{
	unsigned eax, ebx, ecx, edx;

	/* The crystal's frequency (ecx) is 0 where the processor does not tell it. */
	if (__get_cpuid(0x15, &eax, &ebx, &ecx, &edx) && eax && ebx && ecx)
		return (struct ticks_rate){(uint64_t)ecx * ebx / eax, "cpuid-0x15"};
	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1u << 31)))
		return (struct ticks_rate){0, NULL};
	/* A hypervisor may tell the rate in kHz, if its leaves reach so far. */
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	if (eax < 0x40000010)
		return (struct ticks_rate){0, NULL};
	__cpuid(0x40000010, eax, ebx, ecx, edx);
	return (struct ticks_rate){(uint64_t)eax * 1000, "cpuid-0x40000010"};
}
#elif defined(__aarch64__)
static struct ticks_rate told_rate(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return (struct ticks_rate){hz, "register"};
}
#else
static struct ticks_rate told_rate(void)
{
	return (struct ticks_rate){NS_PER_S, "clock"};
}
#endif

struct ticks_rate ticks_rate(uint64_t known_hz)
{
	struct ticks_rate rate = told_rate();
	uint64_t ns, ticks, elapsed_ns;

	if (rate.hz)
		return rate;
	if (known_hz)
		return (struct ticks_rate){known_hz, "given"};
	ns = raw_ns();
	ticks = ticks_now();
	do
		elapsed_ns = raw_ns() - ns;
	while (elapsed_ns < CALIBRATION_NS);
	ticks = ticks_now() - ticks;
	return (struct ticks_rate){(uint64_t)((double)ticks * NS_PER_S / (double)elapsed_ns), "calibrated"};
}
