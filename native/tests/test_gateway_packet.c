/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gateway reads out of frames, and writes. Each frame lies in memory of exactly its length, and this program
 * is compiled with AddressSanitizer: one byte read behind the end, or before the start, ends it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gateway_write.h"

#define ROUNDS 200000
#define LONGEST 256

static const struct gateway_config config = {
	.side = {{.address = 0x02000a0a, .neighbour = 0x01000a0a, .mtu = 1500, .mac = {2, 0, 0, 0, 0, 1}},
		{.address = 0xfe0013c6, .neighbour = 0x010013c6, .mtu = 1500, .mac = {2, 0, 0, 0, 0, 2}}},
};

/* From 10.10.0.1 in the tunnel 0x11223344: 45.45.0.1 to 198.19.0.1, UDP, four bytes. */
static const uint8_t uplink[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0,             /* Ethernet */
	0x45, 0, 0, 68, 0, 0, 0x40, 0, 64, 17, 0x26, 0x93, 10, 10, 0, 1, 10, 10, 0, 2, /* IPv4 */
	8, 0x68, 8, 0x68, 0, 48, 0, 0,                                                 /* UDP */
	0x30, 0xff, 0, 32, 0x11, 0x22, 0x33, 0x44,                                     /* GTP-U */
	0x45, 0, 0, 32, 0, 1, 0, 0, 64, 17, 0x07, 0x69, 45, 45, 0, 1, 198, 19, 0, 1,   /* the packet */
	0x0f, 0xa0, 0x13, 0x88, 0, 12, 0, 0, 'a', 'b', 'c', 'd'};

static uint64_t state = 88172645463325252u;

/* Xorshift (Marsaglia): the same frames in every run. */
static uint32_t any(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % below;
}

/* A copy that ends where its memory ends. */
static uint8_t *copy(const uint8_t *bytes, size_t length)
{
	uint8_t *made = malloc(length ? length : 1);

	if (!made)
		abort();
	memcpy(made, bytes, length);
	return made;
}

static struct gateway_ipv4 *ip_at(uint8_t *frame, unsigned at)
{
	return (struct gateway_ipv4 *)(frame + at);
}

/* Makes the header checksum right again, so that damage behind it is reached. */
static void mend(uint8_t *frame, unsigned at, unsigned length)
{
	struct gateway_ipv4 *ip = ip_at(frame, at);
	unsigned header;
	uint64_t sum;

	if (at + sizeof(*ip) > length)
		return;
	header = 4 * (ip->version_words & 15u);
	if (header < sizeof(*ip) || at + header > length)
		return;
	ip->checksum = 0;
	sum = gateway_sum(ip, (uint8_t *)ip + header, 0);
	ip->checksum = (uint16_t)~gateway_fold(sum);
}

static int look(unsigned port, uint8_t *frame, size_t length, struct gateway_seen *seen)
{
	*seen = (struct gateway_seen){0};
	if (port == GATEWAY_S1U)
		return gateway_look_s1u(&config.side[GATEWAY_S1U], frame, frame + length, seen);
	return gateway_look_sgi(&config.side[GATEWAY_SGI], frame, frame + length, seen);
}

static void test_uplink(void)
{
	uint8_t *frame = copy(uplink, sizeof(uplink)), *out;
	struct gateway_seen seen;

	mend(frame, 14, sizeof(uplink));
	mend(frame, 50, sizeof(uplink));
	CHECK_EQUAL(look(GATEWAY_S1U, frame, sizeof(uplink), &seen), GATEWAY_PASS_ON);
	CHECK_EQUAL(seen.count, GATEWAY_FORWARDED);
	CHECK_EQUAL(seen.key, 0x44332211);
	CHECK_EQUAL(seen.source, 0x01002d2d);
	CHECK_EQUAL(seen.inner_at, 50);
	CHECK_EQUAL(seen.inner_length, 32);
	out = copy(frame + 36, sizeof(uplink) - 36);
	CHECK_EQUAL(gateway_write_uplink(&config, 0x060504030202, out, out + sizeof(uplink) - 36), 0);
	CHECK(!memcmp(out, "\2\2\3\4\5\6\2\0\0\0\0\2\10\0", 14));
	CHECK_EQUAL(ip_at(out, 14)->ttl, 63);
	CHECK_EQUAL(gateway_check_ipv4(ip_at(out, 14), out + sizeof(uplink) - 36, 32), 20);
	free(out);
	free(frame);
}

