/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>

#include "switch.h"

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
	static struct switch_options options;
	int status = switch_options(argc, argv, &options), signals;

	if (status)
		return status < 0 ? SWITCH_ENDED : status;
	signals = open_signals();
	if (signals < 0) {
		fprintf(stderr, "nfvbed-xdp-switch: signalfd: %s\n", strerror(errno));
		return SWITCH_FAILED;
	}
	status = switch_open(&options) ? SWITCH_FAILED : switch_serve(&options, signals);
	switch_close();
	return status;
}
