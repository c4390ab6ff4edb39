/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "switch.h"

#define MOST 96

static struct switch_options options;

static int parse(const char *line)
{
	static char text[2048];
	char *argv[MOST + 1] = {"nfvbed-xdp-switch"}, *rest;
	int argc = 1;

	strcpy(text, line);
	for (char *word = strtok_r(text, " ", &rest); word && argc < MOST; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	return switch_options(argc, argv, &options);
}

static void test_whole_line(void)
{
	CHECK_EQUAL(parse("--socket /s --port s0 --port v1a --port v1b --port s1 --cable s0:v1a --cable v1b:s1 "
			  "--station 02:4e:46:56:00:01 --station 02:00:00:00:00:ff --generic"),
		0);
	CHECK_EQUAL(options.ports, 4);
	CHECK_EQUAL(options.cables, 2);
	CHECK_EQUAL(options.cable[1].end[0], 2);
	CHECK_EQUAL(options.cable[1].end[1], 3);
	CHECK_EQUAL(options.stations, 2);
	/* As a program reads an address into a zeroed number: the first byte is the first in memory. */
	CHECK(!memcmp(&options.station[0], "\x02\x4e\x46\x56\x00\x01\0\0", 8));
	CHECK(options.generic);
}

static void test_wrong_lines(void)
{
	static const char *const lines[] = {
		"",
		"--socket /s",
		"--socket /s --port s0",
		"--port s0 --port s1 --cable s0:s1",
		"--socket /s --port s0 --port s0 --cable s0:s0",
		"--socket /s --port s0 --port s1 --cable s0:s0",
		"--socket /s --port s0 --port s1 --cable s0:s2",
		"--socket /s --port s0 --port s1 --cable s0",
		"--socket /s --port s0 --port s --cable s0:s1",
		"--socket /s --port s0 --port s1 --cable s0:s1 --station 02:00:00:00:00",
		"--socket /s --port s0 --port s1 --cable s0:s1 --station 02:00:00:00:00:01:02",
		"--socket /s --port s0 --port s1 --cable s0:s1 rest",
		"--socket /s --port a-name-that-is-too-long --port s1 --cable s0:s1",
		"--no-such-option",
	};

	for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		CHECK_EQUAL(parse(lines[i]), SWITCH_USAGE);
	CHECK_EQUAL(parse("--help"), -1);
}

int main(void)
{
	test_whole_line();
	test_wrong_lines();
	return check_result();
}
