/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receive work of the ports on a core of its own: threaded NAPI, and its threads pinned. sysfs shows the network
 * namespace in which it was mounted, so a private instance is opened here, without mounting it anywhere.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "xdp.h"

static struct {
	int sysfs;
	bool changed[XDP_PORTS];
	char name[XDP_PORTS][IF_NAMESIZE];
} napi = {.sysfs = -1};

static int open_sysfs(void)
{
	int context = fsopen("sysfs", FSOPEN_CLOEXEC), mount = -1;

	if (context < 0)
		return -errno;
	if (!fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = fsmount(context, FSMOUNT_CLOEXEC, 0);
	if (mount < 0)
		mount = -errno;
	close(context);
	return mount;
}

/* Writes `value` and returns the former one, or a negative errno. */
static int set_threaded(const char *name, char value)
{
	char path[64], old = 0;
	int file, err = 0;

	snprintf(path, sizeof(path), "class/net/%s/threaded", name);
	file = openat(napi.sysfs, path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return -errno;
	if (read(file, &old, 1) != 1 || (old != value && pwrite(file, &value, 1, 0) != 1))
		err = errno ? -errno : -EIO;
	close(file);
	return err ? err : old;
}

/* The threads are called napi/INTERFACE-NUMBER; returns how many there are, and lists those that fit. */
static unsigned find_threads(const char *name, pid_t found[XDP_NAPI_THREADS])
{
	char path[64], comm[64], prefix[32];
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	unsigned count = 0;
	FILE *file;

	if (!processes)
		return 0;
	snprintf(prefix, sizeof(prefix), "napi/%s-", name);
	while ((entry = readdir(processes)) && count < XDP_NAPI_THREADS) {
		if (!atoi(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(comm, sizeof(comm), file) && !strncmp(comm, prefix, strlen(prefix)))
			found[count++] = (pid_t)atoi(entry->d_name);
		fclose(file);
	}
	closedir(processes);
	return count;
}

/* A port of the same name in another namespace has threads of the same name: those that were there before are its. */
static bool was_there(pid_t thread, const pid_t *before, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (before[i] == thread)
			return true;
	return false;
}

static int pin_threads(const char *name, int core, const pid_t *before, unsigned before_count)
{
	pid_t threads[XDP_NAPI_THREADS];
	unsigned count = find_threads(name, threads), pinned = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)core, &set);
	for (unsigned i = 0; i < count; i++) {
		if (was_there(threads[i], before, before_count))
			continue;
		if (sched_setaffinity(threads[i], sizeof(set), &set))
			return -errno;
		pinned++;
	}
	return pinned ? 0 : -ESRCH;
}

static int pin_port(unsigned i, const char *name, int core, struct failure *why)
{
	pid_t before[XDP_NAPI_THREADS];
	unsigned count = find_threads(name, before);
	int was = set_threaded(name, '1'), err;

	if (was < 0)
		return xdp_fail(why, was, "--sink-core: port %s: threaded NAPI refused: %s", name, strerror(-was));
	napi.changed[i] = was == '0';
	snprintf(napi.name[i], sizeof(napi.name[i]), "%s", name);
	err = pin_threads(name, core, before, was == '0' ? count : 0);
	if (err)
		return xdp_fail(why, err,
			"--sink-core: port %s: its threads napi/%s-* cannot be pinned to core %d: %s (they are seen in "
			"the initial "
			"process namespace only)",
			name, name, core, strerror(-err));
	return 0;
}

int xdp_napi_pin(const struct xdp_port ports[XDP_PORTS], int core, struct failure *why)
{
	int err = 0;

	napi.sysfs = open_sysfs();
	if (napi.sysfs < 0)
		return xdp_fail(
			why, napi.sysfs, "--sink-core: sysfs of this network namespace: %s", strerror(-napi.sysfs));
	for (unsigned i = 0; i < XDP_PORTS && !err; i++)
		err = pin_port(i, ports[i].name, core, why);
	return err;
}

void xdp_napi_restore(void)
{
	for (unsigned i = 0; i < XDP_PORTS; i++) {
		if (napi.changed[i])
			set_threaded(napi.name[i], '0');
		napi.changed[i] = false;
	}
	if (napi.sysfs >= 0)
		close(napi.sysfs);
	napi.sysfs = -1;
}
