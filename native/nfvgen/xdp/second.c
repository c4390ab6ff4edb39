/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a second sender: it sleeps between trials, so that its CPU time is that of the senders. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "xdp.h"

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int (*work)(void *); /* NULL: none */
	void *argument;
	int result;
	int thread_id; /* 0: it has not begun */
	bool runs;
	bool ends;
} second = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *second_main(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&second.lock);
	second.thread_id = gettid();
	pthread_cond_broadcast(&second.changed);
	while (!second.ends) {
		if (second.work) {
			int (*work)(void *) = second.work;
			int result;

			pthread_mutex_unlock(&second.lock);
			result = work(second.argument);
			pthread_mutex_lock(&second.lock);
			second.result = result;
			second.work = NULL;
			pthread_cond_broadcast(&second.changed);
			continue;
		}
		pthread_cond_wait(&second.changed, &second.lock);
	}
	pthread_mutex_unlock(&second.lock);
	return NULL;
}

int xdp_second_open(int core, int *thread_id, struct failure *why)
{
	pthread_attr_t attributes;
	cpu_set_t set;
	int err = pthread_attr_init(&attributes);

	CPU_ZERO(&set);
	CPU_SET((size_t)core, &set);
	if (!err)
		err = pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
	if (!err)
		err = pthread_create(&second.thread, &attributes, second_main, NULL);
	pthread_attr_destroy(&attributes);
	if (err)
		return xdp_fail(why, -err, "--core: a second sender cannot run on %d: %s", core, strerror(err));
	second.runs = true;
	pthread_mutex_lock(&second.lock);
	while (!second.thread_id)
		pthread_cond_wait(&second.changed, &second.lock);
	*thread_id = second.thread_id;
	pthread_mutex_unlock(&second.lock);
	return 0;
}

void xdp_second_close(void)
{
	if (!second.runs)
		return;
	pthread_mutex_lock(&second.lock);
	second.ends = true;
	pthread_cond_broadcast(&second.changed);
	pthread_mutex_unlock(&second.lock);
	pthread_join(second.thread, NULL);
	second.runs = false;
}

pthread_t xdp_second_thread(void)
{
	return second.thread;
}

void xdp_second_start(int (*work)(void *), void *argument)
{
	pthread_mutex_lock(&second.lock);
	second.argument = argument;
	second.work = work;
	pthread_cond_broadcast(&second.changed);
	pthread_mutex_unlock(&second.lock);
}

int xdp_second_wait(void)
{
	int result;

	pthread_mutex_lock(&second.lock);
	while (second.work)
		pthread_cond_wait(&second.changed, &second.lock);
	result = second.result;
	pthread_mutex_unlock(&second.lock);
	return result;
}
