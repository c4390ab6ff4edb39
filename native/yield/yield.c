/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes an unmodified DPDK program give its core away when it has nothing to do. A program that polls never sleeps;
 * where it shares its core with another one that polls, each runs for whole scheduler slices while the rings of the
 * other overflow. Loaded with LD_PRELOAD, not with the EAL's -d: what is wanted is the moment at which a port starts,
 * and the EAL tells that to nobody, but rte_eth_dev_start() is called for it.
 *
 * - Every receive queue of a port that starts gets a callback; so many empty polls in a row as it has queues, and the
 *   thread yields.
 * - DPDK's waiting (rte_delay_us) yields instead: testpmd waits so before it tries again to send what a full ring
 *   refused.
 * - The thread's scheduler slice is made short: it comes back sooner when somebody else woke up on its core.
 * - Where the program has AF_XDP or packet sockets and is asked to wait, the thread sleeps until one of them has frames
 *   in place of yielding, and then runs at once, at a real-time priority. What shares its core may be inside the
 * kernel, where it gives way only at the scheduler's tick: while it runs on for 4 ms, rings for 512 frames overflow.
 *
 * Environment: NFVBED_YIELD_REPORT, a file for struct yield_report; NFVBED_YIELD_SLICE_NS, default 100,000, 0 leaves
 * the slice; NFVBED_YIELD_NICE, the threads' nice value, default: as they are; NFVBED_YIELD_PRIORITY, the real-time
 * priority of threads that wait for such sockets, default: none waits.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "scheduling.h"
#include "yield.h"

#define SLICE_NS 100000ull
#define NO_NICE 100
#define FULL_US 20
#define MOST_SOCKETS 32
#define MOST_FILES 1024
#define WAIT_MS 1 /* and then it looks by itself: a wake-up that was missed costs no more */
#ifndef AF_XDP
#define AF_XDP 44
#endif

/* Symbols of the program that loads this; not linked, so that loading it into another one does no harm. */
#pragma weak rte_eth_add_rx_callback
#pragma weak rte_eth_dev_info_get
#pragma weak rte_delay_us_callback_register

static struct yield_report nowhere; /* where no file was asked for */
static struct yield_report *report = &nowhere;
static atomic_uint rows;
static unsigned long long slice_ns = SLICE_NS;
static int nice_value = NO_NICE;
static int priority; /* 0: threads yield and do not wait */
static struct pollfd sockets[MOST_SOCKETS];
static unsigned socket_count;

static __thread struct yield_thread *mine;
static __thread unsigned empty_in_row;

static void run_first(void)
{
	struct sched_param wanted = {.sched_priority = priority};

	if (sched_setscheduler(0, SCHED_FIFO, &wanted) < 0)
		fprintf(stderr, "nfvbed-yield: thread %d gets no real-time priority: %s\n", gettid(), strerror(errno));
}

/* A kernel without slices of one's own (before 6.12) takes no notice; an nfvbed that is not root may not lower nice. */
static void place_thread(void)
{
	struct scheduling wanted = {.size = sizeof(wanted)};

	/*
	 * The main thread polls for a moment when forwarding starts, and spins when it ends: at a worker's real-time
	 * priority, on the worker's core, it would wait for ever for one that never runs.
	 */
	if (gettid() == getpid())
		return;
	if (socket_count) {
		run_first();
		return;
	}
	if (syscall(SYS_sched_getattr, 0, &wanted, sizeof(wanted), 0) < 0 || wanted.policy != SCHED_OTHER)
		return;
	if (slice_ns)
		wanted.runtime = slice_ns;
	if (nice_value != NO_NICE)
		wanted.nice = nice_value;
	if (syscall(SYS_sched_setattr, 0, &wanted, 0) < 0)
		fprintf(stderr, "nfvbed-yield: slice and nice value of thread %d are left as they are: %s\n", gettid(),
			strerror(errno));
}

/* Threads beyond the last row share it: their counts are then no sum of anything, but the program runs. */
static struct yield_thread *take_row(void)
{
	unsigned row = atomic_fetch_add(&rows, 1);

	place_thread();
	mine = &report->threads[row < YIELD_THREADS ? row : YIELD_THREADS - 1];
	mine->tid = (uint64_t)gettid();
	return mine;
}

