/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tunnel.h"

#define TEID 0x01020304u
#define INNER 28

/* A copy with nothing behind it: what reads further is found out. */
static enum tunnel_verdict read_copy(const uint8_t *data, size_t length, size_t *inner)
{
	uint8_t *copy = malloc(length ? length : 1);
	const uint8_t *packet = NULL;
	enum tunnel_verdict verdict;

	*inner = 0;
	memcpy(copy, data, length);
	verdict = tunnel_read(copy, length, htonl(TEID), &packet, inner);
	CHECK(verdict != TUNNEL_TAKEN || (packet >= copy && packet + *inner <= copy + length));
	free(copy);
	return verdict;
}

static size_t make(uint8_t *data, uint8_t flags, size_t optional)
{
	memset(data, 0, 64);
	tunnel_write(data, INNER + optional, htonl(TEID));
	data[0] = flags;
	data[TUNNEL_HEADER + optional] = 0x45;
	data[TUNNEL_HEADER + optional + 3] = INNER;
	return TUNNEL_HEADER + optional + INNER;
}

static void test_header_is_that_of_the_standard(void)
{
	uint8_t data[TUNNEL_HEADER];

	tunnel_write(data, 0x0123, htonl(TEID));
	CHECK(!memcmp(data, "\x30\xff\x01\x23\x01\x02\x03\x04", sizeof(data)));
}

static void test_what_was_written_is_read(void)
{
	uint8_t data[64];
	size_t inner, length = make(data, TUNNEL_VERSION_1, 0);

	CHECK_EQUAL(read_copy(data, length, &inner), TUNNEL_TAKEN);
	CHECK_EQUAL(inner, INNER);
	/* With a sequence number. */
	length = make(data, TUNNEL_VERSION_1 | 0x02, TUNNEL_OPTIONAL);
	CHECK_EQUAL(read_copy(data, length, &inner), TUNNEL_TAKEN);
	CHECK_EQUAL(inner, INNER);
}

static void test_every_end_of_it_is_refused(void)
{
	uint8_t data[64];
	size_t inner, length = make(data, TUNNEL_VERSION_1, 0);

	for (size_t there = 0; there < length; there++)
		CHECK_EQUAL(read_copy(data, there, &inner), TUNNEL_MALFORMED);
	for (size_t said = 0; said < INNER; said++) {
		data[3] = (uint8_t)said;
		CHECK_EQUAL(read_copy(data, length, &inner), TUNNEL_MALFORMED);
	}
}

static void test_what_is_not_of_the_bearer(void)
{
	uint8_t data[64];
	size_t inner, length = make(data, TUNNEL_VERSION_1, 0);

	data[7]++;
	CHECK_EQUAL(read_copy(data, length, &inner), TUNNEL_UNKNOWN_TEID);
	length = make(data, TUNNEL_VERSION_1, 0);
	data[1] = 26; /* error indication */
	CHECK_EQUAL(read_copy(data, length, &inner), TUNNEL_OTHER);
	length = make(data, 0x50, 0);
	CHECK_EQUAL(read_copy(data, length, &inner), TUNNEL_OTHER);
	length = make(data, TUNNEL_VERSION_1 | TUNNEL_EXTENSION, TUNNEL_OPTIONAL);
	CHECK_EQUAL(read_copy(data, length, &inner), TUNNEL_EXTENDED);
	length = make(data, TUNNEL_VERSION_1, 0);
	data[TUNNEL_HEADER] = 0x65;
	CHECK_EQUAL(read_copy(data, length, &inner), TUNNEL_MALFORMED);
	data[TUNNEL_HEADER] = 0x44;
	CHECK_EQUAL(read_copy(data, length, &inner), TUNNEL_MALFORMED);
}

static void test_noise(void)
{
	uint8_t data[64];
	size_t inner;

	srand(1);
	for (unsigned round = 0; round < 100000; round++) {
		size_t length = make(data, TUNNEL_VERSION_1, 0);

		for (unsigned i = 0; i < 3; i++)
			data[(unsigned)rand() % length] = (uint8_t)rand();
		read_copy(data, (unsigned)rand() % (length + 1), &inner);
	}
}

int main(void)
{
	test_header_is_that_of_the_standard();
	test_what_was_written_is_read();
	test_every_end_of_it_is_refused();
	test_what_is_not_of_the_bearer();
	test_noise();
	return check_result();
}
