/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "gateway.h"

const struct gateway_backend gateway_backend = {.name = "none", .program = "none", .polls = true};

static struct gateway_table table;
static struct gateway_options options;

static int parse(const char *line, bool polls)
{
	static char text[1024];
	const struct gateway_backend backend = {.name = "test", .program = "nfvbed-gateway", .polls = polls};
	char *argv[64] = {"nfvbed-gateway"}, *rest;
	int argc = 1;

	strcpy(text, line);
	for (char *word = strtok_r(text, " ", &rest); word && argc < 63; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	return gateway_options(argc, argv, &backend, &options);
}

#define PORTS "--socket /s --s1u a --sgi b --s1u-address 10.0.0.2 --sgi-address 10.1.0.2 "

static void test_options(void)
{
	CHECK_EQUAL(parse(PORTS "--enb 10.0.0.1,02:00:00:00:00:01 --next-hop 10.1.0.1 --table /t", false), 0);
	CHECK_EQUAL(options.config.side[GATEWAY_S1U].neighbour, 0x0100000a);
	CHECK_EQUAL(options.config.side[GATEWAY_S1U].neighbour_given, 1);
	CHECK_EQUAL(options.neighbour[GATEWAY_S1U], 0x010000000002);
	CHECK_EQUAL(options.config.side[GATEWAY_SGI].neighbour_given, 0);
	CHECK_EQUAL(options.neighbour[GATEWAY_SGI], 0);
	CHECK_EQUAL(options.config.no_outer_checksum, 0);
	CHECK_EQUAL(parse(PORTS "--enb 1.2.3.4 --next-hop 1.2.3.5 --core 3 --mtu 1500 --no-huge --yield "
				"--no-outer-checksum --sgi-mac 02:00:00:00:00:05",
			    true),
		0);
	CHECK_EQUAL(options.core, 3);
	CHECK(!options.mac[GATEWAY_S1U] && options.mac[GATEWAY_SGI] == 0x050000000002);
	CHECK_EQUAL(options.mtu, 1500);
	CHECK(options.no_huge && options.yield && options.config.no_outer_checksum);
	CHECK_EQUAL(parse("--help", false), -1);
}

static void test_wrong_options(void)
{
	static const char *const lines[] = {
		"",
		PORTS,
		PORTS "--enb 10.0.0.1",
		PORTS "--enb 10.0.0.1 --next-hop 10.1.0.1 rest",
		PORTS "--enb 10.0.0 --next-hop 10.1.0.1",
		PORTS "--enb 0.0.0.0 --next-hop 10.1.0.1",
		PORTS "--enb 10.0.0.1, --next-hop 10.1.0.1",
		PORTS "--enb 10.0.0.1,02:00:00:00:00 --next-hop 10.1.0.1",
		PORTS "--enb 10.0.0.1,01:00:00:00:00:01 --next-hop 10.1.0.1",
		PORTS "--enb 10.0.0.1,00:00:00:00:00:00 --next-hop 10.1.0.1",
		PORTS "--enb 1000.1000.1000.1000 --next-hop 10.1.0.1",
		PORTS "--enb 10.0.0.1 --next-hop 10.1.0.1 --no-such-option",
	};
	static const char *const polling[] = {
		"--core x", "--core 4096", "--mtu 9000", "--memory-mib 0", "--core -1", "--s1u-mac 03:00:00:00:00:01"};

	for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		CHECK_EQUAL(parse(lines[i], false), GATEWAY_USAGE);
	for (unsigned i = 0; i < sizeof(polling) / sizeof(*polling); i++) {
		char line[256];

		snprintf(line, sizeof(line), PORTS "--enb 1.2.3.4 --next-hop 1.2.3.5 %s", polling[i]);
		CHECK_EQUAL(parse(line, true), GATEWAY_USAGE);
	}
	CHECK_EQUAL(parse(PORTS "--enb 1.2.3.4 --next-hop 1.2.3.5 --core 0", false), GATEWAY_USAGE);
}

static void test_lines(void)
{
	static const char *const wrong[] = {"", "10.0.0.1", "10.0.0.1 1", "10.0.0.1 0 1", "10.0.0.1 1 0",
		"10.0.0.1 1 2 3", "10.0.0.1 4294967296 1", "10.0.0.1 1 9999999999", "10.0.0.1 99999999999999999999 1",
		"10.0.0.1 -1 1", "10.0.0.256 1 1", "a 1 1", "10.0.0.1 x 1", "10.0.0.1000000000000000000000 1 1",
		"10.0.0.1 1 1x"};
	struct gateway_bearer bearer;

	CHECK_EQUAL(gateway_bearer_parse("45.45.0.1 4294967295 1", &bearer), 0);
	CHECK_EQUAL(bearer.ue, 0x01002d2d);
	CHECK_EQUAL(bearer.uplink, 0xffffffff);
	CHECK_EQUAL(bearer.downlink, 0x01000000);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK(gateway_bearer_parse(wrong[i], &bearer) < 0);
}

static void test_table(void)
{
	struct gateway_bearer bearer = {1, 1, 1}, removed;

	for (uint32_t i = 1; i <= GATEWAY_BEARERS; i++) {
		bearer = (struct gateway_bearer){i, i, i};
		CHECK_EQUAL(gateway_table_add(&table, &bearer), 0);
	}
	CHECK_EQUAL(gateway_table_add(&table, &(struct gateway_bearer){7, 9999, 9999}), -17);
	CHECK_EQUAL(gateway_table_add(&table, &(struct gateway_bearer){9999, 7, 9999}), -17);
	CHECK_EQUAL(gateway_table_add(&table, &(struct gateway_bearer){9999, 9999, 7}), -17);
	CHECK_EQUAL(gateway_table_add(&table, &(struct gateway_bearer){9999, 9999, 9999}), -28);
	CHECK_EQUAL(gateway_table_remove(&table, 9999, &removed), -2);
	CHECK_EQUAL(gateway_table_remove(&table, 7, &removed), 0);
	CHECK_EQUAL(removed.downlink, 7);
	CHECK_EQUAL(table.bearers, GATEWAY_BEARERS - 1);
	CHECK_EQUAL(gateway_table_add(&table, &(struct gateway_bearer){9999, 9999, 9999}), 0);
}

static int read_text(const char *text, size_t length)
{
	char path[] = "/tmp/nfvbed-gateway-table-XXXXXX";
	int file = mkstemp(path), result;

	if (file < 0 || write(file, text, length) != (ssize_t)length)
		abort();
	close(file);
	table.bearers = 0;
	result = gateway_table_read(path, &table);
	unlink(path);
	return result;
}

/* Files of anything: they are read or refused, and the table never holds more than it has room for. */
static void test_files(void)
{
	static const char good[] = "# UE uplink downlink\n10.0.0.1 1 2\n\n10.0.0.2 3 4\r\n10.0.0.3 5 6";
	static const char alphabet[] = "0123456789.  \n\n#x-\0\xff";
	char noise[2000];
	uint32_t state = 1;

	CHECK_EQUAL(read_text(good, sizeof(good) - 1), 0);
	CHECK_EQUAL(table.bearers, 3);
	CHECK_EQUAL(read_text("10.0.0.1 1 2\n10.0.0.1 3 4\n", 26), -17);
	CHECK_EQUAL(gateway_table_read("/nonexistent/table", &table), -2);
	memset(noise, ' ', sizeof(noise));
	memcpy(noise + 1000, "10.0.0.1 1 2", 12);
	CHECK(read_text(noise, sizeof(noise)) <= 0);
	for (unsigned round = 0; round < 2000; round++) {
		unsigned length = round % sizeof(noise);

		for (unsigned i = 0; i < length; i++) {
			state = state * 1664525u + 1013904223u;
			noise[i] = alphabet[(state >> 16) % (sizeof(alphabet) - 1)];
		}
		CHECK(read_text(noise, length) <= 0);
	}
}

int main(void)
{
	test_options();
	test_wrong_options();
	test_lines();
	test_table();
	test_files();
	return check_result();
}
