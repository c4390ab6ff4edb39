/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "gateway.h"

#define MOST_CORES 1024
#define MEMORY_MIB 128
#define MTU 1964 /* what fits into a buffer of DPDK's usual size with the tunnel's headers */

/* Long options by what follows them; the poll loop's come last. */
enum option_of {
	SOCKET = 's',
	TABLE = 't',
	S1U = 'u',
	SGI = 'g',
	S1U_ADDRESS = 'U',
	SGI_ADDRESS = 'G',
	ENB = 'e',
	NEXT_HOP = 'n',
	NO_OUTER_CHECKSUM = 'c',
	HELP = 'h',
	CORE = 1000,
	MEMORY,
	PREFIX,
	HUGEPAGES,
	NO_HUGE,
	YIELD,
	PORT_MTU,
	S1U_MAC,
	SGI_MAC,
};

static int usage(const struct gateway_backend *backend, FILE *stream)
{
	fprintf(stream,
		"usage: %s --socket PATH --s1u PORT --sgi PORT --s1u-address IP --sgi-address IP\n"
		"       --enb IP[,MAC] --next-hop IP[,MAC] [--table FILE] [--no-outer-checksum]\n%s"
		"\n"
		"Carries bearers between an eNB on S1-U (GTP-U) and SGi. A line on the socket is answered with one "
		"JSON "
		"document:\ncounters; add UE UPLINK-TEID DOWNLINK-TEID; remove UE. The table's file has a line of "
		"these "
		"three for each bearer.\nMAC addresses that are not given are asked for by ARP.\n",
		backend->program,
		backend->polls ? "       [--s1u-mac MAC] [--sgi-mac MAC] [--core 0] [--memory-mib 128] [--mtu 1964] "
				 "[--file-prefix NAME] "
				 "[--hugepage-dir DIR | "
				 "--no-huge] [--yield]\n"
			       : "");
	return GATEWAY_USAGE;
}

static int wrong(const struct gateway_backend *backend, const char *option, const char *seen, const char *right)
{
	fprintf(stderr, "%s: --%s: seen \"%s\"; right is %s\n", backend->program, option, seen, right);
	return GATEWAY_USAGE;
}

static int parse_mac(const char *text, gateway_mac *mac)
{
	uint8_t *byte = (uint8_t *)mac;
	char rest;

	*mac = 0;
	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &byte[0], &byte[1], &byte[2], &byte[3], &byte[4],
		       &byte[5], &rest) == 6 &&
			       *mac && !(byte[0] & 1)
		       ? 0
		       : -1;
}

static int parse_address(const char *text, size_t length, __u32 *address)
{
	char copy[INET_ADDRSTRLEN];
	struct in_addr found;

	if (length >= sizeof(copy))
		return -1;
	memcpy(copy, text, length);
	copy[length] = '\0';
	if (inet_pton(AF_INET, copy, &found) != 1 || !found.s_addr)
		return -1;
	*address = found.s_addr;
	return 0;
}

/* "IP" or "IP,MAC". */
static int set_neighbour(struct gateway_options *options, enum gateway_port port, const char *text)
{
	struct gateway_side *side = &options->config.side[port];
	size_t length = strcspn(text, ",");

	if (parse_address(text, length, &side->neighbour))
		return -1;
	side->neighbour_given = text[length] == ',';
	return side->neighbour_given ? parse_mac(text + length + 1, &options->neighbour[port]) : 0;
}

static int set_number(const char *text, unsigned least, unsigned most, unsigned *value)
{
	char *end;
	unsigned long parsed = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || parsed < least || parsed > most)
		return -1;
	*value = (unsigned)parsed;
	return 0;
}

static int set_address(struct gateway_options *options, enum gateway_port port, const char *text)
{
	return parse_address(text, strlen(text), &options->config.side[port].address);
}

