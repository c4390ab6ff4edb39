/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "gateway.h"
#include "gateway_headers.h"
#include "serving.h"

#define PATIENCE_S 1
#define ASK_MS 200 /* between two questions for a neighbour that has not answered */
#define LONGEST_ANSWER 4096
#define LONGEST_REQUEST 128

struct answer {
	char text[LONGEST_ANSWER];
	size_t length;
};

static const char *const names[GATEWAY_COUNTS] = {
	[GATEWAY_RECEIVED] = "received",
	[GATEWAY_FORWARDED] = "forwarded",
	[GATEWAY_ARP] = "arp",
	[GATEWAY_ECHO] = "echo",
	[GATEWAY_FOREIGN] = "foreign",
	[GATEWAY_NOT_IPV4] = "not_ipv4",
	[GATEWAY_NOT_GTPU] = "not_gtpu",
	[GATEWAY_EXTENSION] = "extension",
	[GATEWAY_UNKNOWN_TEID] = "unknown_teid",
	[GATEWAY_UNKNOWN_UE] = "unknown_ue",
	[GATEWAY_WRONG_SOURCE] = "wrong_source",
	[GATEWAY_TTL_EXPIRED] = "ttl_expired",
	[GATEWAY_MALFORMED] = "malformed",
	[GATEWAY_FRAGMENTS] = "fragments",
	[GATEWAY_TOO_BIG] = "too_big",
	[GATEWAY_NO_NEIGHBOUR] = "no_neighbour",
	[GATEWAY_NOT_SENT] = "not_sent",
};

/* All counters of both ports take less than half of the room. */
__attribute__((format(printf, 2, 3))) static void put(struct answer *answer, const char *format, ...)
{
	size_t room = sizeof(answer->text) - answer->length;
	va_list arguments;
	int written;

	va_start(arguments, format);
	written = vsnprintf(answer->text + answer->length, room, format, arguments);
	va_end(arguments);
	if (written > 0)
		answer->length += (size_t)written < room ? (size_t)written : room - 1;
}

static void put_error(struct answer *answer, int err)
{
	answer->length = 0;
	put(answer, "{\"error\": \"%s\"}\n", strerror(-err));
}

static int put_port(struct answer *answer, enum gateway_port port)
{
	struct gateway_counts counts;
	gateway_mac neighbour;
	const uint8_t *mac = (const uint8_t *)&neighbour;
	int err = gateway_backend.read(port, &counts, &neighbour);

	if (err)
		return err;
	put(answer, "%s{\"name\": \"%s\", \"neighbour\": ", port ? ", " : "", port ? "sgi" : "s1u");
	if (neighbour)
		put(answer, "\"%02x:%02x:%02x:%02x:%02x:%02x\"", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	else
		put(answer, "null");
	for (unsigned i = 0; i < GATEWAY_COUNTS; i++)
		put(answer, ", \"%s\": %llu", names[i], counts.count[i]);
	put(answer, "}");
	return 0;
}

static int put_state(struct answer *answer, const struct gateway_table *table)
{
	int err = 0;

	put(answer, "{\"gateway\": \"%s\", \"bearers\": %u, ", gateway_backend.name, table->bearers);
	if (gateway_backend.busy)
		put(answer, "\"busy_cycles\": %llu, ", (unsigned long long)gateway_backend.busy());
	put(answer, "\"ports\": [");
	for (enum gateway_port port = 0; port < GATEWAY_PORTS && !err; port++)
		err = put_port(answer, port);
	put(answer, "]}\n");
	return err;
}

static int add(struct gateway_table *table, const char *line)
{
	struct gateway_bearer bearer, removed;
	int err = gateway_bearer_parse(line, &bearer);

	if (!err)
		err = gateway_table_add(table, &bearer);
	if (err)
		return err;
	err = gateway_backend.add(&bearer);
	if (err)
		gateway_table_remove(table, bearer.ue, &removed);
	return err;
}

static int take_out(struct gateway_table *table, const char *text)
{
	struct gateway_bearer removed;
	struct in_addr ue;
	int err = inet_pton(AF_INET, text, &ue) == 1 ? 0 : -EINVAL;

	if (!err)
		err = gateway_table_remove(table, ue.s_addr, &removed);
	return err ? err : gateway_backend.remove(&removed);
}

static void answer_line(struct answer *answer, const char *request, struct gateway_table *table)
{
	int err = -EINVAL;

	if (!strcmp(request, "counters"))
		err = 0;
	else if (!strncmp(request, "add ", 4))
		err = add(table, request + 4);
	else if (!strncmp(request, "remove ", 7))
		err = take_out(table, request + 7);
	if (!err)
		err = put_state(answer, table);
	if (err)
		put_error(answer, err);
}

/* One line, one answer. Who asks and does not read has nothing to complain of. */
static void serve(int client, struct gateway_table *table)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	struct answer answer = {.length = 0};
	char request[LONGEST_REQUEST];
	ssize_t length;

	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	length = recv(client, request, sizeof(request) - 1, 0);
	if (length <= 0)
		return;
	request[length] = '\0';
	request[strcspn(request, "\n")] = '\0';
	answer_line(&answer, request, table);
	if (send(client, answer.text, answer.length, MSG_NOSIGNAL) < 0)
		return;
}

