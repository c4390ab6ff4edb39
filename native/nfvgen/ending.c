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
} told = {.signals = -1};

void ending_watch(int signals)
{
	told.signals = signals;
	told.parent = getppid();
}

void ending_set(struct ending ending)
{
	if (!told.ending.reason)
		told.ending = ending;
}

bool ending_is_set(void)
{
	return told.ending.reason != NULL;
}

static void look(void)
{
	struct signalfd_siginfo info;

	if (ending_is_set())
		return;
	if (read(told.signals, &info, sizeof(info)) == sizeof(info))
		ending_set((struct ending){.reason = "signal",
			.signal = (int)info.ssi_signo,
			.status = info.ssi_signo == SIGINT ? EXIT_SIGINT : EXIT_ENDED});
	else if (getppid() != told.parent)
		ending_set((struct ending){.reason = "parent"});
}

bool ending_look(struct ending *ending)
{
	look();
	if (ending_is_set())
		*ending = told.ending;
	return ending_is_set();
}

bool ending_sleep(unsigned timeout_ms)
{
	struct pollfd watch = {.fd = told.signals, .events = POLLIN};

	poll(&watch, 1, (int)timeout_ms);
	look();
	return ending_is_set();
}
