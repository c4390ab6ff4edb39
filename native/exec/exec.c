/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start a program in a place: its control groups, its namespaces, its cores, its end tied to the caller's.
 * It exists so that nothing has to be started through a shell, and so that the child is in its place before its first
 * instruction: a process moved later has already allocated memory and started threads elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cores.h"

/* As env(1): the program was not found, could not be run, or never got its turn. */
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_RUN 126
#define EXIT_OWN 125

/* A hybrid host (version 1 and 2) has one group a controller. */
#define CGROUPS 8

struct place {
	const char *netns;
	const char *mountns;
	const char *root;
	const char *stdout_file;
	const char *cgroup[CGROUPS];
	unsigned cgroups;
	const char *cores;
	cpu_set_t core_set;
	bool die_with_parent;
	bool new_mount_ns;
};

/* Opened before any namespace is entered: every path is meant as the caller sees it. */
struct handles {
	int netns;
	int mountns;
	int stdout_file;
	int cgroup[CGROUPS];
};

static const char usage[] =
	"usage: nfvbed-exec [--netns PATH] [--mountns PATH] [--new-mount-ns] [--root DIR] [--cgroup DIR]...\n"
	"                   [--cores LIST] [--die-with-parent] [--stdout FILE] [--] PROGRAM [ARGUMENT]...\n"
	"\n"
	"  --netns PATH       enter this network namespace (/run/netns/NAME, /proc/PID/ns/net)\n"
	"  --mountns PATH     enter this mount namespace\n"
	"  --new-mount-ns     a mount namespace of its own; mounts made in it stay in it\n"
	"  --root DIR         see the programs and libraries in DIR alone, with this machine's /dev, /proc, /run and\n"
	"                     /sys, and a /tmp and a /var/run that end with the program; DIR has these folders\n"
	"  --cgroup DIR       enter this control group; may be given once a hierarchy\n"
	"  --cores LIST       run on these CPUs only, such as 1 or 0,2-3\n"
	"  --die-with-parent  be killed when the process that started this one ends\n"
	"  --stdout FILE      write standard output to FILE (created, or emptied)\n"
	"\n"
	"Exit status: the program's own; 127 when it is not found, 126 when it cannot be run, 125 when a place cannot "
	"be\n"
	"entered. Paths are those of the caller, whatever namespace is entered; with --root, PROGRAM's is one in "
	"DIR.\n";

