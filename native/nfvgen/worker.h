/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that owns the engine: it opens the ports, runs trials, idles between them and closes the ports. */
#ifndef NFVGEN_WORKER_H
#define NFVGEN_WORKER_H

#include "engine.h"

enum worker_state { WORKER_OPENING, WORKER_BROKEN, WORKER_IDLE, WORKER_RUNNING, WORKER_DONE, WORKER_FAILED };

/* A picture of the worker at one moment. The trial's counts are only there after the first trial was started. */
struct worker_view {
	enum worker_state state;
	bool have_trial;
	uint64_t elapsed_ns;
	unsigned trials;
	unsigned queues;
	struct failure failure;
	struct trial trial;
	const struct trial_counts *counts; /* valid until the next worker_view() or worker_start() */
};

int worker_open(const struct engine *engine, const struct engine_options *options);
enum worker_state worker_state(void);
const struct engine_info *worker_info(void); /* complete once the state is not WORKER_OPENING */
void worker_links(bool up[NFVGEN_PORTS]);
void worker_start(const struct trial *trial); /* takes what it holds; none may be running */
void worker_stop(void);                       /* asks; worker_wait() waits */
bool worker_wait(unsigned timeout_ms);        /* until the state is neither OPENING nor RUNNING; false: still is */
void worker_view(struct worker_view *view);
bool worker_close(unsigned timeout_ms); /* false: it did not end in time */
uint64_t worker_now_ns(void);

#endif
