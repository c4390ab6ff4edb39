/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "switch.h"

#define PROGRAM "nfvbed-xdp-switch"

static int usage(FILE *stream)
{
	fprintf(stream,
		"usage: " PROGRAM " --socket PATH [--generic] --port NAME... --cable NAME:NAME... [--station MAC]...\n"
		"\n"
		"Redirects every frame to the port at the other end of its cable. A line on the socket is answered "
		"with one "
		"JSON document: counters; program NAME; floor NAME REPEAT BYTES.\n");
	return SWITCH_USAGE;
}

static int wrong(const char *option, const char *seen, const char *right)
{
	fprintf(stderr, PROGRAM ": --%s: seen \"%s\"; right is %s\n", option, seen, right);
	return SWITCH_USAGE;
}

/* Returns the place of a port, or the number of ports where there is none of that name. */
static unsigned find_port(const struct switch_options *options, const char *name, size_t length)
{
	unsigned at = 0;

	while (at < options->ports && (strlen(options->port[at]) != length || strncmp(options->port[at], name, length)))
		at++;
	return at;
}

static int add_port(struct switch_options *options, const char *name)
{
	if (options->ports == SWITCH_PORTS)
		return wrong("port", name, "at most 32 ports");
	if (!*name || strlen(name) >= IF_NAMESIZE || find_port(options, name, strlen(name)) < options->ports)
		return wrong("port", name, "an interface of this network namespace, once");
	options->port[options->ports++] = name;
	return 0;
}

static int add_cable(struct switch_options *options, const char *text)
{
	const char *colon = strchr(text, ':');
	struct switch_cable cable;

	if (options->cables == SWITCH_CABLES)
		return wrong("cable", text, "at most 64 cables");
	if (!colon)
		return wrong("cable", text, "NAME:NAME");
	cable.end[0] = find_port(options, text, (size_t)(colon - text));
	cable.end[1] = find_port(options, colon + 1, strlen(colon + 1));
	if (cable.end[0] == options->ports || cable.end[1] == options->ports || cable.end[0] == cable.end[1])
		return wrong("cable", text, "two ports that were named before");
	options->cable[options->cables++] = cable;
	return 0;
}

static int add_station(struct switch_options *options, const char *text)
{
	uint8_t *mac;
	char rest;

	if (options->stations == sizeof(options->station) / sizeof(*options->station))
		return wrong("station", text, "at most two stations");
	mac = (uint8_t *)&options->station[options->stations];
	if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4], &mac[5],
		    &rest) != 6)
		return wrong("station", text, "an address as 02:00:00:00:00:01");
	options->stations++;
	return 0;
}

static int set(int option, const char *value, struct switch_options *options)
{
	switch (option) {
	case 's':
		options->socket = value;
		if (*value && strlen(value) < sizeof(((struct sockaddr_un *)0)->sun_path))
			return 0;
		return wrong("socket", value, "a path of 1 to 107 bytes");
	case 'g':
		options->generic = true;
		return 0;
	case 'p':
		return add_port(options, value);
	case 'c':
		return add_cable(options, value);
	case 't':
		return add_station(options, value);
	case 'h':
		usage(stdout);
		return -1;
	default:
		return usage(stderr);
	}
}

int switch_options(int argc, char **argv, struct switch_options *options)
{
	static const struct option table[] = {
		{"socket", required_argument, NULL, 's'},
		{"generic", no_argument, NULL, 'g'},
		{"port", required_argument, NULL, 'p'},
		{"cable", required_argument, NULL, 'c'},
		{"station", required_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, status = 0;

	*options = (struct switch_options){0};
	optind = 0; /* restarts, whoever parsed before */
	while (!status && (option = getopt_long(argc, argv, "", table, NULL)) != -1)
		status = set(option, optarg, options);
	if (!status && (optind < argc || !options->socket || !options->ports || !options->cables))
		status = usage(stderr);
	return status;
}
