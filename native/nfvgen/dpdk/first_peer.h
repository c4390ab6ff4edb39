/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NFVGEN_FIRST_PEER_H
#define NFVGEN_FIRST_PEER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct first_peer {
	pthread_t thread;
	atomic_bool stop;
	bool started;
	int fd;
	char path[108];
};

int first_peer_start(struct first_peer *peer, const char *path);
void first_peer_stop(struct first_peer *peer);

#endif
