/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: one client at a time, one JSON document a line. Sleeps in poll(). */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "nfvgen.h"

#define LINE_BYTES (1u << 20)
#define PARENT_MS 100 /* how often the parent is looked at */

static struct {
	int client;
	size_t used;
	char line[LINE_BYTES + 1];
} control = {.client = -1};

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return address;
}

int control_claim(const char *path)
{
	struct sockaddr_un address = address_of(path);
	struct stat seen;
	int fd, error;

	if (lstat(path, &seen) < 0)
		return 0;
	if (!S_ISSOCK(seen.st_mode)) {
		fprintf(stderr, "nfvgen: --socket: \"%s\" exists and is no socket; right is a path of its own\n", path);
		return EXIT_USAGE;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return EXIT_INTERNAL;
	error = connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? errno : 0;
	close(fd);
	if (error == 0 || error == EAGAIN) {
		fprintf(stderr,
			"nfvgen: --socket: \"%s\" is in use by a running process; end it or take another path\n", path);
		return EXIT_BUSY;
	}
	return unlink(path) < 0 && errno != ENOENT ? EXIT_INTERNAL : 0;
}

int control_listen(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t before;
	int error = 0;

	if (fd < 0)
		return -errno;
	before = umask(0177);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0)
		error = errno;
	umask(before);
	if (!error)
		return fd;
	close(fd);
	return -error;
}

static bool send_document(int fd, const json_t *document)
{
	char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
	size_t length, done = 0;

	if (!text)
		return false;
	length = strlen(text);
	text[length++] = '\n';
	while (done < length) {
		ssize_t sent = send(fd, text + done, length - done, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			break;
		done += (size_t)sent;
	}
	free(text);
	return done == length;
}

static void send_refusal(int fd, const char *code, const char *message)
{
	json_t *document = json_pack("{ss sn sb s{ss ss sn}}", "schema", NFVGEN_SCHEMA, "id", "ok", 0, "error", "code",
		code, "message", message, "field");

	send_document(fd, document);
	json_decref(document);
}

/* What is unread at the close would take the answer with it, as a reset: so it is read and thrown away. */
static void drop_client(void)
{
	if (control.client >= 0) {
		while (recv(control.client, control.line, sizeof(control.line), MSG_DONTWAIT) > 0)
			;
		close(control.client);
	}
	control.client = -1;
	control.used = 0;
}

static void accept_client(int listening)
{
	const struct timeval patience = {.tv_sec = 5};
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (control.client >= 0) {
		send_refusal(fd, "busy", "another client is connected; one at a time");
		close(fd);
		return;
	}
	control.client = fd;
	control.used = 0;
}

static void answer_line(const struct options *options, size_t length)
{
	bool quit = false;
	json_t *answer = request_answer(options, control.line, length, &quit);
	bool sent = send_document(control.client, answer);

	json_decref(answer);
	if (quit)
		ending_set((struct ending){.reason = "quit"});
	if (!sent)
		drop_client();
}

static void answer_lines(const struct options *options)
{
	char *end;

	while (control.client >= 0 && !ending_is_set() && (end = memchr(control.line, '\n', control.used))) {
		size_t length = (size_t)(end - control.line);

		answer_line(options, length);
		if (control.client < 0)
			return;
		control.used -= length + 1;
		memmove(control.line, end + 1, control.used);
	}
	if (control.used > LINE_BYTES) {
		send_refusal(control.client, "bad-request", "a line is longer than 1 MiB");
		drop_client();
	}
}

static void read_client(const struct options *options)
{
	ssize_t got =
		recv(control.client, control.line + control.used, sizeof(control.line) - control.used, MSG_DONTWAIT);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		drop_client();
		return;
	}
	control.used += (size_t)got;
	answer_lines(options);
}

void control_serve(const struct options *options, int listening, int signals, struct ending *ending)
{
	while (!ending_look(ending)) {
		struct pollfd watch[] = {
			{.fd = signals, .events = POLLIN}, {.fd = listening, .events = POLLIN},
			{.fd = control.client, .events = POLLIN}, /* -1 is left out */
		};

		if (poll(watch, 3, PARENT_MS) < 0 && errno != EINTR) {
			ending_set((struct ending){.reason = "error", .status = EXIT_INTERNAL});
			continue;
		}
		if (watch[2].revents)
			read_client(options);
		if (watch[1].revents)
			accept_client(listening);
	}
	drop_client();
}
