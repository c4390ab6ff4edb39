/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forwards whole Ethernet frames between two interfaces through packet sockets, as VNFs do that bring a stack of their
 * own. It sees a frame's bytes and nothing else: a checksum that the sender left to hardware is forwarded as it is,
 * wrong. It sleeps while there is nothing to forward, so it may share its core.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "forwarder.h"

#define PROGRAM "nfvbed-raw-forwarder"
#define LONGEST 9216     /* a jumbo frame */
#define FRAME_COST 2048u /* what the kernel charges a socket for a small frame, roughly */
#define RETRIES 64

struct port {
	int socket;
	atomic_uint_fast64_t received, sent, refused;
	uint64_t missed; /* the kernel's own count; reading it clears it, and only one thread does */
};

static struct {
	struct forwarder_options options;
	struct port ports[FORWARDER_PORTS];
	struct mmsghdr *messages;
	struct iovec *frames;
	int failed; /* an eventfd: the forwarding thread has ended */
} raw;

static int set_option(int socket, int level, int option, const void *value, socklen_t size)
{
	return setsockopt(socket, level, option, value, size) ? -errno : 0;
}

static int open_port(unsigned i)
{
	const struct forwarder_options *options = &raw.options;
	struct sockaddr_ll place = {.sll_family = AF_PACKET, .sll_ifindex = (int)options->ifindex[i]};
	struct packet_mreq promiscuous = {.mr_ifindex = (int)options->ifindex[i], .mr_type = PACKET_MR_PROMISC};
	int on = 1, room = (int)(options->descriptors * FRAME_COST), err;
	int handle = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (handle < 0)
		return -errno;
	raw.ports[i].socket = handle;
	/* What it sends itself must not come back, nor wait in a queue of the kernel. */
	err = set_option(handle, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	if (!err)
		err = set_option(handle, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on));
	if (!err)
		err = set_option(handle, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (!err)
		err = set_option(handle, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous));
	/* Last: frames are received from here on, for it alone. */
	place.sll_protocol = __builtin_bswap16(ETH_P_ALL);
	if (!err && bind(handle, (struct sockaddr *)&place, sizeof(place)))
		err = -errno;
	return err;
}

static int make_frames(void)
{
	unsigned burst = raw.options.burst;
	uint8_t *bytes = malloc((size_t)burst * LONGEST);

	raw.messages = calloc(burst, sizeof(*raw.messages));
	raw.frames = calloc(burst, sizeof(*raw.frames));
	if (!bytes || !raw.messages || !raw.frames)
		return -ENOMEM;
	for (unsigned i = 0; i < burst; i++) {
		raw.frames[i].iov_base = bytes + (size_t)i * LONGEST;
		raw.messages[i].msg_hdr.msg_iov = &raw.frames[i];
		raw.messages[i].msg_hdr.msg_iovlen = 1;
	}
	return 0;
}

/* Errors that a later frame need not have: a full queue, a link that is down for a moment. */
static bool passes(int err)
{
	return err == EAGAIN || err == ENOBUFS || err == ENETDOWN || err == EINTR || err == EMSGSIZE;
}

/* Returns 0 or -errno; what the port does not take is dropped, as a full ring does. */
static int send_all(struct port *to, unsigned count)
{
	unsigned done = 0, tries = 0;

	while (done < count) {
		int sent = sendmmsg(to->socket, raw.messages + done, count - done, MSG_DONTWAIT);

		if (sent > 0) {
			done += (unsigned)sent;
			to->sent += (unsigned)sent;
			continue;
		}
		if (!passes(errno))
			return -errno;
		if (raw.options.retry && tries++ < RETRIES) {
			sched_yield();
			continue;
		}
		to->refused++;
		done++;
	}
	return 0;
}

/* Returns how many frames it moved, or -errno. */
static int move(struct port *from, struct port *to)
{
	int count;

	for (unsigned i = 0; i < raw.options.burst; i++)
		raw.frames[i].iov_len = LONGEST;
	count = recvmmsg(from->socket, raw.messages, raw.options.burst, MSG_DONTWAIT, NULL);
	if (count < 0)
		return passes(errno) ? 0 : -errno;
	for (int i = 0; i < count; i++)
		raw.frames[i].iov_len = raw.messages[i].msg_len;
	from->received += (unsigned)count;
	return count ? (send_all(to, (unsigned)count) ?: count) : 0;
}

static void *forward(void *argument)
{
	struct pollfd ports[FORWARDER_PORTS] = {
		{.fd = raw.ports[0].socket, .events = POLLIN}, {.fd = raw.ports[1].socket, .events = POLLIN}};
	int moved[FORWARDER_PORTS] = {0};

	while (moved[0] >= 0 && moved[1] >= 0) {
		for (unsigned i = 0; i < FORWARDER_PORTS && moved[0] >= 0; i++)
			moved[i] = move(&raw.ports[i], &raw.ports[!i]);
		if (!moved[0] && !moved[1])
			poll(ports, FORWARDER_PORTS, -1);
	}
	fprintf(stderr, PROGRAM ": %s: %s\n", raw.options.port[moved[0] >= 0],
		strerror(-(moved[0] < 0 ? moved[0] : moved[1])));
	eventfd_write(raw.failed, 1);
	return argument;
}

static void read_counts(struct forwarder_counts counts[FORWARDER_PORTS])
{
	for (unsigned i = 0; i < FORWARDER_PORTS; i++) {
		struct port *port = &raw.ports[i];
		struct tpacket_stats lost = {0};
		socklen_t size = sizeof(lost);

		if (!getsockopt(port->socket, SOL_PACKET, PACKET_STATISTICS, &lost, &size))
			port->missed += lost.tp_drops;
		counts[i] = (struct forwarder_counts){.rx_packets = (int64_t)port->received,
			.tx_packets = (int64_t)port->sent,
			.rx_dropped = (int64_t)port->missed,
			.tx_dropped = (int64_t)port->refused};
	}
}

int main(int argc, char **argv)
{
	int status = forwarder_options(argc, argv, PROGRAM, &raw.options), signals, err = 0;
	pthread_t thread;

	if (status)
		return status < 0 ? FORWARDER_ENDED : status;
	signals = forwarder_signals();
	raw.failed = eventfd(0, EFD_CLOEXEC);
	err = signals < 0 ? signals : raw.failed < 0 ? -errno : make_frames();
	for (unsigned i = 0; i < FORWARDER_PORTS && !err; i++)
		err = open_port(i);
	if (!err)
		err = -pthread_create(&thread, NULL, forward, NULL);
	if (err) {
		fprintf(stderr, PROGRAM ": cannot open its ports: %s\n", strerror(-err));
		return FORWARDER_FAILED;
	}
	pthread_setname_np(thread, "forward");
	/* The thread ends with the process: it holds nothing that the kernel would not take back. */
	return forwarder_serve(&raw.options, signals, raw.failed, read_counts);
}
