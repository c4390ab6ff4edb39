/* SPDX-License-Identifier: Apache-2.0 */
/* The balancer of one multi-queue tap: it lives as long as this process. */
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/timerfd.h>

#include "balancer.h"
#include "serving.h"
#include "steering.h"
#include "tap.h"

#define PROGRAM "nfvbed-balancer"
#define USAGE 2
#define FAILED 1
#define LONGEST_MS 60000

struct options {
	const char *tap;
	unsigned queues;
	unsigned period_ms;
	unsigned threshold;
	unsigned floor;
	bool timed;
};

static int usage(FILE *stream)
{
	fprintf(stream, "usage: " PROGRAM " --tap NAME --queues N [--period-ms N] [--threshold PACKETS] [--timed]\n"
			"       " PROGRAM " --floor REPEAT\n"
			"\n"
			"Maps the flows that go out by a multi-queue tap to its queues, and moves some of them each "
			"period (200 ms)\n"
			"where the loads of two queues differ by more than the threshold (64 packets a period). A line "
			"of JSON on\n"
			"standard output for each period with moves, and a last one with the totals. --timed: the "
			"kernel takes the\n"
			"time of each run of the mapper. --floor: the time of a run, on one packet over and over; no "
			"tap is needed.\n");
	return USAGE;
}

static int number(const char *option, const char *text, unsigned least, unsigned most, unsigned *value)
{
	char *end;
	unsigned long found = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || found < least || found > most) {
		fprintf(stderr, PROGRAM ": --%s: seen \"%s\"; right is %u to %u\n", option, text, least, most);
		return USAGE;
	}
	*value = (unsigned)found;
	return 0;
}

static int set(int option, const char *value, struct options *options)
{
	switch (option) {
	case 't':
		options->tap = value;
		return 0;
	case 'q':
		return number("queues", value, 2, BALANCER_QUEUES, &options->queues);
	case 'p':
		return number("period-ms", value, 1, LONGEST_MS, &options->period_ms);
	case 'd':
		return number("threshold", value, 0, 1000000000, &options->threshold);
	case 'f':
		return number("floor", value, 1, 100000000, &options->floor);
	case 'm':
		options->timed = true;
		return 0;
	case 'h':
		usage(stdout);
		return -1;
	default:
		return usage(stderr);
	}
}

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option table[] = {
		{"tap", required_argument, NULL, 't'},
		{"queues", required_argument, NULL, 'q'},
		{"period-ms", required_argument, NULL, 'p'},
		{"threshold", required_argument, NULL, 'd'},
		{"floor", required_argument, NULL, 'f'},
		{"timed", no_argument, NULL, 'm'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, status = 0;

	while (!status && (option = getopt_long(argc, argv, "", table, NULL)) != -1)
		status = set(option, optarg, options);
	if (!status && (optind < argc || (!options->floor && (!options->tap || !options->queues))))
		status = usage(stderr);
	return status;
}

static int fail(const char *what, int err)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", what, strerror(-err));
	return FAILED;
}

static void print_totals(void)
{
	const struct steering_totals totals = steering_read();

	printf("{\"ended\": true, \"periods\": %lu, \"moves\": %lu, \"flows\": %lu, \"packets\": %lu, \"no_flow\": "
	       "%lu, "
	       "\"no_entry\": %lu, \"attached_again\": %lu, \"mapper_ns\": %lu, \"mapper_runs\": %lu}\n",
		totals.periods, totals.moves, totals.flows, totals.packets, totals.no_flow, totals.no_entry,
		totals.attached_again, totals.mapper_ns, totals.mapper_runs);
}

static int end_period(const struct options *options)
{
	int again = steering_keep(), moves = steering_remap(options->threshold);

	if (again < 0)
		return fail(options->tap, again);
	if (moves < 0)
		return fail("the tables", moves);
	if (moves || again)
		printf("{\"period\": %lu, \"flows\": %lu, \"moves\": %d, \"attached_again\": %d}\n",
			steering_read().periods, steering_read().flows, moves, again);
	return 0;
}

static int balance(const struct options *options, int signals)
{
	const struct timespec period = {
		.tv_sec = options->period_ms / 1000, .tv_nsec = options->period_ms % 1000 * 1000000};
	const struct itimerspec each = {.it_value = period, .it_interval = period};
	struct pollfd waits[] = {{.fd = signals, .events = POLLIN},
		{.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), .events = POLLIN}};
	int status = 0;

	if (waits[1].fd < 0 || timerfd_settime(waits[1].fd, 0, &each, NULL))
		return fail("timerfd", -errno);
	printf("{\"attached\": true}\n");
	while (!status && poll(waits, 2, -1) >= 0 && !waits[0].revents) {
		uint64_t expired;

		if (read(waits[1].fd, &expired, sizeof(expired)) == sizeof(expired))
			status = end_period(options);
	}
	print_totals();
	return status;
}

static int print_floor(unsigned repeat)
{
	unsigned ns;
	int err = steering_floor(repeat, &ns);

	if (err)
		return fail("BPF_PROG_TEST_RUN", err);
	printf("{\"ns\": %u}\n", ns);
	return 0;
}

int main(int argc, char **argv)
{
	struct options options = {.period_ms = 200, .threshold = 64};
	int status = parse(argc, argv, &options), signals, err;

	if (status)
		return status < 0 ? 0 : status;
	setvbuf(stdout, NULL, _IOLBF, 0);
	signals = serving_signals();
	if (signals < 0)
		return fail("signalfd", signals);
	err = steering_open(options.tap, options.floor ? 2 : options.queues, options.timed);
	if (err)
		status = fail("the kernel does not take the program", err);
	else if (options.floor)
		status = print_floor(options.floor);
	else if ((err = steering_attach()))
		status = fail(options.tap, err);
	else
		status = balance(&options, signals);
	steering_close();
	return status;
}
