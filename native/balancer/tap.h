/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of the multi-queue taps that nfvbed makes. */
#ifndef NFVBED_TAP_H
#define NFVBED_TAP_H

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Other flags would change the device for all who have it open. */
#define TAP_FLAGS (IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_MULTI_QUEUE)

/*
 * Opens one more queue of a tap of this network namespace. Returns a descriptor or -errno. Of a name that is not there
 * the kernel would make a device.
 */
static inline int tap_open_queue(const char *name, int flags)
{
	struct ifreq request = {.ifr_flags = (short)TAP_FLAGS};
	int queue, err;

	if (!if_nametoindex(name))
		return -errno;
	queue = open("/dev/net/tun", O_RDWR | O_CLOEXEC | flags);
	if (queue < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (!ioctl(queue, TUNSETIFF, &request))
		return queue;
	err = -errno;
	close(queue);
	return err;
}

#endif
