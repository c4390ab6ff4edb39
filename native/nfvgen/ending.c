/* SPDX-License-Identifier: Apache-2.0 */
/* Why the program is to end: a signal, its parent's end, or what control was asked; the first reason stays. */
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "nfvgen.h"

static struct {
	int signals;
	pid_t parent;
	struct ending ending; /* reason NULL: go on */
} reported = {.signals = -1};

void ending_watch(int signals)
{
	reported.signals = signals;
	reported.parent = getppid();
}

void ending_set(struct ending ending)
{
	if (!reported.ending.reason)
		reported.ending = ending;
}

bool ending_is_set(void)
{
	return reported.ending.reason != NULL;
}

static void look(void)
{
	struct signalfd_siginfo info;

	if (ending_is_set())
		return;
	if (read(reported.signals, &info, sizeof(info)) == sizeof(info))
		ending_set((struct ending){.reason = "signal",
			.signal = (int)info.ssi_signo,
			.status = info.ssi_signo == SIGINT ? EXIT_SIGINT : EXIT_ENDED});
	else if (getppid() != reported.parent)
		ending_set((struct ending){.reason = "parent"});
}

bool ending_look(struct ending *ending)
{
	look();
	if (ending_is_set())
		*ending = reported.ending;
	return ending_is_set();
}

bool ending_sleep(unsigned timeout_ms)
{
	struct pollfd watch = {.fd = reported.signals, .events = POLLIN};

	poll(&watch, 1, (int)timeout_ms);
	look();
	return ending_is_set();
}
