/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and ends the EAL, and keeps its messages: they are shown only inside an error text (or with NFVGEN_EAL_LOG=1).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "dpdk.h"

#define ARGUMENTS 32
#define REMOVE_TRIES 20
#define REMOVE_PAUSE_US 5000

static char last_log[160];
static bool verbose;

void failure_set(struct failure *why, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why->text, sizeof(why->text), format, arguments);
	va_end(arguments);
}

const char *dpdk_last_log(void)
{
	return last_log[0] ? last_log : "no message";
}

static ssize_t keep_log(void *cookie, const char *text, size_t length)
{
	size_t kept = length;

	(void)cookie;
	if (verbose && write(STDERR_FILENO, text, length) < 0)
		return (ssize_t)length;
	while (kept && (text[kept - 1] == '\n' || text[kept - 1] == ' '))
		kept--;
	if (kept)
		snprintf(last_log, sizeof(last_log), "%.*s", (int)kept, text);
	return (ssize_t)length;
}

static bool is_pci(const char *spec)
{
	return strncmp(spec, "pci:", 4) == 0;
}

static void keep_logs(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = keep_log});

	verbose = getenv("NFVGEN_EAL_LOG") != NULL;
	if (!stream)
		return;
	setvbuf(stream, NULL, _IOLBF, 0);
	rte_openlog_stream(stream);
}

static void name_prefix(const struct engine_options *options, char *prefix, size_t size)
{
	if (options->file_prefix)
		snprintf(prefix, size, "%s", options->file_prefix);
	else
		snprintf(prefix, size, "nfvgen-%ld", (long)getpid());
}

/* The EAL's locks and maps; hugetlbfs itself takes no plain files. */
static void name_runtime_directory(const struct engine_options *options, char *path, size_t size)
{
	const char *slash = strrchr(options->socket, '/');
	int length = slash ? (int)(slash - options->socket + 1) : 0;

	snprintf(path, size, "%.*s.nfvgen-%ld", length, options->socket, (long)getpid());
}

/* Without it the EAL would write below /var/run; with --in-memory it still makes its folders. */
static void set_runtime_directory(const struct engine_options *options)
{
	char path[160];

	name_runtime_directory(options, path, sizeof(path));
	mkdir(path, 0700);
	setenv("RUNTIME_DIRECTORY", path, 1);
}

static unsigned add_memory(const struct engine_options *options, char **argv, unsigned argc, char *prefix, size_t size)
{
	static char memory[16];

	snprintf(memory, sizeof(memory), "%u", options->memory_mib);
	if (options->no_huge) {
		argv[argc++] = (char *)"--no-huge";
		argv[argc++] = (char *)"-m";
		argv[argc++] = memory;
		return argc;
	}
	argv[argc++] = (char *)"--socket-mem";
	argv[argc++] = memory;
	argv[argc++] = (char *)"--single-file-segments";
	if (!options->hugepage_dir) {
		argv[argc++] = (char *)"--in-memory";
		return argc;
	}
	name_prefix(options, prefix, size);
	argv[argc++] = (char *)"--huge-dir";
	argv[argc++] = (char *)(uintptr_t)options->hugepage_dir;
	argv[argc++] = (char *)"--file-prefix";
	argv[argc++] = prefix;
	return argc;
}

static unsigned add_ports(const struct engine_options *options, char **argv, unsigned argc)
{
	static char devices[NFVGEN_PORTS][128];
	bool pci = false;

	for (unsigned i = 0; i < NFVGEN_PORTS; i++) {
		if (!is_pci(options->ports[i]))
			continue;
		snprintf(devices[i], sizeof(devices[i]), "%s", options->ports[i] + strlen("pci:"));
		/* What says which port of a device it is (port.c), the bus does not take. */
		if (strstr(devices[i], ",class="))
			*strstr(devices[i], ",class=") = '\0';
		argv[argc++] = (char *)"--allow";
		argv[argc++] = devices[i];
		pci = true;
	}
	if (!pci) {
		argv[argc++] = (char *)"--no-pci";
		argv[argc++] = (char *)"--iova-mode=va";
	}
	return argc;
}

/* The EAL leaves its hugepage files behind, and with them the pages. */
static void remove_huge_files(const char *directory, const char *prefix)
{
	DIR *folder = opendir(directory);
	struct dirent *entry;
	char path[512];
	size_t length = strlen(prefix);

	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		if (strncmp(entry->d_name, prefix, length) || strncmp(entry->d_name + length, "map_", 4))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		unlink(path);
	}
	closedir(folder);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
	(void)info;
	(void)kind;
	(void)place;
	remove(path);
	return 0;
}

/* Also after an EAL that did not start. */
static void remove_files(const struct engine_options *options)
{
	char prefix[64], path[160];

	if (options->hugepage_dir) {
		name_prefix(options, prefix, sizeof(prefix));
		remove_huge_files(options->hugepage_dir, prefix);
	}
	name_runtime_directory(options, path, sizeof(path));
	/* The first try left it there, empty, about once in fifteen ends; why is not known. */
	for (unsigned tries = 0; tries < REMOVE_TRIES && !access(path, F_OK); tries++) {
		if (tries)
			usleep(REMOVE_PAUSE_US);
		nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	}
}

static void name_lcores(const struct engine_options *options, char *text, size_t size)
{
	size_t used = 0;

	for (unsigned i = 0; i < options->core_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u@%d", i ? "," : "", i, options->cores[i]);
}

int dpdk_eal_open(const struct engine_options *options, struct failure *why)
{
	static char lcores[16 * NFVGEN_CORES], prefix[64];
	char *argv[ARGUMENTS] = {(char *)"nfvgen"};
	unsigned argc = 1;

	name_lcores(options, lcores, sizeof(lcores));
	argv[argc++] = (char *)"--lcores";
	argv[argc++] = lcores;
	argv[argc++] = (char *)"--no-telemetry";
	argc = add_memory(options, argv, argc, prefix, sizeof(prefix));
	argc = add_ports(options, argv, argc);
	keep_logs();
	set_runtime_directory(options);
	if (rte_eal_init((int)argc, argv) < 0) {
		failure_set(why,
			"the EAL did not start on %s (lcore@core) with %u MiB: %s (%s). Check these cores, and "
			"free_hugepages in /sys/kernel/mm/hugepages/hugepages-2048kB",
			lcores, options->memory_mib, rte_strerror(rte_errno), dpdk_last_log());
		remove_files(options);
		return -ENODEV;
	}
	return 0;
}

void dpdk_eal_close(const struct engine_options *options)
{
	rte_eal_cleanup();
	remove_files(options);
}
