/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a trial: the calling thread is in the kernel's loop, a second one watches the end, `stop` and the ports.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "deaf.h"
#include "xdp.h"

/* Real-time signals are nobody's default; the handler does nothing, the interruption is what is wanted. */
#define WAKE_SIGNAL (SIGRTMIN + 1)
#define LOOK_NS 5000000ull
#define REPEAT_NS 500000ull

struct watch {
	const struct trial *trial;
	const atomic_bool *stop;
	pthread_t sender;
	atomic_bool ended; /* the sender is out of the kernel */
	atomic_int deaf;   /* the direction whose port takes nothing, + 1 */
	uint64_t duration_ns;
};

static void on_wake(int number)
{
	(void)number;
}

static void pause_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* The direction whose port takes nothing, + 1; 0: none. */
static int look_for_deaf(const struct trial *trial, struct deaf deaf[XDP_DIRECTIONS])
{
	for (unsigned i = 0; i < trial->directions; i++) {
		const struct xmit_counts port = xdp_xmit_read(trial->direction[i].tx);

		if (deaf_look(&deaf[i], &port))
			return (int)i + 1;
	}
	return 0;
}

static int find_deaf_at_end(const struct trial *trial)
{
	for (unsigned i = 0; i < trial->directions; i++) {
		const struct xmit_counts port = xdp_xmit_read(trial->direction[i].tx);

		if (deaf_at_end(xdp_sender_read(i).generated, &port))
			return (int)i + 1;
	}
	return 0;
}

static void watch_until_end(struct watch *watch)
{
	struct deaf deaf[XDP_DIRECTIONS] = {0};
	uint64_t elapsed, left;

	while (!atomic_load(&watch->ended) && !atomic_load(watch->stop)) {
		if (xdp_sender_done(&elapsed))
			return;
		atomic_store(&watch->deaf, look_for_deaf(watch->trial, deaf));
		if (atomic_load(&watch->deaf))
			return;
		left = watch->duration_ns > elapsed ? watch->duration_ns - elapsed : 0;
		pause_ns(left < LOOK_NS ? left + REPEAT_NS / 10 : LOOK_NS);
	}
}

static void *watch_main(void *argument)
{
	struct watch *watch = argument;

	watch_until_end(watch);
	/* Again and again: a signal that comes before the call begins ends nothing. */
	while (!atomic_load(&watch->ended)) {
		pthread_kill(watch->sender, WAKE_SIGNAL);
		pause_ns(REPEAT_NS);
	}
	return NULL;
}

/* On any CPU but the sender's, which never rests. */
static int start_watching(pthread_t *thread, struct watch *watch, int core)
{
	pthread_attr_t attributes;
	cpu_set_t others;
	int err = pthread_attr_init(&attributes);

	if (err)
		return -err;
	CPU_ZERO(&others);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (i != core)
			CPU_SET(i, &others);
	err = pthread_attr_setaffinity_np(&attributes, sizeof(others), &others);
	if (!err)
		err = pthread_create(thread, &attributes, watch_main, watch);
	/* The only CPU of the machine: beside the sender it is slow, but it works. */
	if (err == EINVAL)
		err = pthread_create(thread, NULL, watch_main, watch);
	pthread_attr_destroy(&attributes);
	return -err;
}

static int call_until_end(const struct watch *watch)
{
	uint64_t elapsed;
	int err = 0;

	while (!err && !atomic_load(watch->stop) && !atomic_load(&watch->deaf) && !xdp_sender_done(&elapsed)) {
		err = xdp_sender_call();
		/* A debugger or a stop signal interrupts too; then the call is made again. */
		if (err == -EINTR)
			err = 0;
	}
	return err;
}

static int deaf_failure(const struct xdp_port ports[XDP_PORTS], unsigned tx, struct failure *why)
{
	const struct xdp_port *port = &ports[tx];
	const struct xmit_counts seen = xdp_xmit_read(tx);

	if (!xdp_port_link(port))
		return xdp_fail(why, -ENETDOWN, "port %s: takes no frames: it is down or has no carrier", port->name);
	return xdp_fail(why, -ENXIO,
		"port %s: takes no redirected frames (%s); the peer of a veth needs an XDP program or generic receive "
		"offload (ethtool -K PEER gro on), another interface a driver with XDP transmission",
		port->name, seen.turned_away ? strerror((int)-seen.error) : "the kernel reports nothing of them");
}

int xdp_run_sender(const struct trial *trial, const struct xdp_port ports[XDP_PORTS], const atomic_bool *stop, int core,
	struct failure *why)
{
	struct sigaction action = {.sa_handler = on_wake};
	struct watch watch = {.trial = trial,
		.stop = stop,
		.sender = pthread_self(),
		.duration_ns = trial->duration_ns + trial->then_duration_ns};
	pthread_t watcher;
	sigset_t wake;
	int err, deaf;

	sigemptyset(&wake);
	sigaddset(&wake, WAKE_SIGNAL);
	if (sigaction(WAKE_SIGNAL, &action, NULL) || pthread_sigmask(SIG_UNBLOCK, &wake, NULL))
		return xdp_fail(why, -errno, "the signal that ends a trial is refused: %s", strerror(errno));
	err = start_watching(&watcher, &watch, core);
	if (err)
		return xdp_fail(why, err, "no second thread: %s", strerror(-err));
	err = call_until_end(&watch);
	atomic_store(&watch.ended, true);
	pthread_join(watcher, NULL);
	if (err)
		return xdp_fail(why, err, "BPF_PROG_TEST_RUN with live frames: %s", strerror(-err));
	deaf = atomic_load(&watch.deaf) ? atomic_load(&watch.deaf) : find_deaf_at_end(trial);
	return deaf ? deaf_failure(ports, trial->direction[deaf - 1].tx, why) : 0;
}
