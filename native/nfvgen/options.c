/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfvgen.h"

#define USAGE                                                                                                          \
	"nfvgen --engine dpdk|xdp --socket PATH --core N[,N...] --port SPEC --port SPEC [--queues 1] [--sink-core N] " \
	"[--memory-mib 256] [--burst 64] [--yield] [--queue-size 1024] [--mbufs 16384] [--file-prefix NAME] "          \
	"[--hugepage-dir DIR]"

static const struct option table[] = {
	{"engine", required_argument, NULL, 'e'},
	{"socket", required_argument, NULL, 's'},
	{"core", required_argument, NULL, 'c'},
	{"port", required_argument, NULL, 'p'},
	{"queues", required_argument, NULL, 'Q'},
	{"sink-core", required_argument, NULL, 'k'},
	{"memory-mib", required_argument, NULL, 'm'},
	{"burst", required_argument, NULL, 'b'},
	{"yield", no_argument, NULL, 'y'},
	{"queue-size", required_argument, NULL, 'q'},
	{"mbufs", required_argument, NULL, 'n'},
	{"file-prefix", required_argument, NULL, 'f'},
	{"hugepage-dir", required_argument, NULL, 'd'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'v'},
	{NULL, 0, NULL, 0},
};

static int wrong(const char *option, const char *seen, const char *right)
{
	fprintf(stderr, "nfvgen: --%s: seen \"%s\"; right is %s\n", option, seen, right);
	return EXIT_USAGE;
}

static int number(const char *option, const char *text, long smallest, long largest, long *value)
{
	char right[64], *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	if (*text && !*end && errno == 0 && *value >= smallest && *value <= largest)
		return 0;
	snprintf(right, sizeof(right), "a number from %ld to %ld", smallest, largest);
	return wrong(option, text, right);
}

static int unsigned_number(const char *option, const char *text, long smallest, long largest, unsigned *value)
{
	long parsed;
	int status = number(option, text, smallest, largest, &parsed);

	if (status == 0)
		*value = (unsigned)parsed;
	return status;
}

static int core_number(const char *option, const char *text, int *core)
{
	cpu_set_t allowed;
	long parsed;
	int status = number(option, text, 0, CPU_SETSIZE - 1, &parsed);

	if (status)
		return status;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && !CPU_ISSET((size_t)parsed, &allowed))
		return wrong(option, text, "a CPU that this process may use (see taskset -p)");
	*core = (int)parsed;
	return 0;
}

/* Several as a list; each once. */
static int core_numbers(const char *text, struct engine_options *e)
{
	static const char right[] = "CPUs that this process may use, each once, as 2 or 2,3";
	char one[8];

	e->core_count = 0;
	for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		int status = snprintf(one, sizeof(one), "%.*s", (int)strcspn(at, ","), at) >= (int)sizeof(one) ||
					     e->core_count == NFVGEN_CORES
				     ? wrong("core", text, right)
				     : core_number("core", one, &e->cores[e->core_count]);

		if (status)
			return status;
		for (unsigned i = 0; i < e->core_count; i++)
			if (e->cores[i] == e->cores[e->core_count])
				return wrong("core", text, right);
		e->core_count++;
	}
	return 0;
}

static int set_engine(struct options *options, const char *text)
{
	if (strcmp(text, engine_dpdk.name) == 0) {
		options->engine = &engine_dpdk;
		return 0;
	}
#ifdef NFVGEN_XDP
	if (strcmp(text, engine_xdp.name) == 0) {
		options->engine = &engine_xdp;
		return 0;
	}
	return wrong("engine", text, "dpdk or xdp");
#else
	return wrong("engine", text, "dpdk (this program was built without the xdp engine)");
#endif
}

static int add_port(struct engine_options *options, const char *text)
{
	for (unsigned i = 0; i < NFVGEN_PORTS; i++) {
		if (options->ports[i])
			continue;
		options->ports[i] = text;
		return *text ? 0 : wrong("port", text, "a vdev string, pci:ADDRESS or an interface");
	}
	return wrong("port", text, "exactly two ports");
}

