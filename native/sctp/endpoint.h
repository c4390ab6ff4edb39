/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An SCTP socket of the program's, and what its thread writes for it.
 */
#ifndef NFVBED_SCTP_ENDPOINT_H
#define NFVBED_SCTP_ENDPOINT_H

#include <dlfcn.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* The C library's own call, which this library answers first. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* What is written before each message, or notification. */
struct item {
	uint32_t ppid;
	uint16_t stream;
	uint16_t is_notification;
};

/* Belongs to the descriptor and to the thread; whoever lets go of it last closes the socket. */
struct endpoint {
	struct socket *sctp;
	int inner; /* the end that the thread writes into */
	struct sockaddr_in peer;
	atomic_int owners;
};

/* The SCTP socket behind a descriptor; NULL: it is none. */
struct endpoint *endpoint_of(int fd);

static inline void give_address(const struct sockaddr_in *from, struct sockaddr *into, socklen_t *room)
{
	memcpy(into, from, *room < sizeof(*from) ? *room : sizeof(*from));
	*room = sizeof(*from);
}

#endif
