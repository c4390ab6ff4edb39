/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast cores are now: the time that each needs for a fixed piece of work, in ticks of the processor's counter.
 * Where a hyperthread shares the core with another one that works, the piece takes up to twice as long; a lower clock
 * makes it longer, too. In a virtual machine nothing else tells: that time is in no count of stolen time.
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

#include "patience.h"
#include "ticks.h"

#define MOST_CORES 64
#define PIECES 301
#define STEPS 2000
/* Above any ordinary poller (they run at 1 to 50), below the kernel's own (99). */
#define PRIORITY 90
/* A thread of higher priority that keeps one of them off its core must not leave the others spinning for ever. */
#define PATIENCE_NS 1000000000ull
#define EXIT_USAGE 2

struct core {
	int number;
	unsigned turn;
	int error; /* of what places it; 0: none */
	uint64_t least, median;
	pthread_t thread;
};

static struct {
	_Alignas(128) atomic_uint turn;
	_Alignas(128) atomic_uint ready;
	atomic_int realtime_error;
	unsigned count;
	uint64_t deadline_ns;
	struct core cores[MOST_CORES];
} all;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* Six independent sums, which a core of today adds four and more at a time: all that a sibling takes is felt. */
static void work(void)
{
	unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

	for (unsigned i = 0; i < STEPS; i++) {
		a += i, b += i, c += i, d += i, e += i, f += i;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	}
}

static int compare(const void *left, const void *right)
{
	uint64_t one = *(const uint64_t *)left, other = *(const uint64_t *)right;

	return (one > other) - (one < other);
}

static void measure(struct core *core)
{
	uint64_t lengths[PIECES], begin;

	work();
	for (unsigned i = 0; i < PIECES; i++) {
		begin = ticks_now();
		work();
		lengths[i] = ticks_now() - begin;
	}
	qsort(lengths, PIECES, sizeof(lengths[0]), compare);
	core->least = lengths[0];
	core->median = lengths[PIECES / 2];
}

/* Hardly takes anything from a sibling. */
static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb");
#endif
}

static bool wait_for(atomic_uint *counter, unsigned value)
{
	for (unsigned i = 1; atomic_load_explicit(counter, memory_order_acquire) < value; i++) {
		relax();
		if (i % 1024 == 0 && now_ns() > all.deadline_ns)
			return false;
	}
	return true;
}

/* Each holds its core until all were measured: what polls there would else be the sibling that another one feels. */
static void *hold(void *argument)
{
	struct core *core = argument;
	struct sched_param parameter = {.sched_priority = PRIORITY};
	int err = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter);

	if (err)
		atomic_store(&all.realtime_error, err);
	atomic_fetch_add(&all.ready, 1);
	if (!wait_for(&all.ready, all.count) || !wait_for(&all.turn, core->turn)) {
		core->error = ETIMEDOUT;
		return NULL;
	}
	measure(core);
	atomic_fetch_add(&all.turn, 1);
	wait_for(&all.turn, all.count);
	return NULL;
}

static int start(struct core *core)
{
	pthread_attr_t attributes;
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	CPU_SET(core->number, &set);
	err = pthread_attr_init(&attributes);
	if (err)
		return err;
	err = pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
	if (!err)
		err = pthread_create(&core->thread, &attributes, hold, core);
	pthread_attr_destroy(&attributes);
	return err;
}

static int measure_all(void)
{
	unsigned started = 0;
	int status = 0;

	all.deadline_ns = now_ns() + patient(PATIENCE_NS);
	for (; started < all.count; started++) {
		status = start(&all.cores[started]);
		if (status) {
			fprintf(stderr, "nfvbed-corepace: cannot run on core %d: %s\n", all.cores[started].number,
				strerror(status));
			all.deadline_ns = 0;
			break;
		}
	}
	for (unsigned i = 0; i < started; i++) {
		pthread_join(all.cores[i].thread, NULL);
		if (!status && all.cores[i].error) {
			status = all.cores[i].error;
			fprintf(stderr,
				"nfvbed-corepace: the cores were not held within %u s: a thread of higher priority has "
				"one\n",
				(unsigned)patient(1));
		}
	}
	return status;
}

static bool usable(int number)
{
	cpu_set_t before, set;
	bool found;

	/* Tried, not looked up: the answer covers CPUs that are absent, offline or outside the cpuset. */
	if (number < 0 || number >= CPU_SETSIZE || sched_getaffinity(0, sizeof(before), &before))
		return false;
	CPU_ZERO(&set);
	CPU_SET(number, &set);
	found = !sched_setaffinity(0, sizeof(set), &set);
	sched_setaffinity(0, sizeof(before), &before);
	return found;
}

static int parse_cores(const char *text)
{
	const char *at = text ? text : "";
	char *end;

	do {
		long number = strtol(at, &end, 10);

		if (end == at || (*end && *end != ',') || all.count == MOST_CORES) {
			fprintf(stderr, "nfvbed-corepace: --cores %s: 1 to %d core numbers such as 0,1 are needed\n",
				text ? text : "(missing)", MOST_CORES);
			return EXIT_USAGE;
		}
		for (unsigned i = 0; i < all.count; i++)
			if (all.cores[i].number == number) {
				fprintf(stderr, "nfvbed-corepace: --cores %s: core %ld is there twice\n", text, number);
				return EXIT_USAGE;
			}
		if (!usable((int)number)) {
			fprintf(stderr,
				"nfvbed-corepace: --cores %s: core %ld does not exist or this process may not run on "
				"it\n",
				text, number);
			return EXIT_USAGE;
		}
		all.cores[all.count] = (struct core){.number = (int)number, .turn = all.count};
		all.count++;
		at = end + 1;
	} while (*end);
	return 0;
}

static int parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"cores", required_argument, NULL, 'c'}, {"help", no_argument, NULL, 'h'}, {0}};
	const char *cores = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'h') {
			puts("usage: nfvbed-corepace --cores A[,B...]\n\n"
			     "Prints how long a fixed piece of work takes on each core, in ticks of the processor's "
			     "counter, as one line\nof JSON: the least and the median of several. The cores are held "
			     "meanwhile, for about 1 ms each.");
			return -1;
		}
		if (option != 'c')
			return EXIT_USAGE;
		cores = optarg;
	}
	if (optind < argc) {
		fprintf(stderr, "nfvbed-corepace: %s: not expected; usage: nfvbed-corepace --cores A[,B...]\n",
			argv[optind]);
		return EXIT_USAGE;
	}
	return parse_cores(cores);
}

int main(int argc, char **argv)
{
	int status = parse(argc, argv);

	if (status)
		return status < 0 ? EXIT_SUCCESS : status;
	if (measure_all())
		return EXIT_FAILURE;
	printf("{\"schema\": \"corepace/1\", \"cores\": [");
	for (unsigned i = 0; i < all.count; i++)
		printf("%s{\"core\": %d, \"least\": %llu, \"median\": %llu}", i ? ", " : "", all.cores[i].number,
			(unsigned long long)all.cores[i].least, (unsigned long long)all.cores[i].median);
	printf("], \"pieces\": %d, \"realtime\": %s}\n", PIECES, all.realtime_error ? "false" : "true");
	return EXIT_SUCCESS;
}
