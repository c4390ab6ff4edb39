/* SPDX-License-Identifier: Apache-2.0 */
/* The eNB's end of a GTP-U tunnel (TS 29.281): a header before what its UE sends, and what comes back read. */
#ifndef NFVBED_ENB_TUNNEL_H
#define NFVBED_ENB_TUNNEL_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TUNNEL_PORT 2152
#define TUNNEL_HEADER 8
#define TUNNEL_OPTIONAL 4 /* sequence number, N-PDU number and type of the next extension: all where one is there */

enum tunnel_flag {
	TUNNEL_VERSION_1 = 0x30, /* and protocol type GTP */
	TUNNEL_VERSION = 0xf0,   /* the bits of both */
	TUNNEL_EXTENSION = 0x04,
	TUNNEL_HAS_OPTIONAL = 0x07,
};

enum { TUNNEL_USER_PACKET = 0xff };

/* What became of a datagram from the serving gateway. */
enum tunnel_verdict {
	TUNNEL_TAKEN,
	TUNNEL_OTHER,        /* another message than a user packet, or another version */
	TUNNEL_EXTENDED,     /* with extension headers */
	TUNNEL_UNKNOWN_TEID, /* not of this bearer */
	TUNNEL_MALFORMED,    /* lengths that cannot be, or no IPv4 inside */
	TUNNEL_VERDICTS
};

static inline void tunnel_write(uint8_t *header, size_t length, uint32_t teid)
{
	uint16_t inner = htons((uint16_t)length);

	header[0] = TUNNEL_VERSION_1;
	header[1] = TUNNEL_USER_PACKET;
	memcpy(header + 2, &inner, sizeof(inner));
	memcpy(header + 4, &teid, sizeof(teid));
}

/* Returns the length of an IPv4 packet as its header says; 0: it is none, or not all there. */
static inline size_t tunnel_ipv4_length(const uint8_t *packet, size_t there)
{
	uint16_t length;

	if (there < 20 || packet[0] >> 4 != 4 || (packet[0] & 0x0f) < 5)
		return 0;
	memcpy(&length, packet + 2, sizeof(length));
	length = ntohs(length);
	return length >= (packet[0] & 0x0fu) * 4 && length <= there ? length : 0;
}

/* Reads a datagram; `packet` and `length` are the UE's packet where it is taken. `teid` is in network byte order. */
static inline enum tunnel_verdict tunnel_read(
	const uint8_t *data, size_t there, uint32_t teid, const uint8_t **packet, size_t *length)
{
	size_t header = TUNNEL_HEADER, inner;
	uint16_t said;

	if (there < TUNNEL_HEADER)
		return TUNNEL_MALFORMED;
	if ((data[0] & TUNNEL_VERSION) != TUNNEL_VERSION_1 || data[1] != TUNNEL_USER_PACKET)
		return TUNNEL_OTHER;
	if (data[0] & TUNNEL_EXTENSION)
		return TUNNEL_EXTENDED;
	if (memcmp(data + 4, &teid, sizeof(teid)))
		return TUNNEL_UNKNOWN_TEID;
	memcpy(&said, data + 2, sizeof(said));
	if (data[0] & TUNNEL_HAS_OPTIONAL)
		header += TUNNEL_OPTIONAL;
	/* The length counts what follows the first eight bytes. */
	inner = TUNNEL_HEADER + (size_t)ntohs(said);
	if (inner > there || inner < header)
		return TUNNEL_MALFORMED;
	*length = tunnel_ipv4_length(data + header, inner - header);
	*packet = data + header;
	return *length ? TUNNEL_TAKEN : TUNNEL_MALFORMED;
}

#endif
