/* SPDX-License-Identifier: Apache-2.0 */
/* The bearers that a gateway was given; what moves its frames has them in a form of its own beside this. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gateway.h"

#define LONGEST_LINE 128
#define WORDS "%15s %10[0-9] %10[0-9] %c"

static int parse_teid(const char *text, uint32_t *teid)
{
	unsigned long long value;

	if (sscanf(text, "%llu", &value) != 1 || !value || value > UINT32_MAX)
		return -EINVAL;
	*teid = htonl((uint32_t)value);
	return 0;
}

int gateway_bearer_parse(const char *line, struct gateway_bearer *bearer)
{
	char ue[16], uplink[11], downlink[11], rest;
	struct in_addr address;

	if (sscanf(line, WORDS, ue, uplink, downlink, &rest) != 3 || inet_pton(AF_INET, ue, &address) != 1)
		return -EINVAL;
	bearer->ue = address.s_addr;
	if (parse_teid(uplink, &bearer->uplink) || parse_teid(downlink, &bearer->downlink))
		return -EINVAL;
	return 0;
}

int gateway_table_add(struct gateway_table *table, const struct gateway_bearer *bearer)
{
	for (unsigned i = 0; i < table->bearers; i++) {
		const struct gateway_bearer *other = &table->bearer[i];

		if (other->ue == bearer->ue || other->uplink == bearer->uplink || other->downlink == bearer->downlink)
			return -EEXIST;
	}
	if (table->bearers == GATEWAY_BEARERS)
		return -ENOSPC;
	table->bearer[table->bearers++] = *bearer;
	return 0;
}

int gateway_table_remove(struct gateway_table *table, uint32_t ue, struct gateway_bearer *removed)
{
	for (unsigned i = 0; i < table->bearers; i++) {
		if (table->bearer[i].ue != ue)
			continue;
		*removed = table->bearer[i];
		table->bearer[i] = table->bearer[--table->bearers];
		return 0;
	}
	return -ENOENT;
}

static int read_line(FILE *file, const char *path, unsigned number, struct gateway_table *table)
{
	struct gateway_bearer bearer;
	char line[LONGEST_LINE];
	int err;

	if (!fgets(line, sizeof(line), file))
		return ferror(file) ? -EIO : -ENODATA;
	if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#')
		return 0;
	err = strchr(line, '\n') || feof(file) ? gateway_bearer_parse(line, &bearer) : -EINVAL;
	if (!err)
		err = gateway_table_add(table, &bearer);
	if (err) {
		line[strcspn(line, "\r\n")] = '\0';
		for (char *at = line; *at; at++)
			*at = isprint((unsigned char)*at) ? *at : '?';
		fprintf(stderr,
			"%s, line %u: seen \"%s\"; right is UE UPLINK-TEID DOWNLINK-TEID, each once, in at most %u "
			"lines\n",
			path, number, line, GATEWAY_BEARERS);
	}
	return err;
}

int gateway_table_read(const char *path, struct gateway_table *table)
{
	FILE *file = fopen(path, "re");
	unsigned number = 1;
	int err = 0;

	if (!file) {
		err = -errno;
		fprintf(stderr, "--table: %s: %s\n", path, strerror(-err));
		return err;
	}
	while (!err)
		err = read_line(file, path, number++, table);
	fclose(file);
	if (err == -EIO)
		fprintf(stderr, "--table: %s: %s\n", path, strerror(EIO));
	return err == -ENODATA ? 0 : err;
}