__attribute__((format(printf, 1, 2))) static int own_failure(const char *format, ...)
{
	va_list arguments;

	fputs("nfvbed-exec: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return EXIT_OWN;
}

static int add_cgroup(struct place *place, const char *directory)
{
	if (place->cgroups == CGROUPS)
		return own_failure("--cgroup %s: at most %d groups can be given", directory, CGROUPS);
	place->cgroup[place->cgroups++] = directory;
	return 0;
}

static int set_cores(struct place *place, const char *list)
{
	int err = cores_parse(list, &place->core_set);

	if (err)
		return own_failure("--cores %s: not a list of CPUs below %d such as 1 or 0,2-3: %s", list, CPU_SETSIZE,
			strerror(-err));
	place->cores = list;
	return 0;
}

/* Returns 0, an exit status, or -1 after --help. */
static int parse(int argc, char **argv, struct place *place)
{
	enum { NETNS = 1, MOUNTNS, CGROUP, CORES, DIE, NEW_MOUNT, ROOT, STDOUT, HELP };
	static const struct option options[] = {
		{"netns", required_argument, NULL, NETNS},
		{"mountns", required_argument, NULL, MOUNTNS},
		{"cgroup", required_argument, NULL, CGROUP},
		{"cores", required_argument, NULL, CORES},
		{"die-with-parent", no_argument, NULL, DIE},
		{"new-mount-ns", no_argument, NULL, NEW_MOUNT},
		{"root", required_argument, NULL, ROOT},
		{"stdout", required_argument, NULL, STDOUT},
		{"help", no_argument, NULL, HELP},
		{NULL, 0, NULL, 0},
	};
	int option, err = 0;

	/* "+": the first word that is no option is the program; its options are its own. */
	while (!err && (option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (option) {
		case NETNS:
			place->netns = optarg;
			break;
		case MOUNTNS:
			place->mountns = optarg;
			break;
		case CGROUP:
			err = add_cgroup(place, optarg);
			break;
		case CORES:
			err = set_cores(place, optarg);
			break;
		case DIE:
			place->die_with_parent = true;
			break;
		case NEW_MOUNT:
			place->new_mount_ns = true;
			break;
		case ROOT:
			place->root = optarg;
			place->new_mount_ns = true;
			break;
		case STDOUT:
			place->stdout_file = optarg;
			break;
		case HELP:
			fputs(usage, stdout);
			return -1;
		default:
			err = EXIT_OWN;
			break;
		}
	}
	if (!err && optind >= argc)
		err = own_failure("no program was given; see --help");
	return err;
}

static int open_path(const char *option, const char *path, int flags, int *handle)
{
	*handle = -1;
	if (!path)
		return 0;
	*handle = open(path, flags | O_CLOEXEC, 0644);
	if (*handle < 0)
		return own_failure("%s %s: cannot open: %s", option, path, strerror(errno));
	return 0;
}

static int open_cgroup(const char *directory, int *handle)
{
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s/cgroup.procs", directory);

	if (length < 0 || (size_t)length >= sizeof(path))
		return own_failure("--cgroup %s: cannot open: %s", directory, strerror(ENAMETOOLONG));
	return open_path("--cgroup", path, O_WRONLY, handle);
}

static int open_all(const struct place *place, struct handles *handles)
{
	int err = open_path("--netns", place->netns, O_RDONLY, &handles->netns);

	if (!err)
		err = open_path("--mountns", place->mountns, O_RDONLY, &handles->mountns);
	for (unsigned i = 0; !err && i < place->cgroups; i++)
		err = open_cgroup(place->cgroup[i], &handles->cgroup[i]);
	if (!err)
		err = open_path("--stdout", place->stdout_file, O_WRONLY | O_CREAT | O_TRUNC, &handles->stdout_file);
	return err;
}

/* Cores come after the groups: entering a cpuset resets the affinity to the whole set. */
static int enter_groups_and_cores(const struct place *place, const struct handles *handles)
{
	for (unsigned i = 0; i < place->cgroups; i++)
		if (dprintf(handles->cgroup[i], "%d", getpid()) < 0)
			return own_failure("--cgroup %s: cannot enter: %s", place->cgroup[i], strerror(errno));
	if (place->cores && sched_setaffinity(0, sizeof(place->core_set), &place->core_set))
		return own_failure("--cores %s: cannot run there: %s", place->cores, strerror(errno));
	return 0;
}

static int enter_namespaces(const struct place *place, const struct handles *handles)
{
	if (place->netns && setns(handles->netns, CLONE_NEWNET))
		return own_failure("--netns %s: cannot enter: %s", place->netns, strerror(errno));
	if (place->mountns && setns(handles->mountns, CLONE_NEWNS))
		return own_failure("--mountns %s: cannot enter: %s", place->mountns, strerror(errno));
	if (place->new_mount_ns && unshare(CLONE_NEWNS))
		return own_failure("--new-mount-ns: cannot leave the old one: %s", strerror(errno));
	/* A copy of a shared mount is shared too: without this, mounts made inside would appear outside. */
	if (place->new_mount_ns && mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL))
		return own_failure("--new-mount-ns: cannot detach / from its peers: %s", strerror(errno));
	return 0;
}

/* The mounts end with the namespace, which is the program's own. */
static int enter_root(const char *root)
{
	static const char *const shared[] = {"/dev", "/proc", "/run", "/sys"};
	static const char *const own[] = {"tmp", "var/run"};

	/* Relative to it from here on: its path is the caller's, and may lie below one of those. */
	if (chdir(root))
		return own_failure("--root %s: cannot enter: %s", root, strerror(errno));
	for (unsigned i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (mount(shared[i], shared[i] + 1, NULL, MS_BIND | MS_REC, NULL))
			return own_failure("--root %s: cannot have %s in it: %s", root, shared[i], strerror(errno));
	for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (mount("tmpfs", own[i], "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"))
			return own_failure("--root %s: cannot have its own /%s: %s", root, own[i], strerror(errno));
	if (chroot(".") || chdir("/"))
		return own_failure("--root %s: cannot enter: %s", root, strerror(errno));
	return 0;
}

static int tie_to_parent(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return own_failure("--die-with-parent: prctl: %s", strerror(errno));
	/* The signal is sent when the parent ends from now on; a parent that ended just before sends none. */
	if (getppid() != parent)
		return own_failure("--die-with-parent: the parent (process %d) has ended already", (int)parent);
	return 0;
}

int main(int argc, char **argv)
{
	pid_t parent = getppid();
	struct place place = {0};
	struct handles handles;
	int status = parse(argc, argv, &place);

	if (status)
		return status < 0 ? EXIT_SUCCESS : status;
	status = open_all(&place, &handles);
	if (!status)
		status = enter_groups_and_cores(&place, &handles);
	if (!status)
		status = enter_namespaces(&place, &handles);
	if (!status && place.root)
		status = enter_root(place.root);
	if (!status && place.die_with_parent)
		status = tie_to_parent(parent);
	if (!status && place.stdout_file && dup2(handles.stdout_file, STDOUT_FILENO) < 0)
		status = own_failure("--stdout %s: %s", place.stdout_file, strerror(errno));
	if (status)
		return status;
	execvp(argv[optind], &argv[optind]);
	status = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
	own_failure("%s: cannot run: %s", argv[optind], strerror(errno));
	return status;
}