static int set(struct options *options, int option, const char *text)
{
	struct engine_options *e = &options->engine_options;

	switch (option) {
	case 'e':
		return set_engine(options, text);
	case 's':
		options->socket = text;
		e->socket = text;
		return strlen(text) < 108 && *text ? 0 : wrong("socket", text, "a path of 1 to 107 bytes");
	case 'c':
		return core_numbers(text, e);
	case 'Q':
		return unsigned_number("queues", text, 1, NFVGEN_QUEUES, &e->queues);
	case 'p':
		return add_port(e, text);
	case 'k':
		return core_number("sink-core", text, &e->sink_core);
	case 'm':
		return unsigned_number("memory-mib", text, 32, 1 << 20, &e->memory_mib);
	case 'b':
		return unsigned_number("burst", text, 1, 256, &e->burst);
	case 'y':
		e->yield = true;
		return 0;
	case 'q':
		return unsigned_number("queue-size", text, 64, 32768, &e->queue_size);
	case 'n':
		return unsigned_number("mbufs", text, 1024, 1 << 22, &e->mbufs);
	case 'f':
		e->file_prefix = text;
		return *text && strlen(text) < 48 && !strchr(text, '/')
			       ? 0
			       : wrong("file-prefix", text, "a name without /");
	case 'd':
		e->hugepage_dir = text;
		return *text == '/' ? 0 : wrong("hugepage-dir", text, "the absolute path of a hugetlbfs mount");
	default:
		return EXIT_USAGE;
	}
}

static int complete(const struct options *options)
{
	if (!options->engine)
		return wrong("engine", "", "dpdk or xdp");
	if (!options->socket)
		return wrong("socket", "", "the path of the control socket");
	if (!options->engine_options.core_count)
		return wrong("core", "", "the CPU of the sending thread, or several");
	if (!options->engine_options.ports[1])
		return wrong("port", options->engine_options.ports[0] ? "once" : "", "exactly two ports");
	if (options->engine == &engine_dpdk && options->engine_options.core_count > options->engine_options.queues)
		return wrong("core", "more CPUs than queues", "as many as --queues at most: a queue has one");
	if (options->engine != &engine_dpdk && options->engine_options.core_count > NFVGEN_PORTS)
		return wrong("core", "more CPUs than ports", "one CPU with --engine xdp, or one for each port");
	if (options->engine != &engine_dpdk && options->engine_options.queues > 1)
		return wrong("queues", "several", "only for --engine dpdk");
	if (options->engine_options.yield && options->engine != &engine_dpdk)
		return wrong("yield", "", "only for --engine dpdk");
	if (options->engine_options.sink_core >= 0 && options->engine == &engine_dpdk)
		return wrong("sink-core", "", "only for --engine xdp; the dpdk engine checks on --core");
	return 0;
}

int options_parse(int argc, char **argv, struct options *options)
{
	int option;

	*options = (struct options){.engine_options = {.queues = 1,
					    .sink_core = -1,
					    .memory_mib = 256,
					    .burst = 64,
					    .queue_size = 1024,
					    .mbufs = 16384}};
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", table, NULL)) != -1) {
		int status;

		if (option == 'h' || option == 'v') {
			puts(option == 'h' ? "usage: " USAGE : "nfvgen " NFVGEN_VERSION);
			exit(0);
		}
		if (option == '?' || option == ':') {
			fprintf(stderr, "nfvgen: %s: %s; right is: %s\n", argv[optind - 1],
				option == ':' ? "its value is missing" : "unknown option", USAGE);
			return EXIT_USAGE;
		}
		status = set(options, option, optarg);
		if (status)
			return status;
	}
	if (optind < argc) {
		fprintf(stderr, "nfvgen: \"%s\" is not an option; right is: %s\n", argv[optind], USAGE);
		return EXIT_USAGE;
	}
	return complete(options);
}
