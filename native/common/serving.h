/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that answer over a Unix socket until a signal comes begin with. */
#ifndef NFVBED_SERVING_H
#define NFVBED_SERVING_H

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Listens at a path, also where a killed program left its socket. Returns a descriptor or -errno. */
static inline int serving_listen(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (listening < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	unlink(path);
	if (!bind(listening, (struct sockaddr *)&address, sizeof(address)) && !listen(listening, 4))
		return listening;
	err = -errno;
	close(listening);
	return err;
}

/* Blocks SIGINT and SIGTERM, for this thread and those that it starts. Returns what tells of them, or -errno. */
static inline int serving_signals(void)
{
	sigset_t set;
	int signals;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	return signals < 0 ? -errno : signals;
}

#endif
