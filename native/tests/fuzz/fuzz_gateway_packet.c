/* SPDX-License-Identifier: Apache-2.0 */
/* A frame at one of the gateway's ports: looked at, and written as a data path writes it. The first byte says which. */
#include "fuzz.h"
#include "gateway_write.h"

static const struct gateway_config config = {
	.side = {{.address = 0x02000a0a, .neighbour = 0x01000a0a, .mtu = 1500, .mac = {2, 0, 0, 0, 0, 1}},
		{.address = 0xfe0013c6, .neighbour = 0x010013c6, .mtu = 1500, .mac = {2, 0, 0, 0, 0, 2}}},
};

/* Makes a header's checksum right, so that what lies behind it is reached. */
static void mend(uint8_t *frame, size_t at, size_t size)
{
	struct gateway_ipv4 *ip = (struct gateway_ipv4 *)(frame + at);
	size_t header = at + sizeof(*ip) <= size ? 4u * (ip->version_words & 15u) : 0;

	if (header < sizeof(*ip) || at + header > size)
		return;
	ip->checksum = 0;
	ip->checksum = (uint16_t)~gateway_fold(gateway_sum(ip, (uint8_t *)ip + header, 0));
}

static void pass_on(unsigned port, const uint8_t *frame, size_t size, const struct gateway_seen *seen)
{
	size_t length = GATEWAY_ETHERNET_BYTES + seen->inner_length, more = port ? GATEWAY_TUNNEL_BYTES : 0;
	uint8_t *out;

	PROMISED(seen->inner_at >= GATEWAY_ETHERNET_BYTES && seen->inner_at + seen->inner_length <= size);
	if (gateway_admit(&config.side[!port], 1, seen, (uint32_t)more) != GATEWAY_FORWARDED)
		return;
	out = fuzz_copy(frame + seen->inner_at - GATEWAY_ETHERNET_BYTES, length, more);
	PROMISED(!(port ? gateway_write_downlink(&config, 1, seen->key, out, out + length + more)
			: gateway_write_uplink(&config, 1, out, out + length)));
	PROMISED(gateway_check_ipv4((void *)(out + GATEWAY_ETHERNET_BYTES), out + length + more,
		(uint32_t)(length + more - GATEWAY_ETHERNET_BYTES)));
	free(out);
}

static void send_echo(const uint8_t *frame, size_t size, const struct gateway_seen *seen)
{
	size_t length = gateway_echo_bytes(seen);
	uint8_t *out = calloc(1, length);

	if (!out)
		abort();
	memcpy(out, frame, size < length ? size : length);
	PROMISED(!gateway_write_echo(&config.side[GATEWAY_S1U], seen, out, out + length));
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gateway_seen seen = {0};
	unsigned port;
	uint8_t *frame;
	int step;

	if (!size)
		return 0;
	port = data[0] & 1;
	size--;
	frame = fuzz_copy(data + 1, size, 0);
	if (!(data[0] & 2)) {
		mend(frame, 14, size);
		if (!port)
			mend(frame, 50, size);
	}
	step = port ? gateway_look_sgi(&config.side[GATEWAY_SGI], frame, frame + size, &seen)
		    : gateway_look_s1u(&config.side[GATEWAY_S1U], frame, frame + size, &seen);
	PROMISED(seen.count > GATEWAY_RECEIVED && seen.count < GATEWAY_COUNTS);
	if (step == GATEWAY_PASS_ON)
		pass_on(port, frame, size, &seen);
	else if (step == GATEWAY_SEND_ECHO)
		send_echo(frame, size, &seen);
	else
		PROMISED(step == GATEWAY_DONE || (step == GATEWAY_SEND_BACK && seen.count == GATEWAY_ARP));
	free(frame);
	return 0;
}
