/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "serving.h"
#include "switch.h"

#define PATIENCE_S 1
#define LONGEST_ANSWER 8192

static int print_error(char *text, int err)
{
	return snprintf(text, LONGEST_ANSWER, "{\"error\": \"%s\"}\n", strerror(-err));
}

/* A name is at most 15 bytes and a count 20 digits: all ports fit. */
static int print_counters(char *text, const struct switch_options *options)
{
	int length = snprintf(text, LONGEST_ANSWER, "{\"program\": \"%s\", \"ports\": [", switch_program());

	for (unsigned i = 0; i < options->ports; i++) {
		struct switch_counts counts;
		int err = switch_read(i, &counts);

		if (err)
			return print_error(text, err);
		length += snprintf(text + length, LONGEST_ANSWER - (size_t)length,
			"%s{\"name\": \"%s\", \"received\": %llu, \"no_way\": %llu}", i ? ", " : "", options->port[i],
			counts.received, counts.no_way);
	}
	return length + snprintf(text + length, LONGEST_ANSWER - (size_t)length, "]}\n");
}

static int print_floor(char *text, const char *program, unsigned repeat, unsigned size)
{
	struct switch_floor floor;
	int err = switch_measure(program, repeat, size, &floor);

	if (err)
		return print_error(text, err);
	return snprintf(text, LONGEST_ANSWER,
		"{\"verdict\": %u, \"duration_ns\": %u, \"cpu_ns\": %llu, \"repeat\": %u}\n", floor.verdict,
		floor.duration_ns, (unsigned long long)floor.cpu_ns, repeat);
}

static int answer(char *text, const char *request, const struct switch_options *options)
{
	unsigned repeat, size;
	char name[16];
	int err;

	if (!strcmp(request, "counters"))
		return print_counters(text, options);
	if (sscanf(request, "floor %15s %u %u", name, &repeat, &size) == 3)
		return print_floor(text, name, repeat, size);
	if (sscanf(request, "program %15s", name) != 1)
		return print_error(text, -EINVAL);
	err = switch_replace(name);
	return err ? print_error(text, err) : print_counters(text, options);
}

/* One line, one answer. Who asks and does not read has nothing to complain of. */
static void serve(int client, const struct switch_options *options)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	char request[64], text[LONGEST_ANSWER];
	ssize_t length;

	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	length = recv(client, request, sizeof(request) - 1, 0);
	if (length <= 0)
		return;
	request[length] = '\0';
	request[strcspn(request, "\n")] = '\0';
	length = answer(text, request, options);
	if (send(client, text, (size_t)length, MSG_NOSIGNAL) < 0)
		return;
}

int switch_serve(const struct switch_options *options, int signals)
{
	int listening = serving_listen(options->socket), status = SWITCH_ENDED;
	struct pollfd watched[] = {{.fd = listening, .events = POLLIN}, {.fd = signals, .events = POLLIN}};

	if (listening < 0) {
		fprintf(stderr, "--socket: \"%s\" cannot be made: %s\n", options->socket, strerror(-listening));
		return SWITCH_FAILED;
	}
	while (true) {
		int client;

		if (poll(watched, 2, -1) < 0 && errno != EINTR) {
			status = SWITCH_FAILED;
			break;
		}
		if (watched[1].revents)
			break;
		client = watched[0].revents ? accept4(listening, NULL, NULL, SOCK_CLOEXEC) : -1;
		if (client >= 0) {
			serve(client, options);
			close(client);
		}
	}
	close(listening);
	unlink(options->socket);
	return status;
}
