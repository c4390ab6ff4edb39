/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The remapper's rule against random assignment, without packets: flows of constant volume begin on queues drawn at
 * random, as a hash puts them, and the rule works on them period after period. Reproducible: the seed is an argument.
 */
#include <stdio.h>
#include <stdlib.h>

#include "remap.h"

#define PROGRAM "nfvbed-balancer-simulation"
#define RUNS 10000
#define PERIODS 50
#define LOAD 1000000 /* packets a period, of all flows */
#define USAGE 2

struct sample {
	double before; /* load of the busiest queue over the mean */
	double after;  /* when nothing moves any more, or after the last period */
	double best;   /* no assignment can be below this: the mean, or the largest flow alone */
	unsigned periods;
	unsigned moves;
};

static uint64_t state;

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016). */
static uint32_t draw(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)(((state * 0x2545f4914f6cdd1dull) >> 32) * below >> 32);
}

static double imbalance(const struct remap_flow *flows, unsigned count, unsigned queues)
{
	uint64_t loads[BALANCER_QUEUES] = {0}, most = 0, all = 0;

	for (unsigned i = 0; i < count; i++) {
		loads[flows[i].queue] += flows[i].packets;
		all += flows[i].packets;
	}
	for (unsigned i = 0; i < queues; i++)
		most = loads[i] > most ? loads[i] : most;
	return (double)most * queues / (double)all;
}

/* Equal volumes, or volumes in proportion to 1, 1/2, 1/3, ... */
static uint64_t volume(unsigned flow, unsigned count, int skewed)
{
	double sum = 0;

	if (!skewed)
		return LOAD / count;
	for (unsigned i = 1; i <= count; i++)
		sum += 1.0 / i;
	return (uint64_t)(LOAD / sum / (flow + 1)) + 1;
}

static struct sample simulate(struct remap_flow *flows, unsigned count, unsigned queues, int skewed)
{
	struct sample sample = {0};
	uint64_t all = 0, largest = 0;
	unsigned moved;

	for (unsigned i = 0; i < count; i++) {
		flows[i] = (struct remap_flow){.id = i, .queue = draw(queues), .packets = volume(i, count, skewed)};
		all += flows[i].packets;
		largest = flows[i].packets > largest ? flows[i].packets : largest;
	}
	sample.before = imbalance(flows, count, queues);
	sample.best = largest * queues > all ? (double)largest * queues / (double)all : 1;
	do {
		moved = remap(flows, count, queues, LOAD / queues / 100);
		sample.moves += moved;
		sample.periods += moved > 0;
	} while (moved && sample.periods < PERIODS);
	sample.after = imbalance(flows, count, queues);
	return sample;
}

static int ascending(const void *first, const void *second)
{
	double a = *(const double *)first, b = *(const double *)second;

	return (a > b) - (a < b);
}

static void print_spread(const char *name, double *values, unsigned runs)
{
	qsort(values, runs, sizeof(*values), ascending);
	printf(", \"%s\": [%.4f, %.4f, %.4f]", name, values[runs / 2], values[runs / 20], values[runs - 1 - runs / 20]);
}

static void print_case(unsigned queues, unsigned each, int skewed, unsigned runs)
{
	static struct remap_flow flows[BALANCER_FLOWS];
	static double before[RUNS], after[RUNS], periods[RUNS], moves[RUNS];
	unsigned count = queues * each, unsettled = 0;
	double best = 1;

	for (unsigned run = 0; run < runs; run++) {
		struct sample sample = simulate(flows, count, queues, skewed);

		before[run] = sample.before;
		after[run] = sample.after;
		periods[run] = sample.periods;
		moves[run] = (double)sample.moves / count;
		unsettled += sample.periods == PERIODS;
		best = sample.best;
	}
	printf("{\"queues\": %u, \"flows\": %u, \"volumes\": \"%s\", \"runs\": %u, \"best\": %.4f, \"unsettled\": %u",
		queues, count, skewed ? "skewed" : "equal", runs, best, unsettled);
	print_spread("random", before, runs);
	print_spread("balanced", after, runs);
	print_spread("periods", periods, runs);
	print_spread("moves_per_flow", moves, runs);
	printf("}\n");
}

int main(int argc, char **argv)
{
	static const unsigned each[] = {1, 4, 16, 64};
	unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;

	state = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	if (argc != 3 || !runs || runs > RUNS || !state) {
		fprintf(stderr,
			"usage: " PROGRAM " RUNS SEED\n\n"
			"Prints a line of JSON for each number of queues (2 to 64), of flows and kind of volumes: "
			"imbalance\n"
			"(busiest queue over the mean) of a random assignment and after the remapper, periods and "
			"moves until\n"
			"nothing moves; each as median, 5 %% and 95 %% of 1 to 10000 runs. The seed is not 0.\n");
		return USAGE;
	}
	for (unsigned queues = 2; queues <= BALANCER_QUEUES; queues *= 2)
		for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++)
			for (int skewed = 0; skewed < 2; skewed++)
				print_case(queues, each[i], skewed, runs);
	return 0;
}
