/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has the kernel count the time that the hypervisor takes of each core, exactly, and hands the count to whoever started
 * this: the map and the link that keeps the program attached, over the Unix socket that is this process's standard
 * output. It ends then; the count ends when nobody has the link any more.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "steal.skel.h"

#define PROGRAM "nfvbed-steal"
#define HANDED 2

static int fail(const char *what, int err)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", what, strerror(-err));
	return err;
}

/* Not libbpf's own words: many lines, of which the error is the last. */
static int silent(enum libbpf_print_level level, const char *format, va_list values)
{
	(void)level, (void)format, (void)values;
	return 0;
}

static int hand_over(int map, int link)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(HANDED * sizeof(int))];
	} control = {0};
	char byte = 0;
	struct iovec data = {.iov_base = &byte, .iov_len = sizeof(byte)};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room)};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	const int handed[HANDED] = {map, link};

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(handed));
	memcpy(CMSG_DATA(rights), handed, sizeof(handed));
	return sendmsg(STDOUT_FILENO, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int main(void)
{
	struct steal_bpf *skeleton;
	int err;

	libbpf_set_print(silent);
	skeleton = steal_bpf__open_and_load();
	if (!skeleton) {
		fail("the kernel does not take the program", errno ? -errno : -EINVAL);
		return 1;
	}
	err = steal_bpf__attach(skeleton);
	if (err) {
		fail("the kernel's account of stolen time cannot be read", err);
		goto destroy;
	}
	err = hand_over(bpf_map__fd(skeleton->maps.stolen_ns), bpf_link__fd(skeleton->links.read_account));
	if (err)
		fail("the count cannot be handed over: standard output is no Unix socket", err);
destroy:
	steal_bpf__destroy(skeleton);
	return err ? 1 : 0;
}
