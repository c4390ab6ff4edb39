/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is between a UE's tun device and S1-U: packets of the device are sent to the serving gateway in GTP-U, and those
 * that come from there go into the device. It sleeps while there is nothing to do, so it may share its core.
 *
 * The device has no virtio header: the UE's kernel has computed every checksum and cut every segment when a packet is
 * read. The outer datagrams are the kernel's own, which may leave their checksum to the port.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enb.h"
#include "serving.h"
#include "tunnel.h"

#define BURST 32
#define LONGEST 4096               /* above what S1-U takes */
#define SOCKET_BYTES (4 * 1 << 20) /* of each way: what comes while the UE's programs have the core */

enum { TUN, S1U, SIGNALS, DESCRIPTORS };

static struct {
	struct enb_options options;
	struct pollfd at[DESCRIPTORS];
	struct sockaddr_in gateway;
	uint8_t bytes[BURST][LONGEST];
	struct iovec data[BURST];
	struct mmsghdr messages[BURST];
	struct sockaddr_in sources[BURST];
	struct {
		uint64_t from_ue, sent, not_ipv4, too_big, refused;
	} uplink;
	struct {
		uint64_t received, to_ue, foreign, refused, verdict[TUNNEL_VERDICTS];
	} downlink;
} enb;

/* Errors that a later packet need not have: a full queue, a link that is down for a moment. */
static bool passes(int err)
{
	return err == EAGAIN || err == ENOBUFS || err == ENETDOWN || err == EINTR || err == ENETUNREACH ||
	       err == ECONNREFUSED;
}

/* Opens the UE's device in the UE's network namespace; a device belongs to whoever has it open, wherever that is. */
static int open_tun(void)
{
	struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), its = open(enb.options.netns, O_RDONLY | O_CLOEXEC);
	int tun = -1, err = own < 0 || its < 0 ? -errno : 0;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", enb.options.tun);
	if (!err && setns(its, CLONE_NEWNET))
		err = -errno;
	if (err)
		goto out;
	tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (tun < 0 || ioctl(tun, TUNSETIFF, &request))
		err = -errno;
	/* The socket on S1-U must not be the UE's. */
	if (setns(own, CLONE_NEWNET) && !err)
		err = -errno;
out:
	if (own >= 0)
		close(own);
	if (its >= 0)
		close(its);
	if (!err)
		return tun;
	if (tun >= 0)
		close(tun);
	return err;
}

static int open_s1u(void)
{
	struct sockaddr_in own = {
		.sin_family = AF_INET, .sin_port = htons(TUNNEL_PORT), .sin_addr.s_addr = enb.options.address};
	int room = SOCKET_BYTES, whole = IP_PMTUDISC_DO, err;
	int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (handle < 0)
		return -errno;
	if (!setsockopt(handle, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) &&
		!setsockopt(handle, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) &&
		/* No packet of a tunnel is sent in fragments: one that is too big is counted. */
		!setsockopt(handle, IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof(whole)) &&
		!bind(handle, (struct sockaddr *)&own, sizeof(own)))
		return handle;
	err = -errno;
	close(handle);
	return err;
}

static void make_messages(void)
{
	enb.gateway = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(TUNNEL_PORT), .sin_addr.s_addr = enb.options.gateway};
	for (unsigned i = 0; i < BURST; i++) {
		enb.data[i].iov_base = enb.bytes[i];
		enb.messages[i].msg_hdr.msg_iov = &enb.data[i];
		enb.messages[i].msg_hdr.msg_iovlen = 1;
	}
}

/* Sends what is there; it waits where the port takes nothing, as the UE's queue then does. Returns 0 or -errno. */
static int send_all(unsigned count)
{
	unsigned done = 0;

	while (done < count) {
		int sent = sendmmsg(enb.at[S1U].fd, enb.messages + done, count - done, 0);

		if (sent > 0) {
			done += (unsigned)sent;
			enb.uplink.sent += (unsigned)sent;
			continue;
		}
		if (errno == EMSGSIZE)
			enb.uplink.too_big++;
		else if (passes(errno))
			enb.uplink.refused++;
		else
			return -errno;
		done++;
	}
	return 0;
}

