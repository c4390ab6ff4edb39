/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that a gateway is asked over its socket, and that its file of bearers has. */
#define _GNU_SOURCE
#include "../../gateway/control.c"

#include "fuzz.h"

static int take(const struct gateway_bearer *bearer)
{
	PROMISED(bearer->uplink && bearer->downlink);
	return 0;
}

static int give(enum gateway_port port, struct gateway_counts *sum, gateway_mac *neighbour)
{
	*sum = (struct gateway_counts){{~0ull, ~0ull}};
	*neighbour = port ? 0 : 1;
	return 0;
}

static int send_question(enum gateway_port port, const uint8_t *frame, unsigned length)
{
	(void)port;
	(void)frame;
	(void)length;
	return 0;
}

static int never(void)
{
	return -1;
}

const struct gateway_backend gateway_backend = {
	.name = "fuzz", .add = take, .remove = take, .read = give, .ask = send_question, .failed = never};

/* Each line is a request as serve() makes one of what it has received. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gateway_table table;

	table.bearers = 0;
	for (size_t at = 0; at < size;) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t length = (end ? (size_t)(end - data) : size) - at;
		struct answer answer = {.length = 0};
		char request[LONGEST_REQUEST];

		if (length >= sizeof(request))
			length = sizeof(request) - 1;
		memcpy(request, data + at, length);
		request[length] = '\0';
		answer_line(&answer, request, &table);
		PROMISED(answer.length < sizeof(answer.text) && answer.text[answer.length - 1] == '\n');
		PROMISED(table.bearers <= GATEWAY_BEARERS);
		at += length + 1;
	}
	return 0;
}
