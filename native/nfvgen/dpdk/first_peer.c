/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_virtio_user with server=1 waits in its probe, without end, until a vhost-user backend has connected and agreed on
 * features. This is that first backend: it says yes to everything that DPDK's own vhost library offers, and leaves when
 * the port is started. From then on the link is down, and the driver takes the real peer at its next look at the link.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../engine.h"
#include "first_peer.h"

enum request {
	GET_FEATURES = 1,
	GET_VRING_BASE = 11,
	GET_PROTOCOL_FEATURES = 15,
	GET_QUEUE_NUM = 17,
	SET_STATUS = 39,
	GET_STATUS = 40,
};

#define VERSION 0x1u
#define REPLY 0x4u
#define NEED_REPLY 0x8u
/* MRG_RXBUF, CTRL_VQ, MQ, ANY_LAYOUT, INDIRECT_DESC, EVENT_IDX, PROTOCOL_FEATURES, VERSION_1, IN_ORDER */
#define FEATURES                                                                                                       \
	(1ull << 15 | 1ull << 17 | 1ull << 22 | 1ull << 27 | 1ull << 28 | 1ull << 29 | 1ull << 30 | 1ull << 32 |       \
		1ull << 35)
#define PROTOCOL_FEATURES (1ull << 0 | 1ull << 3 | 1ull << 16) /* MQ, REPLY_ACK, STATUS */

struct message {
	uint32_t request;
	uint32_t flags;
	uint32_t size;
	union {
		uint64_t number;
		uint8_t bytes[1024];
	} payload;
} __attribute__((packed));

#define HEADER_BYTES offsetof(struct message, payload)

static bool answer(int fd, struct message *m, uint64_t *status)
{
	uint64_t number = m->payload.number;

	switch (m->request) {
	case GET_FEATURES:
		number = FEATURES;
		break;
	case GET_PROTOCOL_FEATURES:
		number = PROTOCOL_FEATURES;
		break;
	case GET_QUEUE_NUM:
		number = NFVGEN_QUEUES;
		break;
	case GET_VRING_BASE:
		number &= 0xffffffffu; /* the ring's index is repeated, its base is 0 */
		break;
	case GET_STATUS:
		number = *status;
		break;
	default:
		if (m->request == SET_STATUS)
			*status = number;
		if (!(m->flags & NEED_REPLY))
			return true;
		number = 0;
	}
	m->flags = VERSION | REPLY;
	m->size = sizeof(number);
	m->payload.number = number;
	return send(fd, m, HEADER_BYTES + sizeof(number), MSG_NOSIGNAL) == (ssize_t)(HEADER_BYTES + sizeof(number));
}

/* File descriptors that come along are not asked for, so the kernel closes them. */
static void serve(int fd)
{
	struct message m;
	uint64_t status = 0;

	while (recv(fd, &m, HEADER_BYTES, MSG_WAITALL) == (ssize_t)HEADER_BYTES) {
		if (m.size > sizeof(m.payload))
			return;
		if (m.size && recv(fd, &m.payload, m.size, MSG_WAITALL) != (ssize_t)m.size)
			return;
		if (!answer(fd, &m, &status))
			return;
	}
}

static void *first_peer_main(void *argument)
{
	struct first_peer *peer = argument;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timespec pause = {.tv_nsec = 2000000};

	memcpy(address.sun_path, peer->path, sizeof(address.sun_path));
	while (!atomic_load(&peer->stop)) {
		if (connect(peer->fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
			serve(peer->fd);
			break;
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int first_peer_start(struct first_peer *peer, const char *path)
{
	int result;

	memset(peer, 0, sizeof(*peer));
	snprintf(peer->path, sizeof(peer->path), "%s", path);
	peer->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (peer->fd < 0)
		return -errno;
	result = pthread_create(&peer->thread, NULL, first_peer_main, peer);
	if (result)
		close(peer->fd);
	peer->started = result == 0;
	return -result;
}

void first_peer_stop(struct first_peer *peer)
{
	if (!peer->started)
		return;
	peer->started = false;
	atomic_store(&peer->stop, true);
	shutdown(peer->fd, SHUT_RDWR);
	pthread_join(peer->thread, NULL);
	close(peer->fd);
}
