/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far two cores are from each other: the one-way time of a cache line between them.
 * In a virtual machine the hypervisor moves the cores, and this time decides what a data plane reaches; it is measured
 * around every trial, beside polling threads that never give their core away, hence the real-time priority.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "patience.h"
#include "ticks.h"

#define BATCHES 12
#define ROUND_TRIPS 200
/* Above any ordinary poller (they run at 1 to 50), below the kernel's own (99). */
#define PRIORITY 90
/* A peer that a still higher priority keeps off its core must not leave the other one spinning for ever. */
#define PATIENCE_S 1
#define EXIT_USAGE 2
/* Of any processor's counter; less would make nonsense of the deadline. */
#define LOWEST_HZ 1000000ull

/* Alone on its cache line, and on the line that the prefetcher takes with it. */
static struct {
	_Alignas(128) atomic_uint turn;
	_Alignas(128) atomic_int realtime_error;
	atomic_bool abandoned;
} shared;

struct request {
	int core[2];
	uint64_t deadline;
	uint64_t tsc_hz; /* as an earlier call reported it; 0: not known */
};

static int place_thread(int core)
{
	struct sched_param parameter = {.sched_priority = PRIORITY};
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	CPU_SET(core, &set);
	err = pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	if (err)
		return -err;
	err = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter);
	if (err)
		atomic_store(&shared.realtime_error, err);
	return 0;
}

/* Without a pause: its length differs between processors and would be measured too. */
static bool await(unsigned turn, uint64_t deadline)
{
	while (atomic_load_explicit(&shared.turn, memory_order_acquire) != turn)
		if (ticks_now() > deadline || atomic_load_explicit(&shared.abandoned, memory_order_relaxed))
			return false;
	return true;
}

static void *answer(void *argument)
{
	const struct request *request = argument;
	unsigned turn = 1;

	if (place_thread(request->core[1])) {
		atomic_store(&shared.abandoned, true);
		return NULL;
	}
	for (unsigned i = 0; i < (BATCHES + 1) * ROUND_TRIPS; i++, turn += 2) {
		if (!await(turn, request->deadline))
			break;
		atomic_store_explicit(&shared.turn, turn + 1, memory_order_release);
	}
	return NULL;
}

/* The shortest batch counts: an interrupt or a hypervisor's pause only ever adds time. */
static uint64_t shortest_batch(uint64_t deadline)
{
	uint64_t best = UINT64_MAX, begin, length;
	unsigned turn = 1;

	/* One more batch in front: it waits for the other thread to start, and is never the shortest. */
	for (unsigned batch = 0; batch <= BATCHES; batch++) {
		begin = ticks_now();
		for (unsigned i = 0; i < ROUND_TRIPS; i++, turn += 2) {
			atomic_store_explicit(&shared.turn, turn, memory_order_release);
			if (!await(turn + 1, deadline))
				return UINT64_MAX;
		}
		length = ticks_now() - begin;
		if (batch && length < best)
			best = length;
	}
	return best;
}

/* Born on its own core: one that inherits this core would wait for the very thread that waits for it. */
static int start_answering(pthread_t *thread, struct request *request)
{
	pthread_attr_t attributes;
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	CPU_SET(request->core[1], &set);
	err = pthread_attr_init(&attributes);
	if (err)
		return err;
	err = pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
	if (!err)
		err = pthread_create(thread, &attributes, answer, request);
	pthread_attr_destroy(&attributes);
	return err;
}

static int measure(struct request *request, struct ticks_rate rate, double *one_way_ns)
{
	uint64_t ticks = UINT64_MAX;
	pthread_t thread;
	int err;

	err = place_thread(request->core[0]);
	if (err) {
		fprintf(stderr, "nfvbed-coredistance: cannot run on core %d: %s\n", request->core[0], strerror(-err));
		return err;
	}
	request->deadline = ticks_now() + patient(PATIENCE_S) * rate.hz;
	err = -start_answering(&thread, request);
	if (err) {
		fprintf(stderr, "nfvbed-coredistance: cannot start a second thread: %s\n", strerror(-err));
		return err;
	}
	ticks = shortest_batch(request->deadline);
	atomic_store(&shared.abandoned, true);
	pthread_join(thread, NULL);
	if (ticks == UINT64_MAX) {
		fprintf(stderr,
			"nfvbed-coredistance: core %d did not answer core %d within %u s: a thread of higher priority "
			"holds it\n",
			request->core[1], request->core[0], (unsigned)patient(PATIENCE_S));
		return -ETIMEDOUT;
	}
	*one_way_ns = (double)ticks * 1e9 / (double)rate.hz / ROUND_TRIPS / 2;
	return 0;
}