static void test_downlink(void)
{
	uint8_t *frame = copy(uplink + 36, sizeof(uplink) - 36), *out = malloc(sizeof(uplink));
	const struct gateway_udp *udp = (void *)(out + 34);
	struct gateway_seen seen;

	memcpy(frame, config.side[GATEWAY_SGI].mac, 6);
	frame[12] = 8;
	frame[13] = 0;
	mend(frame, 14, sizeof(uplink) - 36);
	CHECK_EQUAL(look(GATEWAY_SGI, frame, sizeof(uplink) - 36, &seen), GATEWAY_PASS_ON);
	CHECK_EQUAL(seen.key, 0x010013c6);
	memcpy(out + 36, frame, sizeof(uplink) - 36);
	CHECK_EQUAL(gateway_write_downlink(&config, 0x060504030202, 0x44332211, out, out + sizeof(uplink)), 0);
	CHECK_EQUAL(gateway_check_ipv4(ip_at(out, 14), out + sizeof(uplink), 68), 20);
	CHECK(!memcmp(out + 42, "\x30\xff\0\x20\x11\x22\x33\x44", 8));
	/* A datagram with its checksum and pseudo-header adds up to all ones. */
	CHECK_EQUAL(gateway_fold(gateway_sum(out + 34, out + sizeof(uplink),
			    (uint64_t)ip_at(out, 14)->source + ip_at(out, 14)->destination +
				    GATEWAY_SWAP16(GATEWAY_UDP) + udp->length)),
		0xffff);
	free(out);
	free(frame);
}

static void test_sums_do_not_depend_on_how_they_are_added(void)
{
	uint8_t bytes[LONGEST];

	for (unsigned length = 0; length < sizeof(bytes); length++) {
		uint8_t *exact;
		uint64_t plain = 0;

		for (unsigned i = 0; i < length; i++) {
			bytes[i] = (uint8_t)(any(8) ? any(256) : 255);
			plain += (uint64_t)bytes[i] << (i % 2 ? 8 : 0);
		}
		exact = copy(bytes, length);
		CHECK_EQUAL(gateway_fold(gateway_sum(exact, exact + length, 0)), gateway_fold(plain));
		free(exact);
	}
}

static void test_every_time_to_live(void)
{
	for (unsigned ttl = 2; ttl < 256; ttl++) {
		uint8_t *frame = copy(uplink, sizeof(uplink));

		ip_at(frame, 50)->ttl = (uint8_t)ttl;
		for (unsigned identification = 0; identification < 65536; identification += 251) {
			ip_at(frame, 50)->ttl = (uint8_t)ttl;
			ip_at(frame, 50)->identification = (uint16_t)identification;
			mend(frame, 50, sizeof(uplink));
			gateway_decrease_ttl(ip_at(frame, 50));
			CHECK_EQUAL(gateway_check_ipv4(ip_at(frame, 50), frame + sizeof(uplink), 32), 20);
		}
		free(frame);
	}
}

static void test_fragments_of_tunnel_packets(void)
{
	for (unsigned bit = 0; bit < 16; bit++) {
		uint8_t *frame = copy(uplink, sizeof(uplink));
		struct gateway_seen seen;

		ip_at(frame, 14)->fragment = GATEWAY_SWAP16(1u << bit);
		mend(frame, 14, sizeof(uplink));
		mend(frame, 50, sizeof(uplink));
		look(GATEWAY_S1U, frame, sizeof(uplink), &seen);
		/* Don't fragment, and the bit without a meaning. */
		CHECK_EQUAL(seen.count, bit < 14 ? GATEWAY_FRAGMENTS : GATEWAY_FORWARDED);
		free(frame);
	}
}

