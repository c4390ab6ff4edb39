/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program that was built for the kernel's SCTP expects as notifications: values and structures of linux/sctp.h,
 * which no file can include beside usrsctp.h.
 */
#ifndef NFVBED_SCTP_NOTIFY_H
#define NFVBED_SCTP_NOTIFY_H

#include <stddef.h>
#include <stdint.h>

#define NOTIFICATION_FLAG 0x8000 /* MSG_NOTIFICATION */
#define MOST_OF_A_NOTIFICATION 64

enum option {
	OPTION_IGNORED, /* accepted without effect: events, of which those that matter are always sent; heartbeats */
	OPTION_RTO,
	OPTION_INIT,
	OPTION_NODELAY,
	OPTION_UNKNOWN,
};

/* Which of usrsctp's options is meant by one of the kernel's. */
enum option option_meant(int name);

/* Write that the association is there, with so many streams each way; returns the length. */
size_t notify_up(void *into, uint16_t inbound, uint16_t outbound);

/* Write that the peer has shut it down; returns the length. */
size_t notify_shutdown(void *into);

/* Write what goes with a message; the caller has the room of a struct sctp_sndrcvinfo. */
void describe_message(void *into, uint32_t ppid, uint16_t stream);

#endif
