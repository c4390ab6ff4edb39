/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "gateway.h"
#include "serving.h"

static struct gateway_table table;

static int fill(void)
{
	int err = 0;

	for (unsigned i = 0; i < table.bearers && !err; i++)
		err = gateway_backend.add(&table.bearer[i]);
	if (err)
		fprintf(stderr, "%s: the table cannot be filled: %s\n", gateway_backend.program, strerror(-err));
	return err;
}

int main(int argc, char **argv)
{
	static struct gateway_options options;
	int status = gateway_options(argc, argv, &gateway_backend, &options), signals;

	if (status)
		return status < 0 ? GATEWAY_ENDED : status;
	if (options.table && gateway_table_read(options.table, &table))
		return GATEWAY_USAGE;
	signals = serving_signals();
	if (signals < 0) {
		fprintf(stderr, "%s: signalfd: %s\n", gateway_backend.program, strerror(-signals));
		return GATEWAY_FAILED;
	}
	/* DPDK's drivers write to sockets of switches, which may be gone: that is no reason to end. */
	signal(SIGPIPE, SIG_IGN);
	status = gateway_backend.open(&options) || fill() ? GATEWAY_FAILED : gateway_serve(&options, &table, signals);
	gateway_backend.close();
	return status;
}
