/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <getopt.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enb.h"

static const struct option table[] = {
	{"tun", required_argument, NULL, 't'},
	{"netns", required_argument, NULL, 'n'},
	{"address", required_argument, NULL, 'a'},
	{"gateway", required_argument, NULL, 'g'},
	{"uplink-teid", required_argument, NULL, 'u'},
	{"downlink-teid", required_argument, NULL, 'd'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void usage(FILE *stream)
{
	fprintf(stream,
		"usage: " ENB_PROGRAM " --tun NAME --netns PATH --address IP --gateway IP\n"
		"       --uplink-teid NUMBER --downlink-teid NUMBER\n\n"
		"The user plane of an eNB with one UE: what the UE's tun device sends goes to the serving gateway in "
		"GTP-U, and\nwhat comes from there goes into the device. On SIGTERM or SIGINT it writes what it has "
		"counted, and ends.\n");
}

static int parse_address(const char *text, uint32_t *address)
{
	struct in_addr found;

	if (inet_pton(AF_INET, text, &found) != 1 || !found.s_addr)
		return -1;
	*address = found.s_addr;
	return 0;
}

static int parse_teid(const char *text, uint32_t *teid)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !value || value > UINT32_MAX)
		return -1;
	*teid = htonl((uint32_t)value);
	return 0;
}

/* Returns 0, or -1 with what would be right. */
static int set(int option, const char *value, struct enb_options *options, const char **right)
{
	switch (option) {
	case 't':
		*right = "the name of a device, of 1 to 15 bytes";
		options->tun = value;
		return *value && strlen(value) < IFNAMSIZ ? 0 : -1;
	case 'n':
		*right = "the path of a network namespace";
		options->netns = value;
		return *value ? 0 : -1;
	case 'a':
	case 'g':
		*right = "an IPv4 address";
		return parse_address(value, option == 'a' ? &options->address : &options->gateway);
	default:
		*right = "a number from 1 to 4294967295";
		return parse_teid(value, option == 'u' ? &options->uplink_teid : &options->downlink_teid);
	}
}

/* Returns 0; 1 where all has been said (--help); -ENB_USAGE. */
int enb_options(int argc, char **argv, struct enb_options *options)
{
	const char *right = NULL;
	int option, index = 0;

	while ((option = getopt_long(argc, argv, "h", table, &index)) != -1) {
		if (option == 'h') {
			usage(stdout);
			return 1;
		}
		if (option == '?')
			return -ENB_USAGE;
		if (set(option, optarg, options, &right)) {
			fprintf(stderr, ENB_PROGRAM ": --%s: seen \"%s\"; right is %s\n", table[index].name, optarg,
				right);
			return -ENB_USAGE;
		}
	}
	if (optind == argc && options->tun && options->netns && options->address && options->gateway &&
		options->uplink_teid && options->downlink_teid)
		return 0;
	fprintf(stderr, ENB_PROGRAM ": every option must be given, and nothing else\n");
	usage(stderr);
	return -ENB_USAGE;
}
