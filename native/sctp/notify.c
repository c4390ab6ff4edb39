/* SPDX-License-Identifier: Apache-2.0 */
#include "notify.h"

#include <string.h>
#include <sys/socket.h>

#include <linux/sctp.h>

_Static_assert(MSG_NOTIFICATION == NOTIFICATION_FLAG, "the kernel's flag");
_Static_assert(sizeof(struct sctp_assoc_change) <= MOST_OF_A_NOTIFICATION, "a notification has its room");

enum option option_meant(int name)
{
	switch (name) {
	case SCTP_RTOINFO:
		return OPTION_RTO;
	case SCTP_INITMSG:
		return OPTION_INIT;
	case SCTP_NODELAY:
		return OPTION_NODELAY;
	case SCTP_EVENTS:
	case SCTP_PEER_ADDR_PARAMS:
		return OPTION_IGNORED;
	default:
		return OPTION_UNKNOWN;
	}
}

size_t notify_up(void *into, uint16_t inbound, uint16_t outbound)
{
	struct sctp_assoc_change change = {
		.sac_type = SCTP_ASSOC_CHANGE,
		.sac_length = sizeof(change),
		.sac_state = SCTP_COMM_UP,
		.sac_inbound_streams = inbound,
		.sac_outbound_streams = outbound,
	};

	memcpy(into, &change, sizeof(change));
	return sizeof(change);
}

size_t notify_shutdown(void *into)
{
	struct sctp_shutdown_event event = {.sse_type = SCTP_SHUTDOWN_EVENT, .sse_length = sizeof(event)};

	memcpy(into, &event, sizeof(event));
	return sizeof(event);
}

void describe_message(void *into, uint32_t ppid, uint16_t stream)
{
	struct sctp_sndrcvinfo info = {.sinfo_stream = stream, .sinfo_ppid = ppid};

	memcpy(into, &info, sizeof(info));
}
