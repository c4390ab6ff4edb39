/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a trial: the calling thread is in the kernel's loop, and so is that of a second sender where there is
 * one; another one watches the end, `stop` and the ports.
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
	pthread_t sender[XDP_DIRECTIONS];
	atomic_bool ended[XDP_DIRECTIONS]; /* the sender is out of the kernel */
	unsigned count;
	atomic_int deaf; /* the direction whose port takes nothing, + 1 */
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

static bool all_ended(const struct watch *watch)
{
	for (unsigned i = 0; i < watch->count; i++)
		if (!atomic_load(&watch->ended[i]))
			return false;
	return true;
}

/* The first one that is done is woken at once, and the other one then, if it is not done yet, when it is. */
static bool is_any_done(const struct watch *watch, uint64_t *elapsed_ns)
{
	bool done = false;

	*elapsed_ns = 0;
	for (unsigned i = 0; i < watch->count; i++) {
		uint64_t elapsed;

		if (atomic_load(&watch->ended[i]))
			continue;
		done |= xdp_sender_done(i, &elapsed);
		*elapsed_ns = elapsed > *elapsed_ns ? elapsed : *elapsed_ns;
	}
	return done;
}

static void watch_until_end(struct watch *watch)
{
	struct deaf deaf[XDP_DIRECTIONS] = {0};
	uint64_t elapsed, left;

	while (!all_ended(watch) && !atomic_load(watch->stop)) {
		if (is_any_done(watch, &elapsed))
			return;
		atomic_store(&watch->deaf, look_for_deaf(watch->trial, deaf));
		if (atomic_load(&watch->deaf))
			return;
		left = watch->duration_ns > elapsed ? watch->duration_ns - elapsed : 0;
		pause_ns(left < LOOK_NS ? left + REPEAT_NS / 10 : LOOK_NS);
	}
}

static bool must_end(const struct watch *watch, unsigned number)
{
	uint64_t elapsed;

	return xdp_sender_done(number, &elapsed) || atomic_load(watch->stop) || atomic_load(&watch->deaf);
}

static void *watch_main(void *argument)
{
	struct watch *watch = argument;

	watch_until_end(watch);
	/* Again and again: a signal that comes before the call begins ends nothing. */
	while (!all_ended(watch)) {
		for (unsigned i = 0; i < watch->count; i++)
			if (!atomic_load(&watch->ended[i]) && must_end(watch, i))
				pthread_kill(watch->sender[i], WAKE_SIGNAL);
		pause_ns(REPEAT_NS);
	}
	return NULL;
}

/* On any CPU but the senders', which never rest. */
static int start_watching(pthread_t *thread, struct watch *watch, const int cores[])
{
	pthread_attr_t attributes;
	cpu_set_t others;
	int err = pthread_attr_init(&attributes);

	if (err)
		return -err;
	CPU_ZERO(&others);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (i != cores[0] && (watch->count < 2 || i != cores[1]))
			CPU_SET(i, &others);
	err = pthread_attr_setaffinity_np(&attributes, sizeof(others), &others);
	if (!err)
		err = pthread_create(thread, &attributes, watch_main, watch);
	/* The only CPUs of the machine: beside a sender it is slow, but it works. */
	if (err == EINVAL)
		err = pthread_create(thread, NULL, watch_main, watch);
	pthread_attr_destroy(&attributes);
	return -err;
}

static int call_until_end(struct watch *watch, unsigned number)
{
	int err = 0;

	while (!err && !must_end(watch, number)) {
		err = xdp_sender_call(number);
		/* A debugger or a stop signal interrupts too; then the call is made again. */
		if (err == -EINTR)
			err = 0;
	}
	atomic_store(&watch->ended[number], true);
	return err;
}

static int hear_wake(void)
{
	sigset_t wake;

	sigemptyset(&wake);
	sigaddset(&wake, WAKE_SIGNAL);
	return -pthread_sigmask(SIG_UNBLOCK, &wake, NULL);
}

static int call_second(void *argument)
{
	struct watch *watch = argument;
	int err = hear_wake();

	if (!err)
		return call_until_end(watch, 1);
	atomic_store(&watch->ended[1], true);
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

int xdp_run_senders(const struct trial *trial, const struct xdp_port ports[XDP_PORTS], const atomic_bool *stop,
	const int cores[], struct failure *why)
{
	struct sigaction action = {.sa_handler = on_wake};
	struct watch watch = {.trial = trial,
		.stop = stop,
		.sender = {pthread_self(), xdp_second_thread()},
		.count = xdp_sender_count(),
		.duration_ns = trial->duration_ns + trial->then_duration_ns};
	pthread_t watcher;
	int err, deaf, second = 0;

	err = sigaction(WAKE_SIGNAL, &action, NULL) ? -errno : hear_wake();
	if (err)
		return xdp_fail(why, err, "the signal that ends a trial is refused: %s", strerror(-err));
	err = start_watching(&watcher, &watch, cores);
	if (err)
		return xdp_fail(why, err, "no further thread: %s", strerror(-err));
	if (watch.count > 1)
		xdp_second_start(call_second, &watch);
	err = call_until_end(&watch, 0);
	if (watch.count > 1)
		second = xdp_second_wait();
	err = err ? err : second;
	pthread_join(watcher, NULL);
	if (err)
		return xdp_fail(why, err, "BPF_PROG_TEST_RUN with live frames: %s", strerror(-err));
	deaf = atomic_load(&watch.deaf) ? atomic_load(&watch.deaf) : find_deaf_at_end(trial);
	return deaf ? deaf_failure(ports, trial->direction[deaf - 1].tx, why) : 0;
}