/* Options of the poll loop. Returns 0, or -1 with what would be right. */
static int set_polling(int option, const char *value, struct gateway_options *options, const char **right)
{
	switch (option) {
	case CORE:
		*right = "the number of a core";
		return set_number(value, 0, MOST_CORES - 1, &options->core);
	case MEMORY:
		*right = "a number from 16 to 65536";
		return set_number(value, 16, 65536, &options->memory_mib);
	case PORT_MTU:
		*right = "a number from 1280 to 1964";
		return set_number(value, 1280, MTU, &options->mtu);
	case S1U_MAC:
	case SGI_MAC:
		*right = "a MAC address of one station: 02:00:00:00:00:01";
		return parse_mac(value, &options->mac[option == SGI_MAC]);
	case PREFIX:
		options->file_prefix = value;
		return 0;
	case HUGEPAGES:
		options->hugepages = value;
		return 0;
	case NO_HUGE:
		options->no_huge = true;
		return 0;
	default:
		options->yield = true;
		return 0;
	}
}

/* Returns 0, or -1 with what would be right. */
static int set(int option, const char *value, struct gateway_options *options, const char **right)
{
	switch (option) {
	case SOCKET:
		*right = "a path of 1 to 107 bytes";
		options->socket = value;
		return *value && strlen(value) < sizeof(((struct sockaddr_un *)0)->sun_path) ? 0 : -1;
	case TABLE:
		options->table = value;
		return 0;
	case S1U:
	case SGI:
		*right = "a port";
		options->port[option == SGI] = value;
		return *value ? 0 : -1;
	case S1U_ADDRESS:
	case SGI_ADDRESS:
		*right = "an IPv4 address";
		return set_address(options, option == SGI_ADDRESS, value);
	case ENB:
	case NEXT_HOP:
		*right = "an IPv4 address, alone or with a MAC address: 192.0.2.1,02:00:00:00:00:01";
		return set_neighbour(options, option == NEXT_HOP, value);
	case NO_OUTER_CHECKSUM:
		options->config.no_outer_checksum = 1;
		return 0;
	default:
		return set_polling(option, value, options, right);
	}
}

static const char *name_of(const struct option *table, int option)
{
	while (table->val != option)
		table++;
	return table->name;
}

static bool is_whole(const struct gateway_options *options)
{
	for (unsigned i = 0; i < GATEWAY_PORTS; i++)
		if (!options->port[i] || !options->config.side[i].address || !options->config.side[i].neighbour)
			return false;
	return options->socket;
}

int gateway_options(int argc, char **argv, const struct gateway_backend *backend, struct gateway_options *options)
{
	static const struct option table[] = {
		{"socket", required_argument, NULL, SOCKET},
		{"table", required_argument, NULL, TABLE},
		{"s1u", required_argument, NULL, S1U},
		{"sgi", required_argument, NULL, SGI},
		{"s1u-address", required_argument, NULL, S1U_ADDRESS},
		{"sgi-address", required_argument, NULL, SGI_ADDRESS},
		{"enb", required_argument, NULL, ENB},
		{"next-hop", required_argument, NULL, NEXT_HOP},
		{"no-outer-checksum", no_argument, NULL, NO_OUTER_CHECKSUM},
		{"help", no_argument, NULL, HELP},
		{"core", required_argument, NULL, CORE},
		{"memory-mib", required_argument, NULL, MEMORY},
		{"mtu", required_argument, NULL, PORT_MTU},
		{"s1u-mac", required_argument, NULL, S1U_MAC},
		{"sgi-mac", required_argument, NULL, SGI_MAC},
		{"file-prefix", required_argument, NULL, PREFIX},
		{"hugepage-dir", required_argument, NULL, HUGEPAGES},
		{"no-huge", no_argument, NULL, NO_HUGE},
		{"yield", no_argument, NULL, YIELD},
		{NULL, 0, NULL, 0},
	};
	const char *right = NULL;
	int option;

	*options = (struct gateway_options){.memory_mib = MEMORY_MIB, .mtu = MTU};
	optind = 0; /* restarts, whoever parsed before */
	while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (option == HELP) {
			usage(backend, stdout);
			return -1;
		}
		if (option == '?' || (option >= CORE && !backend->polls))
			return usage(backend, stderr);
		if (set(option, optarg, options, &right))
			return wrong(backend, name_of(table, option), optarg, right);
	}
	return optind < argc || !is_whole(options) ? usage(backend, stderr) : 0;
}