static void test_every_truncated_frame_is_malformed(void)
{
	for (unsigned length = 0; length < sizeof(uplink); length++) {
		uint8_t *frame = copy(uplink, length);
		struct gateway_seen seen;

		mend(frame, 14, length);
		mend(frame, 50, length);
		CHECK_EQUAL(look(GATEWAY_S1U, frame, length, &seen), GATEWAY_DONE);
		CHECK_EQUAL(seen.count, GATEWAY_MALFORMED);
		free(frame);
	}
}

/* Does with a frame what a data path does with it; all of its writing is within the frame too. */
static void handle(unsigned port, uint8_t *frame, unsigned length)
{
	struct gateway_seen seen;
	int step = look(port, frame, length, &seen);

	CHECK(seen.count > GATEWAY_RECEIVED && seen.count < GATEWAY_COUNTS);
	if (step == GATEWAY_PASS_ON) {
		unsigned size = GATEWAY_ETHERNET_BYTES + seen.inner_length, more = port ? GATEWAY_TUNNEL_BYTES : 0;
		uint8_t *out = malloc(size + more);

		CHECK(seen.inner_at >= GATEWAY_ETHERNET_BYTES && seen.inner_at + seen.inner_length <= length);
		memcpy(out + more, frame + seen.inner_at - GATEWAY_ETHERNET_BYTES, size);
		CHECK_EQUAL(port ? gateway_write_downlink(&config, 1, seen.key, out, out + size + more)
				 : gateway_write_uplink(&config, 1, out, out + size),
			0);
		free(out);
	} else if (step == GATEWAY_SEND_ECHO) {
		unsigned size = gateway_echo_bytes(&seen);
		uint8_t *out = calloc(1, size);

		memcpy(out, frame, size < length ? size : length);
		CHECK_EQUAL(gateway_write_echo(&config.side[GATEWAY_S1U], &seen, out, out + size), 0);
		free(out);
	} else {
		CHECK(step == GATEWAY_DONE || (step == GATEWAY_SEND_BACK && seen.count == GATEWAY_ARP));
	}
}

/* A few bytes of a good frame changed, at its headers more often than behind them, and cut anywhere or longer. */
static void test_damaged_frames(void)
{
	unsigned passed = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned port = any(2), start = port ? 36 : 0, length = sizeof(uplink) - start + any(16);
		uint8_t *frame = calloc(1, length);
		struct gateway_seen seen;

		memcpy(frame, uplink + start, sizeof(uplink) - start);
		memcpy(frame, config.side[port].mac, 6);
		frame[12] = 8;
		frame[13] = any(16) ? 0 : 6;
		for (unsigned changes = any(4); changes > 0; changes--)
			frame[any(any(2) ? 58 - start : length)] = (uint8_t)any(256);
		length = any(4) ? length : any(length + 1);
		if (any(8)) {
			mend(frame, 14, length);
			if (!port)
				mend(frame, 50, length);
		}
		frame = realloc(frame, length ? length : 1);
		passed += look(port, frame, length, &seen) == GATEWAY_PASS_ON;
		handle(port, frame, length);
		free(frame);
	}
	/* Neither all nor none: the good ones must be among them, or the rest was never reached. */
	CHECK(passed > ROUNDS / 20 && passed < ROUNDS - ROUNDS / 20);
}

static void test_noise(void)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned length = any(LONGEST);
		uint8_t *frame = malloc(length ? length : 1);

		for (unsigned i = 0; i < length; i++)
			frame[i] = (uint8_t)any(256);
		handle(any(2), frame, length);
		free(frame);
	}
}

int main(void)
{
	test_uplink();
	test_downlink();
	test_sums_do_not_depend_on_how_they_are_added();
	test_every_time_to_live();
	test_fragments_of_tunnel_packets();
	test_every_truncated_frame_is_malformed();
	test_damaged_frames();
	test_noise();
	return check_result();
}