static bool usable_core(int core)
{
	cpu_set_t set;

	/* Tried, not looked up: the answer covers CPUs that are absent, offline or outside the cpuset. */
	if (core < 0 || core >= CPU_SETSIZE)
		return false;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

static int parse_cores(const char *text, int core[2])
{
	char rest;

	if (!text || sscanf(text, "%d,%d%c", &core[0], &core[1], &rest) != 2) {
		fprintf(stderr, "nfvbed-coredistance: --cores %s: two core numbers such as 0,1 are needed\n",
			text ? text : "(missing)");
		return EXIT_USAGE;
	}
	if (core[0] == core[1]) {
		fprintf(stderr,
			"nfvbed-coredistance: --cores %s: a core has no distance to itself; give two different ones\n",
			text);
		return EXIT_USAGE;
	}
	for (int i = 0; i < 2; i++) {
		if (!usable_core(core[i])) {
			fprintf(stderr,
				"nfvbed-coredistance: --cores %s: core %d does not exist or this process may not run "
				"on it\n",
				text, core[i]);
			return EXIT_USAGE;
		}
	}
	return 0;
}

static int parse_hz(const char *text, uint64_t *hz)
{
	char *end;

	errno = 0;
	*hz = strtoull(text, &end, 10);
	if (!errno && *end == '\0' && *text >= '1' && *text <= '9' && *hz >= LOWEST_HZ)
		return 0;
	fprintf(stderr,
		"nfvbed-coredistance: --tsc-hz %s: ticks of the processor's counter a second, as an earlier call "
		"reported them\n",
		text);
	return EXIT_USAGE;
}

static int parse(int argc, char **argv, struct request *request)
{
	static const struct option options[] = {{"cores", required_argument, NULL, 'c'},
		{"tsc-hz", required_argument, NULL, 't'}, {"help", no_argument, NULL, 'h'}, {0}};
	const char *cores = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'h') {
			puts("usage: nfvbed-coredistance --cores A,B [--tsc-hz HZ]\n\n"
			     "Prints the one-way time of a cache line between two cores as one line of JSON.\n"
			     "  --tsc-hz HZ  the counter's rate that an earlier call reported: it is not measured "
			     "again, "
			     "which "
			     "takes 20 ms");
			return -1;
		}
		if (option == 't' && !parse_hz(optarg, &request->tsc_hz))
			continue;
		if (option != 'c')
			return EXIT_USAGE;
		cores = optarg;
	}
	if (optind < argc) {
		fprintf(stderr,
			"nfvbed-coredistance: %s: not expected; usage: nfvbed-coredistance --cores A,B [--tsc-hz HZ]\n",
			argv[optind]);
		return EXIT_USAGE;
	}
	return parse_cores(cores, request->core);
}

int main(int argc, char **argv)
{
	struct request request = {0};
	struct ticks_rate rate;
	double one_way_ns;
	int status = parse(argc, argv, &request);

	if (status)
		return status < 0 ? EXIT_SUCCESS : status;
	rate = ticks_rate(request.tsc_hz);
	if (measure(&request, rate, &one_way_ns))
		return EXIT_FAILURE;
	printf("{\"schema\": \"coredistance/1\", \"cores\": [%d, %d], \"one_way_ns\": %.1f, \"batches\": %d, "
	       "\"round_trips\": %d, "
	       "\"tsc_hz\": %llu, \"tsc_source\": \"%s\", \"realtime\": %s",
		request.core[0], request.core[1], one_way_ns, BATCHES, ROUND_TRIPS, (unsigned long long)rate.hz,
		rate.source, shared.realtime_error ? "false" : "true");
	if (shared.realtime_error)
		printf(", \"note\": \"SCHED_FIFO refused (%s): a polling thread on either core makes the distance too "
		       "long\"",
			strerror(shared.realtime_error));
	puts("}");
	return EXIT_SUCCESS;
}
