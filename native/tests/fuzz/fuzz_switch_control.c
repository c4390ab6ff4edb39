/* SPDX-License-Identifier: Apache-2.0 */
/* A line that an XDP switch is asked over its socket. */
#define _GNU_SOURCE
#include "../../xdpswitch/control.c"

#include "fuzz.h"

const char *switch_program(void)
{
	return "fuzz";
}

int switch_replace(const char *program)
{
	PROMISED(strlen(program) < 16);
	return strcmp(program, "none") ? 0 : -ENOENT;
}

int switch_read(unsigned port, struct switch_counts *sum)
{
	PROMISED(port < SWITCH_PORTS);
	*sum = (struct switch_counts){~0ull, ~0ull};
	return 0;
}

int switch_measure(const char *program, unsigned repeat, unsigned size, struct switch_floor *floor)
{
	PROMISED(strlen(program) < 16);
	*floor = (struct switch_floor){repeat, size, ~0ull};
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct switch_options options = {.ports = SWITCH_PORTS};
	char request[64], text[LONGEST_ANSWER];
	int length;

	for (unsigned i = 0; i < SWITCH_PORTS; i++)
		options.port[i] = "fifteen-letters";
	if (size >= sizeof(request))
		size = sizeof(request) - 1;
	memcpy(request, data, size);
	request[size] = '\0';
	length = answer(text, request, &options);
	PROMISED(length > 0 && length < LONGEST_ANSWER && text[length - 1] == '\n');
	return 0;
}
