/* SPDX-License-Identifier: Apache-2.0 */
/* Between the parts of the program that are not an engine. */
#ifndef NFVGEN_NFVGEN_H
#define NFVGEN_NFVGEN_H

#include <jansson.h>

#include "engine.h"
#include "worker.h"

#define NFVGEN_SCHEMA "nfvgen/1"
#define NFVGEN_VERSION "0.2.0"

#define NFVGEN_MIN_DURATION_NS 1000000ll        /* 1 ms */
#define NFVGEN_MAX_DURATION_NS 86400000000000ll /* 24 h */
#define NFVGEN_MAX_DRAIN_NS 10000000000ll
#define NFVGEN_MAX_LEARNING 100
#define NFVGEN_MAX_WEIGHT 1000
#define NFVGEN_MAX_DESTINATIONS 8
#define NFVGEN_MAX_RATE_PPS 1000000000ll
#define NFVGEN_MIN_BIN_NS 10000ll
#define NFVGEN_MAX_BIN_NS 1000000000ll

enum exit_status {
	EXIT_ENDED = 0,
	EXIT_INTERNAL = 1,
	EXIT_USAGE = 2,
	EXIT_BUSY = 13,
	EXIT_PORT = 24,
	EXIT_SIGINT = 130
};

struct options {
	const struct engine *engine;
	const char *socket;
	struct engine_options engine_options;
};

/* Why a request is refused; becomes the answer's "error". */
struct refusal {
	const char *code;
	char message[320];
	char field[64];
	bool has_limit;
	json_int_t limit;
};

/* Why the program ends; becomes the exit document. */
struct ending {
	const char *reason;
	int signal;
	int status;
};

/* options.c: 0, or EXIT_USAGE after one line on standard error. */
int options_parse(int argc, char **argv, struct options *options);

/* refusal.c: fills `why` and returns -1. */
__attribute__((format(printf, 4, 5))) int refuse(
	struct refusal *why, const char *code, const char *field, const char *format, ...);

/* trial.c: 0 or -1 with `why` filled. What it allocates goes with the trial, and is freed by trial_free(). */
int trial_parse(const json_t *request, const struct engine_info *info, struct trial *trial, struct refusal *why);

/* result.c: new references. */
json_t *result_hello(const struct options *options);
json_t *result_stats(void);
json_t *result_exit(const struct ending *ending);

/* request.c: the answer to one line (a new reference). `quit` is set when the program is to end after it. */
json_t *request_answer(const struct options *options, const char *line, size_t length, bool *quit);

/* control.c */
int control_claim(const char *path);  /* 0, EXIT_BUSY or EXIT_USAGE, with a line on standard error */
int control_listen(const char *path); /* a listening socket, or -errno */
void control_serve(const struct options *options, int listening, int signals, struct ending *ending);

/* ending.c: what control and requests both ask and tell, so that neither calls the other for it. */
void ending_watch(int signals); /* a signalfd; its reader is the only one */
void ending_set(struct ending ending);
bool ending_is_set(void);
bool ending_look(struct ending *ending); /* true, with the reason, once the program is to end */
bool ending_sleep(unsigned timeout_ms);  /* the same, after so long or as soon as a signal comes */

#endif
