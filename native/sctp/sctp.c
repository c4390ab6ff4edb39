/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives a program SCTP whose kernel has none: loaded with LD_PRELOAD, it answers the socket calls for IPPROTO_SCTP with
 * libusrsctp, which speaks SCTP over IP itself (real SCTP packets, on a raw socket). One-to-one sockets over IPv4 with
 * calls that block, and sctp_sendmsg() and sctp_recvmsg(): what nextepc's MME and the emulated eNB use.
 *
 * The program gets one end of a Unix socket pair for each SCTP socket, so that select() and poll() work as ever. A
 * thread for each socket writes into the other end: for a listening socket the descriptors of new associations, for an
 * association its messages, each behind a struct item.
 *
 * usrsctp opens a raw socket with the same protocol number: SOCK_RAW passes through. The real calls are looked up when
 * they are first needed: libraries open sockets before this one's constructor could run.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <usrsctp.h>

#include "endpoint.h"
#include "notify.h"

#define MOST_FILES 1024
#define LARGEST_MESSAGE 65536
#define SEND_BUFFER (1 << 20)
#define TYPE_MASK 0xf

struct arrival {
	struct socket *sctp;
	struct sockaddr_in peer;
};

static struct endpoint *endpoints[MOST_FILES];
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t started = PTHREAD_ONCE_INIT;

struct endpoint *endpoint_of(int fd)
{
	struct endpoint *found = NULL;

	if (fd < 0 || fd >= MOST_FILES)
		return NULL;
	pthread_mutex_lock(&table);
	found = endpoints[fd];
	pthread_mutex_unlock(&table);
	return found;
}

static struct endpoint *forget(int fd)
{
	struct endpoint *found = NULL;

	if (fd < 0 || fd >= MOST_FILES)
		return NULL;
	pthread_mutex_lock(&table);
	found = endpoints[fd];
	endpoints[fd] = NULL;
	pthread_mutex_unlock(&table);
	return found;
}

static void let_go(struct endpoint *endpoint)
{
	if (atomic_fetch_sub(&endpoint->owners, 1) > 1)
		return;
	usrsctp_close(endpoint->sctp);
	REAL(close)(endpoint->inner);
	free(endpoint);
}

static void start_usrsctp(void)
{
	usrsctp_init(0, NULL, NULL);
	usrsctp_sysctl_set_sctp_ecn_enable(0);
}

