/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of nfvgen's control protocol. Its worker is one that does nothing, with two ports. */
#include "fuzz.h"

#include "nfvgen.h"
#include "timeline.h"

static enum worker_state state = WORKER_IDLE;
static struct trial running;
static const struct engine_info info = {
	.version = "fuzz",
	.min_frame_size_bytes = 64,
	.max_frame_size_bytes = NFVGEN_MAX_FRAME_SIZE,
	.tsc_hz = 1000000000,
	.clock = "monotonic",
	.ports = {{.name = "one", .driver = "fuzz", .mac = {2, 0, 0, 0, 0, 1}, .link_up = true},
		{.name = "two", .driver = "fuzz", .mac = {2, 0, 0, 0, 0, 2}, .link_up = true}},
};
static struct trial_counts counts;
static const struct engine engine = {.name = "fuzz"};

enum worker_state worker_state(void)
{
	return state;
}

const struct engine_info *worker_info(void)
{
	return &info;
}

void worker_links(bool up[NFVGEN_PORTS])
{
	up[0] = up[1] = true;
}

/* As the worker's thread begins: the templates are what the engine sends. */
void worker_start(const struct trial *trial)
{
	trial_free(&running);
	running = *trial;
	for (unsigned i = 0; i < running.directions; i++) {
		unsigned tx = running.direction[i].tx, rx = running.direction[i].rx;
		struct frame_stack stack = trial_stack(&running, tx);
		static struct frame_template template;

		for (unsigned size = 0; size < running.mix.count; size++)
			PROMISED(!frame_template_build(&template, &stack, &running.endpoint[tx], &running.endpoint[rx],
				running.destination_mac[tx], running.mix.size_bytes[size], (uint8_t)i));
	}
	state = WORKER_RUNNING;
}

void worker_stop(void)
{
	state = WORKER_DONE;
}

bool worker_wait(unsigned timeout_ms)
{
	(void)timeout_ms;
	return true;
}

void worker_view(struct worker_view *view)
{
	*view = (struct worker_view){
		.state = state, .have_trial = state != WORKER_IDLE, .trial = running, .counts = &counts};
}

uint64_t worker_now_ns(void)
{
	return 0;
}

bool ending_sleep(unsigned timeout_ms)
{
	(void)timeout_ms;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct options options = {.engine = &engine, .socket = "fuzz"};

	state = WORKER_IDLE;
	for (size_t at = 0; at <= size;) {
		const uint8_t *end = size > at ? memchr(data + at, '\n', size - at) : NULL;
		size_t length = (end ? (size_t)(end - data) : size) - at;
		bool quit = false;
		char *line = (char *)fuzz_copy(data + at, length, 0);
		json_t *answer = request_answer(&options, line, length, &quit);
		char *text;

		PROMISED(answer);
		text = json_dumps(answer, JSON_COMPACT);
		PROMISED(text && !strchr(text, '\n'));
		free(text);
		json_decref(answer);
		free(line);
		at += length + 1;
	}
	trial_free(&running);
	running = (struct trial){0};
	return 0;
}
