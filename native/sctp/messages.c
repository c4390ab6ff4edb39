/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages and options of SCTP sockets.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/uio.h>

#include <usrsctp.h>

#include "endpoint.h"
#include "notify.h"

int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	struct endpoint *endpoint = endpoint_of(fd);

	if (!endpoint)
		return REAL(setsockopt)(fd, level, name, value, length);
	/* Each process has a stack of its own, which remembers no addresses of one before it. */
	if (level == SOL_SOCKET && name == SO_REUSEADDR)
		return 0;
	if (level == SOL_SOCKET)
		return usrsctp_setsockopt(endpoint->sctp, level, name, value, length);
	if (level == IPPROTO_SCTP) {
		switch (option_meant(name)) {
		case OPTION_IGNORED:
			return 0;
		case OPTION_RTO:
			return usrsctp_setsockopt(endpoint->sctp, level, SCTP_RTOINFO, value, length);
		case OPTION_INIT:
			return usrsctp_setsockopt(endpoint->sctp, level, SCTP_INITMSG, value, length);
		case OPTION_NODELAY:
			return usrsctp_setsockopt(endpoint->sctp, level, SCTP_NODELAY, value, length);
		case OPTION_UNKNOWN:
			break;
		}
	}
	errno = ENOPROTOOPT;
	return -1;
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
	struct endpoint *endpoint = endpoint_of(fd);

	if (!endpoint)
		return REAL(getsockopt)(fd, level, name, value, length);
	if (level == SOL_SOCKET)
		return usrsctp_getsockopt(endpoint->sctp, level, name, value, length);
	if (level == IPPROTO_SCTP) {
		switch (option_meant(name)) {
		case OPTION_IGNORED:
			memset(value, 0, *length);
			return 0;
		case OPTION_RTO:
			return usrsctp_getsockopt(endpoint->sctp, level, SCTP_RTOINFO, value, length);
		case OPTION_INIT:
			return usrsctp_getsockopt(endpoint->sctp, level, SCTP_INITMSG, value, length);
		case OPTION_NODELAY:
			return usrsctp_getsockopt(endpoint->sctp, level, SCTP_NODELAY, value, length);
		case OPTION_UNKNOWN:
			break;
		}
	}
	errno = ENOPROTOOPT;
	return -1;
}

/* As libsctp's, of which only these two are used. The address is that of the association: there is but one. */
int sctp_sendmsg(int fd, const void *data, size_t length, struct sockaddr *to, socklen_t to_length, uint32_t ppid,
	uint32_t flags, uint16_t stream, uint32_t lifetime_ms, uint32_t context)
{
	struct endpoint *endpoint = endpoint_of(fd);
	struct sctp_sndinfo info = {.snd_sid = stream, .snd_ppid = ppid, .snd_context = context};

	(void)to;
	(void)to_length;
	(void)lifetime_ms;
	if (!endpoint || flags) {
		errno = endpoint ? EINVAL : EBADF;
		return -1;
	}
	return (int)usrsctp_sendv(endpoint->sctp, data, length, NULL, 0, &info, sizeof(info), SCTP_SENDV_SNDINFO, 0);
}

int sctp_recvmsg(int fd, void *data, size_t room, struct sockaddr *from, socklen_t *from_length, void *info, int *flags)
{
	struct endpoint *endpoint = endpoint_of(fd);
	struct item item = {0};
	struct iovec parts[2] = {{&item, sizeof(item)}, {data, room}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t length = 0;

	if (!endpoint) {
		errno = EBADF;
		return -1;
	}
	length = recvmsg(fd, &message, 0);
	if (length <= 0)
		return (int)length;
	if (from && from_length)
		give_address(&endpoint->peer, from, from_length);
	if (info)
		describe_message(info, item.ppid, item.stream);
	if (flags)
		*flags = (message.msg_flags & MSG_TRUNC ? 0 : MSG_EOR) | (item.is_notification ? NOTIFICATION_FLAG : 0);
	return (int)(length - (ssize_t)sizeof(item));
}