/* A broadcast question for the neighbour's MAC address. */
static int ask(const struct gateway_side *side, enum gateway_port port)
{
	uint8_t frame[GATEWAY_ETHERNET_BYTES + GATEWAY_ARP_BYTES] = {0};
	struct gateway_ethernet *ethernet = (struct gateway_ethernet *)frame;
	struct gateway_arp *arp = (struct gateway_arp *)(frame + GATEWAY_ETHERNET_BYTES);

	memset(ethernet->destination, 0xff, sizeof(ethernet->destination));
	memcpy(ethernet->source, side->mac, sizeof(ethernet->source));
	ethernet->type = GATEWAY_TYPE_ARP;
	arp->hardware = GATEWAY_SWAP16(1);
	arp->protocol = GATEWAY_TYPE_IPV4;
	arp->sizes = GATEWAY_SWAP16(0x0604);
	arp->operation = GATEWAY_ARP_REQUEST;
	memcpy(arp->sender_mac, side->mac, sizeof(arp->sender_mac));
	gateway_put_address(arp->sender, side->address);
	gateway_put_address(arp->target, side->neighbour);
	return gateway_backend.ask(port, frame, sizeof(frame));
}

/* Returns for how long nothing is to be asked, in ms; -1: all neighbours are known. */
static int ask_neighbours(const struct gateway_options *options)
{
	int wait = -1;

	for (enum gateway_port port = 0; port < GATEWAY_PORTS; port++) {
		struct gateway_counts counts;
		gateway_mac neighbour = 0;

		if (gateway_backend.read(port, &counts, &neighbour) || neighbour)
			continue;
		/* A port that is down for a moment takes the next one. */
		ask(&options->config.side[port], port);
		wait = ASK_MS;
	}
	return wait;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int serve_all(const struct gateway_options *options, struct gateway_table *table, struct pollfd watched[3])
{
	long due = now_ms();

	while (true) {
		int wait = -1, client;

		if (due >= 0 && now_ms() >= due) {
			wait = ask_neighbours(options);
			due = wait < 0 ? -1 : now_ms() + wait;
		}
		if (due >= 0)
			wait = due > now_ms() ? (int)(due - now_ms()) : 0;
		if (poll(watched, 3, wait) < 0 && errno != EINTR)
			return GATEWAY_FAILED;
		if (watched[1].revents)
			return GATEWAY_ENDED;
		if (watched[2].revents)
			return GATEWAY_FAILED;
		client = watched[0].revents ? accept4(watched[0].fd, NULL, NULL, SOCK_CLOEXEC) : -1;
		if (client >= 0) {
			serve(client, table);
			close(client);
		}
	}
}

int gateway_serve(const struct gateway_options *options, struct gateway_table *table, int signals)
{
	int listening = serving_listen(options->socket), status;
	struct pollfd watched[] = {{.fd = listening, .events = POLLIN}, {.fd = signals, .events = POLLIN},
		{.fd = gateway_backend.failed(), .events = POLLIN}};

	if (listening < 0) {
		fprintf(stderr, "--socket: \"%s\" cannot be made: %s\n", options->socket, strerror(-listening));
		return GATEWAY_FAILED;
	}
	status = serve_all(options, table, watched);
	close(listening);
	unlink(options->socket);
	return status;
}