/* Returns how many packets it took from the UE, or -errno. */
static int move_uplink(void)
{
	unsigned count = 0, taken = 0;
	int err;

	while (taken < BURST) {
		uint8_t *packet = enb.bytes[count] + TUNNEL_HEADER;
		ssize_t length = read(enb.at[TUN].fd, packet, LONGEST - TUNNEL_HEADER);

		if (length < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (length <= 0)
			break;
		taken++;
		if (tunnel_ipv4_length(packet, (size_t)length) != (size_t)length) {
			enb.uplink.not_ipv4++;
			continue;
		}
		tunnel_write(enb.bytes[count], (size_t)length, enb.options.uplink_teid);
		enb.data[count].iov_len = TUNNEL_HEADER + (size_t)length;
		enb.messages[count].msg_hdr.msg_name = &enb.gateway;
		enb.messages[count].msg_hdr.msg_namelen = sizeof(enb.gateway);
		count++;
	}
	enb.uplink.from_ue += taken;
	err = send_all(count);
	return err ? err : (int)taken;
}

static int give_to_ue(const uint8_t *packet, size_t length)
{
	ssize_t written = write(enb.at[TUN].fd, packet, length);

	if (written < 0 && !passes(errno) && errno != EIO)
		return -errno;
	/* EIO: the device is down. */
	*(written < 0 ? &enb.downlink.refused : &enb.downlink.to_ue) += 1;
	return 0;
}

/* Returns how many datagrams it took from S1-U, or -errno. */
static int move_downlink(void)
{
	int count, err = 0;

	for (unsigned i = 0; i < BURST; i++) {
		enb.data[i].iov_len = LONGEST;
		enb.messages[i].msg_hdr.msg_name = &enb.sources[i];
		enb.messages[i].msg_hdr.msg_namelen = sizeof(enb.sources[i]);
	}
	count = recvmmsg(enb.at[S1U].fd, enb.messages, BURST, MSG_DONTWAIT, NULL);
	if (count < 0)
		return passes(errno) ? 0 : -errno;
	enb.downlink.received += (unsigned)count;
	for (int i = 0; i < count && !err; i++) {
		const uint8_t *packet = NULL;
		size_t length = 0;
		enum tunnel_verdict verdict;

		/* The port may be any (TS 29.281, 4.4.2.3). */
		if (enb.sources[i].sin_addr.s_addr != enb.options.gateway) {
			enb.downlink.foreign++;
			continue;
		}
		verdict =
			tunnel_read(enb.bytes[i], enb.messages[i].msg_len, enb.options.downlink_teid, &packet, &length);
		enb.downlink.verdict[verdict]++;
		if (verdict == TUNNEL_TAKEN)
			err = give_to_ue(packet, length);
	}
	return err ? err : count;
}

static void tell_counts(void)
{
	const uint64_t *verdict = enb.downlink.verdict;

	printf("{\"uplink\": {\"from_ue\": %" PRIu64 ", \"sent\": %" PRIu64 ", \"not_ipv4\": %" PRIu64
	       ", \"too_big\": %" PRIu64 ", \"refused\": %" PRIu64 "}, ",
		enb.uplink.from_ue, enb.uplink.sent, enb.uplink.not_ipv4, enb.uplink.too_big, enb.uplink.refused);
	printf("\"downlink\": {\"received\": %" PRIu64 ", \"to_ue\": %" PRIu64 ", \"foreign\": %" PRIu64
	       ", \"other\": %" PRIu64 ", \"extended\": %" PRIu64 ", \"unknown_teid\": %" PRIu64
	       ", \"malformed\": %" PRIu64 ", \"refused\": %" PRIu64 "}}\n",
		enb.downlink.received, enb.downlink.to_ue, enb.downlink.foreign, verdict[TUNNEL_OTHER],
		verdict[TUNNEL_EXTENDED], verdict[TUNNEL_UNKNOWN_TEID], verdict[TUNNEL_MALFORMED],
		enb.downlink.refused);
	fflush(stdout);
}

/* Moves packets until a signal comes. Returns 0 or -errno. */
static int serve(void)
{
	for (;;) {
		int down = move_downlink(), up = down < 0 ? down : move_uplink();

		if (up < 0)
			return up;
		if (poll(enb.at, DESCRIPTORS, up || down ? 0 : -1) < 0 && errno != EINTR)
			return -errno;
		if (enb.at[SIGNALS].revents)
			return 0;
	}
}

int main(int argc, char **argv)
{
	int status = enb_options(argc, argv, &enb.options), err = 0;
	const char *what = "signals";

	if (status)
		return status < 0 ? -status : ENB_ENDED;
	make_messages();
	enb.at[SIGNALS].fd = serving_signals();
	if (enb.at[SIGNALS].fd < 0)
		err = enb.at[SIGNALS].fd;
	if (!err) {
		what = enb.options.tun;
		enb.at[TUN].fd = open_tun();
		err = enb.at[TUN].fd < 0 ? enb.at[TUN].fd : 0;
	}
	if (!err) {
		what = "its port on S1-U";
		enb.at[S1U].fd = open_s1u();
		err = enb.at[S1U].fd < 0 ? enb.at[S1U].fd : 0;
	}
	for (unsigned i = 0; i < DESCRIPTORS; i++)
		enb.at[i].events = POLLIN;
	if (!err) {
		what = "packets";
		err = serve();
		tell_counts();
	}
	if (!err)
		return ENB_ENDED;
	fprintf(stderr, ENB_PROGRAM ": %s: %s\n", what, strerror(-err));
	return ENB_FAILED;
}