/* Gives an SCTP socket a descriptor of the program's; -1 with errno, the socket is the caller's still. */
static int give_descriptor(struct socket *sctp, const struct sockaddr_in *peer)
{
	struct endpoint *endpoint = NULL;
	int pair[2] = {-1, -1};
	int error = 0, size = SEND_BUFFER;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
		return -1;
	endpoint = calloc(1, sizeof(*endpoint));
	if (!endpoint || pair[0] >= MOST_FILES) {
		error = endpoint ? EMFILE : ENOMEM;
		goto failed;
	}
	REAL(setsockopt)(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	endpoint->sctp = sctp;
	endpoint->inner = pair[1];
	atomic_init(&endpoint->owners, 1);
	if (peer)
		endpoint->peer = *peer;
	pthread_mutex_lock(&table);
	endpoints[pair[0]] = endpoint;
	pthread_mutex_unlock(&table);
	return pair[0];
failed:
	free(endpoint);
	REAL(close)(pair[0]);
	REAL(close)(pair[1]);
	errno = error;
	return -1;
}

static bool put(int inner, const struct item *item, const void *data, size_t length)
{
	struct iovec parts[2] = {{(void *)item, sizeof(*item)}, {(void *)data, length}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	return sendmsg(inner, &message, MSG_NOSIGNAL) >= 0;
}

static bool tell(int inner, const void *notification, size_t length)
{
	struct item item = {.is_notification = 1};

	return put(inner, &item, notification, length);
}

static bool tell_up(const struct endpoint *endpoint)
{
	char notification[MOST_OF_A_NOTIFICATION];
	struct sctp_status status = {0};
	socklen_t length = sizeof(status);

	if (usrsctp_getsockopt(endpoint->sctp, IPPROTO_SCTP, SCTP_STATUS, &status, &length) < 0)
		return false;
	return tell(
		endpoint->inner, notification, notify_up(notification, status.sstat_instrms, status.sstat_outstrms));
}

/* Hands the messages of an association on until it ends, and says so. The descriptor's close() ends it as well. */
static void *read_messages(void *argument)
{
	struct endpoint *endpoint = argument;
	char *buffer = malloc(LARGEST_MESSAGE), notification[MOST_OF_A_NOTIFICATION];

	while (buffer) {
		struct sctp_rcvinfo info = {0};
		socklen_t of_info = sizeof(info), of_address = 0;
		unsigned int type = SCTP_RECVV_NOINFO;
		int flags = 0;
		ssize_t length = usrsctp_recvv(
			endpoint->sctp, buffer, LARGEST_MESSAGE, NULL, &of_address, &info, &of_info, &type, &flags);
		struct item item = {.ppid = info.rcv_ppid, .stream = info.rcv_sid};

		if (length < 0 && errno == EINTR)
			continue;
		/* A message beyond the buffer comes in parts, the first without this flag: nothing here speaks so long.
		 */
		if (length <= 0 || !(flags & MSG_EOR) || !put(endpoint->inner, &item, buffer, (size_t)length))
			break;
	}
	tell(endpoint->inner, notification, notify_shutdown(notification));
	shutdown(endpoint->inner, SHUT_RDWR);
	free(buffer);
	let_go(endpoint);
	return NULL;
}

/* Takes associations in and writes their sockets into the pair, from which accept() reads. */
static void *take_associations(void *argument)
{
	struct endpoint *endpoint = argument;

	for (;;) {
		struct arrival found = {0};
		socklen_t length = sizeof(found.peer);

		found.sctp = usrsctp_accept(endpoint->sctp, (struct sockaddr *)&found.peer, &length);
		if (!found.sctp && errno == EINTR)
			continue;
		if (!found.sctp)
			break;
		if (send(endpoint->inner, &found, sizeof(found), MSG_NOSIGNAL) < 0) {
			usrsctp_close(found.sctp);
			break;
		}
	}
	shutdown(endpoint->inner, SHUT_RDWR);
	let_go(endpoint);
	return NULL;
}

/* Starts the thread of a socket. Returns 0, or what went wrong. */
static int start_thread(struct endpoint *endpoint, void *(*work)(void *))
{
	pthread_t thread;
	int error = 0;

	atomic_fetch_add(&endpoint->owners, 1);
	error = pthread_create(&thread, NULL, work, endpoint);
	if (error)
		atomic_fetch_sub(&endpoint->owners, 1);
	else
		pthread_detach(thread);
	return error;
}

static int start_reading(struct endpoint *endpoint)
{
	int yes = 1;

	usrsctp_setsockopt(endpoint->sctp, IPPROTO_SCTP, SCTP_RECVRCVINFO, &yes, sizeof(yes));
	usrsctp_setsockopt(endpoint->sctp, IPPROTO_SCTP, SCTP_NODELAY, &yes, sizeof(yes));
	return start_thread(endpoint, read_messages);
}

int socket(int domain, int type, int protocol)
{
	struct socket *sctp = NULL;
	int fd = 0;

	if (protocol != IPPROTO_SCTP || (type & TYPE_MASK) == SOCK_RAW)
		return REAL(socket)(domain, type, protocol);
	if (domain != AF_INET || (type & TYPE_MASK) == SOCK_DGRAM) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	pthread_once(&started, start_usrsctp);
	/* SOCK_SEQPACKET as well: each association is accepted, and has a descriptor of its own. */
	sctp = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
	if (!sctp)
		return -1;
	fd = give_descriptor(sctp, NULL);
	if (fd < 0)
		usrsctp_close(sctp);
	return fd;
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
	struct endpoint *endpoint = endpoint_of(fd);

	if (!endpoint)
		return REAL(bind)(fd, address, length);
	return usrsctp_bind(endpoint->sctp, (struct sockaddr *)address, length);
}

int listen(int fd, int backlog)
{
	struct endpoint *endpoint = endpoint_of(fd);

	if (!endpoint)
		return REAL(listen)(fd, backlog);
	if (usrsctp_listen(endpoint->sctp, backlog) < 0)
		return -1;
	errno = start_thread(endpoint, take_associations);
	return errno ? -1 : 0;
}

int accept(int fd, struct sockaddr *address, socklen_t *length)
{
	struct endpoint *endpoint = endpoint_of(fd), *accepted = NULL;
	struct arrival found;
	int new = 0;

	if (!endpoint)
		return REAL(accept)(fd, address, length);
	if (recv(fd, &found, sizeof(found), 0) != sizeof(found)) {
		errno = ECONNABORTED;
		return -1;
	}
	new = give_descriptor(found.sctp, &found.peer);
	if (new < 0) {
		usrsctp_close(found.sctp);
		return -1;
	}
	accepted = endpoint_of(new);
	if (!tell_up(accepted) || start_reading(accepted)) {
		close(new);
		errno = ECONNABORTED;
		return -1;
	}
	if (address && length)
		give_address(&found.peer, address, length);
	return new;
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	struct endpoint *endpoint = endpoint_of(fd);

	if (!endpoint)
		return REAL(connect)(fd, address, length);
	if (length < sizeof(endpoint->peer)) {
		errno = EINVAL;
		return -1;
	}
	if (usrsctp_connect(endpoint->sctp, (struct sockaddr *)address, length) < 0)
		return -1;
	memcpy(&endpoint->peer, address, sizeof(endpoint->peer));
	errno = start_reading(endpoint);
	return errno ? -1 : 0;
}

int getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
	struct endpoint *endpoint = endpoint_of(fd);

	if (!endpoint)
		return REAL(getpeername)(fd, address, length);
	give_address(&endpoint->peer, address, length);
	return 0;
}

int close(int fd)
{
	struct endpoint *endpoint = forget(fd);
	int result = REAL(close)(fd);

	if (!endpoint)
		return result;
	usrsctp_shutdown(endpoint->sctp, SHUT_RDWR); /* its thread wakes up */
	let_go(endpoint);
	return result;
}
