/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The EAL's descriptors of its memory, for drivers that take them for their own. DPDK's memif closes the descriptor of
 * each region that it has shared: with zero-copy that is the EAL's, once for each port, and so the second time whatever
 * has got its number by then, which was the control connection in 9 of 302 starts. So this function, which the driver
 * finds before the EAL's of the same name, gives it a duplicate. Drivers that do not close it call the thread-unsafe
 * one.
 */
#include <errno.h>
#include <fcntl.h>

#include <rte_eal_memconfig.h>
#include <rte_errno.h>
#include <rte_memory.h>

int rte_memseg_get_fd(const struct rte_memseg *ms)
{
	int fd, own;

	rte_mcfg_mem_read_lock();
	fd = rte_memseg_get_fd_thread_unsafe(ms);
	own = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0 && own < 0)
		rte_errno = errno;
	rte_mcfg_mem_read_unlock();
	return own;
}
