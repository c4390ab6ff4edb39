/* SPDX-License-Identifier: Apache-2.0 */
#include "forwarder.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int usage(const char *program, FILE *stream)
{
	fprintf(stream,
		"usage: %s --socket PATH --port NAME --port NAME [--burst 32] [--descriptors 512] [--retry]\n"
		"\n"
		"Forwards every frame from either port to the other one. Each connection to the socket is answered "
		"with the counters of both as one JSON document.\n",
		program);
	return FORWARDER_USAGE;
}

static int wrong(const char *program, const char *option, const char *seen, const char *right)
{
	fprintf(stderr, "%s: --%s: seen \"%s\"; right is %s\n", program, option, seen, right);
	return FORWARDER_USAGE;
}

static int add_port(const char *program, struct forwarder_options *options, const char *name)
{
	unsigned at = options->port[0] ? 1 : 0;

	if (options->port[1])
		return wrong(program, "port", name, "exactly two ports");
	options->port[at] = name;
	options->ifindex[at] = strlen(name) < IF_NAMESIZE ? if_nametoindex(name) : 0;
	if (!options->ifindex[at])
		return wrong(program, "port", name, "an interface of this network namespace");
	if (at && options->ifindex[0] == options->ifindex[1])
		return wrong(program, "port", name, "another interface than the first");
	return 0;
}

static int set_number(const char *program, const char *option, unsigned most, unsigned *value)
{
	char *end, right[48];
	unsigned long parsed = strtoul(optarg, &end, 10);

	snprintf(right, sizeof(right), "a number from 1 to %u", most);
	if (!*optarg || *end || !parsed || parsed > most)
		return wrong(program, option, optarg, right);
	*value = (unsigned)parsed;
	return 0;
}

static int set(const char *program, int option, struct forwarder_options *options)
{
	switch (option) {
	case 's':
		options->socket = optarg;
		if (*optarg && strlen(optarg) < sizeof(((struct sockaddr_un *)0)->sun_path))
			return 0;
		return wrong(program, "socket", optarg, "a path of 1 to 107 bytes");
	case 'p':
		return add_port(program, options, optarg);
	case 'b':
		return set_number(program, "burst", 512, &options->burst);
	case 'd':
		return set_number(program, "descriptors", 65536, &options->descriptors);
	case 'r':
		options->retry = true;
		return 0;
	case 'h':
		usage(program, stdout);
		return -1;
	default:
		return usage(program, stderr);
	}
}

int forwarder_options(int argc, char **argv, const char *program, struct forwarder_options *options)
{
	static const struct option table[] = {
		{"socket", required_argument, NULL, 's'},
		{"port", required_argument, NULL, 'p'},
		{"burst", required_argument, NULL, 'b'},
		{"descriptors", required_argument, NULL, 'd'},
		{"retry", no_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, status = 0;

	*options = (struct forwarder_options){.burst = 32, .descriptors = 512};
	while (!status && (option = getopt_long(argc, argv, "", table, NULL)) != -1)
		status = set(program, option, options);
	if (!status && (optind < argc || !options->socket || !options->port[1]))
		status = usage(program, stderr);
	return status;
}

int forwarder_signals(void)
{
	sigset_t set;
	int signals;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	return signals < 0 ? -errno : signals;
}

static int listen_on(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (listening < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (!bind(listening, (struct sockaddr *)&address, sizeof(address)) && !listen(listening, 4))
		return listening;
	err = -errno;
	close(listening);
	return err;
}

static int print_count(char *text, size_t room, const char *name, int64_t value)
{
	return value < 0 ? 0 : snprintf(text, room, ", \"%s\": %lld", name, (long long)value);
}

static void answer(int client, const struct forwarder_options *options, forwarder_read read_counts)
{
	struct forwarder_counts counts[FORWARDER_PORTS] = {0};
	char text[1024];
	int length = snprintf(text, sizeof(text), "{\"ports\": [");

	read_counts(counts);
	/* A name is at most 15 bytes and a count 20 digits: all of it fits. */
	for (unsigned i = 0; i < FORWARDER_PORTS; i++) {
		const struct {
			const char *name;
			int64_t value;
		} fields[] = {
			{"rx_packets", counts[i].rx_packets},
			{"tx_packets", counts[i].tx_packets},
			{"rx_dropped", counts[i].rx_dropped},
			{"tx_dropped", counts[i].tx_dropped},
		};

		length += snprintf(text + length, sizeof(text) - (size_t)length, "%s{\"name\": \"%s\"", i ? ", " : "",
			options->port[i]);
		for (unsigned field = 0; field < sizeof(fields) / sizeof(*fields); field++)
			length += print_count(
				text + length, sizeof(text) - (size_t)length, fields[field].name, fields[field].value);
		length += snprintf(text + length, sizeof(text) - (size_t)length, "}");
	}
	length += snprintf(text + length, sizeof(text) - (size_t)length, "]}\n");
	/* Who asks and does not read has nothing to complain of. */
	if (send(client, text, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

int forwarder_serve(const struct forwarder_options *options, int signals, int failed, forwarder_read read_counts)
{
	int listening = listen_on(options->socket), status = FORWARDER_ENDED;
	struct pollfd watched[] = {{.fd = listening, .events = POLLIN}, {.fd = signals, .events = POLLIN},
		{.fd = failed, .events = POLLIN}};

	if (listening < 0) {
		fprintf(stderr, "--socket: \"%s\" cannot be made: %s\n", options->socket, strerror(-listening));
		return FORWARDER_FAILED;
	}
	while (true) {
		if (poll(watched, 3, -1) < 0 && errno != EINTR)
			status = FORWARDER_FAILED;
		if (watched[2].revents)
			status = FORWARDER_FAILED;
		if (status || watched[1].revents)
			break;
		if (watched[0].revents) {
			int client = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

			if (client >= 0) {
				answer(client, options, read_counts);
				close(client);
			}
		}
	}
	close(listening);
	unlink(options->socket);
	return status;
}