static uint16_t after_poll(
	uint16_t port, uint16_t queue, struct rte_mbuf *frames[], uint16_t count, uint16_t most, void *data)
{
	struct yield_thread *row = mine ? mine : take_row();

	(void)port;
	(void)queue;
	(void)frames;
	(void)most;
	(void)data;
	row->polls++;
	if (count) {
		empty_in_row = 0;
		return count;
	}
	row->empty++;
	if (++empty_in_row < report->queues)
		return 0;
	empty_in_row = 0;
	row->yields++;
	if (socket_count)
		(void)poll(sockets, socket_count, WAIT_MS);
	else
		sched_yield();
	return 0;
}

/* Any wait of the program: a full ring is emptied by another core while others have this one. */
static void yield_for(unsigned us)
{
	struct yield_thread *row = mine;
	struct timespec now;
	uint64_t until;

	if (socket_count) {
		/* Who would take the core after a yield has no real-time priority. */
		if (row)
			row->refused++;
		(void)usleep(us);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	until = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + us * 1000u;
	do {
		if (row)
			row->refused++;
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < until);
}

/* DPDK does not tell a port's sockets; they are those among the open files. A thread polls all of its program's ports.
 */
static void find_sockets(void)
{
	unsigned found = 0;

	for (int file = 0; priority && file < MOST_FILES && found < MOST_SOCKETS; file++) {
		int domain = 0;
		socklen_t size = sizeof(domain);

		if (getsockopt(file, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
			(domain == AF_XDP || domain == AF_PACKET))
			sockets[found++] = (struct pollfd){.fd = file, .events = POLLIN};
	}
	socket_count = found;
}

static bool is_waited_for(int file)
{
	for (unsigned index = 0; index < socket_count; index++)
		if (sockets[index].fd == file)
			return true;
	return false;
}

static void watch_port(uint16_t port)
{
	struct rte_eth_dev_info info;

	if (!rte_eth_add_rx_callback || !rte_eth_dev_info_get || rte_eth_dev_info_get(port, &info) < 0)
		return;
	for (uint16_t queue = 0; queue < info.nb_rx_queues; queue++) {
		if (rte_eth_add_rx_callback(port, queue, after_poll, NULL))
			report->queues++;
		else
			fprintf(stderr, "nfvbed-yield: port %u, queue %u is not watched\n", port, queue);
	}
	report->ports++;
}

/* In the place of DPDK's; a port that is started again has its callbacks already. */
int rte_eth_dev_start(uint16_t port)
{
	static int (*real)(uint16_t port);
	static bool watched[RTE_MAX_ETHPORTS];
	int result;

	if (!real)
		real = (int (*)(uint16_t))dlsym(RTLD_NEXT, "rte_eth_dev_start");
	if (!real)
		return -ENOSYS;
	result = real(port);
	if (result < 0 || port >= RTE_MAX_ETHPORTS || watched[port])
		return result;
	watched[port] = true;
	find_sockets();
	watch_port(port);
	if (rte_delay_us_callback_register)
		rte_delay_us_callback_register(yield_for);
	return result;
}

/*
 * In the place of the C library's. A full AF_XDP socket asks to try again, and DPDK does so until others have taken the
 * frames that are under way: their receive threads may be waiting for the core that this thread tries on.
 */
ssize_t send(int file, const void *data, size_t size, int flags)
{
	static ssize_t (*real)(int file, const void *data, size_t size, int flags);
	ssize_t result;

	if (!real)
		real = (ssize_t(*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	result = real(file, data, size, flags);
	if (result < 0 && (errno == EAGAIN || errno == EBUSY) && is_waited_for(file)) {
		const int reason = errno;

		if (mine)
			mine->refused++;
		(void)usleep(FULL_US);
		errno = reason;
	}
	return result;
}

static void open_report(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *memory = MAP_FAILED;

	if (file >= 0 && ftruncate(file, sizeof(*report)) == 0)
		memory = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED)
		fprintf(stderr, "nfvbed-yield: %s: %s; nothing is reported\n", path, strerror(errno));
	else
		report = memory;
	if (file >= 0)
		close(file);
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("NFVBED_YIELD_REPORT"), *slice = getenv("NFVBED_YIELD_SLICE_NS"),
		   *wanted = getenv("NFVBED_YIELD_NICE"), *first = getenv("NFVBED_YIELD_PRIORITY");

	/* Also loaded into what starts the program (nfvbed-exec), which has no ports. */
	if (!rte_eth_add_rx_callback)
		return;
	if (path)
		open_report(path);
	if (slice)
		slice_ns = strtoull(slice, NULL, 10);
	if (wanted)
		nice_value = atoi(wanted);
	if (first)
		priority = atoi(first);
	report->magic = YIELD_MAGIC;
	report->version = YIELD_VERSION;
}
