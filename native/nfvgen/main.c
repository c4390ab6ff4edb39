/* SPDX-License-Identifier: Apache-2.0 */
/* nfvgen: generator and sink on two ports. See docs/reference/nfvgen-protocol.md. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "nfvgen.h"

#define OPEN_GRACE_MS 3000   /* asked to end while ports are being opened */
#define CLOSE_GRACE_MS 15000 /* a drain and the drivers' own shutting down */

static int watch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	/* Blocked before any thread exists, so that no thread of a driver takes them. */
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The control thread's work must not steal time on the cores that are measured. */
static void leave_cores(const struct engine_options *options)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return;
	for (unsigned i = 0; i < options->core_count; i++)
		CPU_CLR((size_t)options->cores[i], &allowed);
	if (CPU_COUNT(&allowed) > 0)
		sched_setaffinity(0, sizeof(allowed), &allowed);
}

/* Opens the ports; false when the program has to end, and why. */
static bool open_ports(const struct options *options, struct ending *ending)
{
	struct worker_view view;

	if (worker_open(options->engine, &options->engine_options) < 0) {
		*ending = (struct ending){.reason = "error", .status = EXIT_INTERNAL};
		return false;
	}
	leave_cores(&options->engine_options);
	while (!worker_wait(50)) {
		if (ending_look(ending))
			return false;
	}
	if (worker_state() != WORKER_BROKEN)
		return true;
	worker_view(&view);
	fprintf(stderr, "nfvgen: %s\n", view.failure.text);
	*ending = (struct ending){.reason = "error", .status = EXIT_PORT};
	return false;
}

static void serve(const struct options *options, int signals, struct ending *ending)
{
	int listening = -1, status = control_claim(options->socket);

	if (status) {
		*ending = (struct ending){.reason = "error", .status = status};
		return;
	}
	listening = control_listen(options->socket);
	if (listening < 0) {
		fprintf(stderr,
			"nfvgen: --socket: \"%s\" cannot be created: %s; right is a path in a folder that exists\n",
			options->socket, strerror(-listening));
		*ending = (struct ending){.reason = "error", .status = EXIT_USAGE};
		return;
	}
	control_serve(options, listening, signals, ending);
	close(listening);
	unlink(options->socket);
}

static void print_exit(const struct ending *ending)
{
	json_t *document = result_exit(ending);

	json_dumpf(document, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(document);
}

int main(int argc, char **argv)
{
	struct options options;
	struct ending ending = {.reason = "error", .status = EXIT_INTERNAL};
	int status = options_parse(argc, argv, &options);
	int signals;

	if (status)
		return status;
	signals = watch_signals();
	ending_watch(signals);
	status = control_claim(options.socket);
	if (status)
		return status;
	if (open_ports(&options, &ending))
		serve(&options, signals, &ending);
	if (!worker_close(worker_state() == WORKER_OPENING ? OPEN_GRACE_MS : CLOSE_GRACE_MS)) {
		fprintf(stderr, "nfvgen: the engine did not end in time; ports may be left open\n");
		print_exit(&ending);
		_exit(ending.status ? ending.status : EXIT_INTERNAL);
	}
	print_exit(&ending);
	return ending.status;
}
