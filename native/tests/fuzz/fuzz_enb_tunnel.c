/* SPDX-License-Identifier: Apache-2.0 */
/* A datagram that an eNB has from the serving gateway. */
#define _GNU_SOURCE
#include "fuzz.h"
#include "tunnel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *datagram = fuzz_copy(data, size, 0);
	const uint8_t *packet = NULL;
	size_t length = 0;
	enum tunnel_verdict verdict = tunnel_read(datagram, size, htonl(0x01020304u), &packet, &length);

	PROMISED(verdict < TUNNEL_VERDICTS);
	if (verdict == TUNNEL_TAKEN) {
		uint8_t sum = 0;

		PROMISED(length >= 20 && packet >= datagram && packet + length <= datagram + size);
		for (size_t at = 0; at < length; at++)
			sum ^= packet[at];
		PROMISED(packet[0] >> 4 == 4 || sum);
	}
	free(datagram);
	return 0;
}
