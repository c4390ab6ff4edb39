/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "worker.h"
#include "scheduling.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define IDLE_NS 1000000
#define LEAVE_NS 2000000
#define NS_PER_S 1000000000ull

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake; /* for the worker */
	pthread_cond_t done; /* for who waits for it */
	const struct engine *engine;
	struct engine_options options;
	struct engine_info info;
	enum worker_state state;
	bool quit;
	bool ended;
	atomic_bool stop;
	unsigned trials;
	uint64_t started_ns;
	uint64_t elapsed_ns;
	struct failure failure;
	struct trial trial;
	struct trial_counts counts;   /* the engine writes it while a trial runs */
	struct trial_counts snapshot; /* what others see meanwhile */
} worker = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t worker_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static struct timespec in_ns(uint64_t ns)
{
	uint64_t at = worker_now_ns() + ns;

	return (struct timespec){.tv_sec = (time_t)(at / NS_PER_S), .tv_nsec = (long)(at % NS_PER_S)};
}

static void set_state(enum worker_state state)
{
	worker.state = state;
	pthread_cond_broadcast(&worker.done);
}

/*
 * Whoever asked for the trial may share this core: it reads the answer and goes to sleep first. Else it would have to
 * wait for a turn, and would have it within the trial, for some 200 us.
 */
static void leave_the_core(void)
{
	const struct timespec moment = {.tv_nsec = LEAVE_NS};

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
}

/* Called with the lock; gives it away while the trial runs. */
static void run_trial(void)
{
	int result;

	pthread_mutex_unlock(&worker.lock);
	leave_the_core();
	result = worker.engine->run(&worker.trial, &worker.counts, &worker.stop, &worker.failure);
	pthread_mutex_lock(&worker.lock);
	worker.elapsed_ns = worker_now_ns() - worker.started_ns;
	set_state(result < 0 ? WORKER_FAILED : WORKER_DONE);
}

static void serve(void)
{
	while (!worker.quit) {
		struct timespec until;

		if (worker.state == WORKER_RUNNING) {
			run_trial();
			continue;
		}
		if (worker.engine->idle) {
			pthread_mutex_unlock(&worker.lock);
			worker.engine->idle(worker.trials ? &worker.trial : NULL);
			pthread_mutex_lock(&worker.lock);
		}
		until = in_ns(IDLE_NS);
		if (!worker.quit && worker.state != WORKER_RUNNING)
			pthread_cond_timedwait(&worker.wake, &worker.lock, &until);
	}
}

static void *worker_main(void *argument)
{
	int result = worker.engine->open(&worker.options, &worker.info, &worker.failure);

	scheduling_prefer_this_thread(); /* now, so that the threads which the engine has started stay as they were */
	if (worker.options.yield)
		scheduling_shorten_slice();

	pthread_mutex_lock(&worker.lock);
	set_state(result < 0 ? WORKER_BROKEN : WORKER_IDLE);
	if (result == 0) {
		serve();
		pthread_mutex_unlock(&worker.lock);
		worker.engine->close();
		pthread_mutex_lock(&worker.lock);
	}
	worker.ended = true;
	pthread_cond_broadcast(&worker.done);
	pthread_mutex_unlock(&worker.lock);
	return argument;
}

int worker_open(const struct engine *engine, const struct engine_options *options)
{
	pthread_condattr_t monotonic;

	worker.engine = engine;
	worker.options = *options;
	worker.state = WORKER_OPENING;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&worker.wake, &monotonic);
	pthread_cond_init(&worker.done, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return -pthread_create(&worker.thread, NULL, worker_main, NULL);
}

enum worker_state worker_state(void)
{
	enum worker_state state;

	pthread_mutex_lock(&worker.lock);
	state = worker.state;
	pthread_mutex_unlock(&worker.lock);
	return state;
}

const struct engine_info *worker_info(void)
{
	return &worker.info;
}

void worker_links(bool up[NFVGEN_PORTS])
{
	for (unsigned i = 0; i < NFVGEN_PORTS; i++)
		up[i] = worker.info.ports[i].link_up;
	if (worker.engine->links)
		worker.engine->links(up);
}

void worker_start(const struct trial *trial)
{
	pthread_mutex_lock(&worker.lock);
	trial_free(&worker.trial);
	worker.trial = *trial;
	worker.failure.text[0] = '\0';
	atomic_store(&worker.stop, false);
	worker.trials++;
	worker.started_ns = worker_now_ns();
	worker.elapsed_ns = 0;
	worker.snapshot = (struct trial_counts){0};
	worker.state = WORKER_RUNNING;
	pthread_cond_signal(&worker.wake);
	pthread_mutex_unlock(&worker.lock);
}

void worker_stop(void)
{
	atomic_store(&worker.stop, true);
}

bool worker_wait(unsigned timeout_ms)
{
	struct timespec until = in_ns((uint64_t)timeout_ms * 1000000);
	bool waiting;

	pthread_mutex_lock(&worker.lock);
	while (worker.state == WORKER_OPENING || worker.state == WORKER_RUNNING)
		if (pthread_cond_timedwait(&worker.done, &worker.lock, &until) == ETIMEDOUT)
			break;
	waiting = worker.state == WORKER_OPENING || worker.state == WORKER_RUNNING;
	pthread_mutex_unlock(&worker.lock);
	return !waiting;
}

void worker_view(struct worker_view *view)
{
	pthread_mutex_lock(&worker.lock);
	view->state = worker.state;
	view->have_trial = worker.trials > 0;
	view->trials = worker.trials;
	view->queues = worker.options.queues;
	view->failure = worker.failure;
	view->trial = worker.trial;
	view->counts = &worker.counts;
	view->elapsed_ns = worker.elapsed_ns;
	if (worker.state == WORKER_RUNNING) {
		worker.engine->snapshot(&worker.snapshot);
		view->counts = &worker.snapshot;
		view->elapsed_ns = worker_now_ns() - worker.started_ns;
	}
	pthread_mutex_unlock(&worker.lock);
}

bool worker_close(unsigned timeout_ms)
{
	struct timespec until = in_ns((uint64_t)timeout_ms * 1000000);
	bool ended;

	pthread_mutex_lock(&worker.lock);
	worker.quit = true;
	atomic_store(&worker.stop, true);
	pthread_cond_signal(&worker.wake);
	while (!worker.ended)
		if (pthread_cond_timedwait(&worker.done, &worker.lock, &until) == ETIMEDOUT)
			break;
	ended = worker.ended;
	pthread_mutex_unlock(&worker.lock);
	if (ended)
		pthread_join(worker.thread, NULL);
	return ended;
}
