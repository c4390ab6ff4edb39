/* SPDX-License-Identifier: Apache-2.0 */
/* One request in, one answer out. */
#include <string.h>

#include "nfvgen.h"
#include "timeline.h"

#define LINK_WAIT_MS 5000u
#define LINK_STEP_MS 10u

static json_t *error_of(const struct refusal *why)
{
	json_t *error = json_pack("{ss ss so}", "code", why->code, "message", why->message, "field",
		why->field[0] ? json_string(why->field) : json_null());

	if (why->has_limit)
		json_object_set_new(error, "limit", json_integer(why->limit));
	return error;
}

/* A client may have started its switch a moment ago: give the links time. */
static int wait_for_links(struct refusal *why)
{
	bool up[NFVGEN_PORTS];
	unsigned down = 0;

	for (unsigned waited = 0; waited <= LINK_WAIT_MS; waited += LINK_STEP_MS) {
		worker_links(up);
		if (up[0] && up[1])
			return 0;
		down = up[0] ? 1 : 0;
		if (ending_sleep(LINK_STEP_MS))
			break;
	}
	return refuse(why, "port", "",
		"port %u (%s, %s): the link is down for %u s. Check that its peer is running and connected to this "
		"port, and that it "
		"has not ended",
		down, worker_info()->ports[down].name, worker_info()->ports[down].driver, LINK_WAIT_MS / 1000);
}

static int prepare(const struct trial *trial, struct refusal *why)
{
	if (worker_state() == WORKER_RUNNING)
		return refuse(
			why, "busy", "", "a trial is running; send \"stop\" or wait until \"stats\" says \"done\"");
	if (wait_for_links(why) < 0)
		return -1;
	if (timeline_prepare(trial) < 0)
		return refuse(why, "internal", "timeline_ns", "no memory for the timeline");
	return 0;
}

static json_t *start(const json_t *request, struct refusal *why)
{
	static struct trial trial;

	if (trial_parse(request, worker_info(), &trial, why) < 0)
		return NULL;
	if (prepare(&trial, why) < 0) {
		trial_free(&trial);
		return NULL;
	}
	worker_start(&trial);
	return json_object();
}

static json_t *stop(struct refusal *why)
{
	if (worker_state() != WORKER_RUNNING) {
		refuse(why, "idle", "", "no trial is running");
		return NULL;
	}
	worker_stop();
	if (!worker_wait(10000)) {
		refuse(why, "internal", "", "the trial did not end within 10 s");
		return NULL;
	}
	return result_stats();
}

static int check_plain(const json_t *request, struct refusal *why)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)request, key, value) {
		if (strcmp(key, "schema") && strcmp(key, "id") && strcmp(key, "command"))
			return refuse(why, "bad-request", key, "unknown key \"%.100s\"", key);
	}
	return 0;
}

static json_t *dispatch(const struct options *options, const json_t *request, bool *quit, struct refusal *why)
{
	const char *command = json_string_value(json_object_get(request, "command"));

	if (!command) {
		refuse(why, "bad-request", "command", "command must be one of hello, start, stats, stop, quit");
		return NULL;
	}
	if (strcmp(command, "start") == 0)
		return start(request, why);
	if (check_plain(request, why) < 0)
		return NULL;
	if (strcmp(command, "hello") == 0)
		return result_hello(options);
	if (strcmp(command, "stats") == 0)
		return result_stats();
	if (strcmp(command, "stop") == 0)
		return stop(why);
	if (strcmp(command, "quit") == 0) {
		*quit = true;
		return json_object();
	}
	refuse(why, "bad-request", "command", "command is \"%.60s\"; right is hello, start, stats, stop or quit",
		command);
	return NULL;
}

static int check_envelope(const json_t *request, json_t **id, struct refusal *why)
{
	const char *schema = json_string_value(json_object_get(request, "schema"));
	json_t *seen = json_object_get(request, "id");

	if (!json_is_object(request))
		return refuse(why, "bad-request", "", "a request is a JSON object");
	if (!json_is_integer(seen) && !json_is_string(seen))
		return refuse(why, "bad-request", "id", "id must be an integer or a string");
	*id = seen;
	if (!schema || strcmp(schema, NFVGEN_SCHEMA))
		return refuse(why, "bad-request", "schema", "schema is \"%.40s\"; right is \"" NFVGEN_SCHEMA "\"",
			schema ? schema : "");
	return 0;
}

json_t *request_answer(const struct options *options, const char *line, size_t length, bool *quit)
{
	struct refusal why = {.code = "internal"};
	json_error_t error;
	json_t *request = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
	json_t *id = NULL, *result = NULL, *answer;

	if (!request)
		refuse(&why, "bad-request", "", "not JSON: %.200s", error.text);
	else if (check_envelope(request, &id, &why) == 0)
		result = dispatch(options, request, quit, &why);
	answer = json_pack("{ss sO? sb}", "schema", NFVGEN_SCHEMA, "id", id, "ok", result != NULL);
	if (answer && !id)
		json_object_set_new(answer, "id", json_null());
	if (answer)
		json_object_set_new(answer, result ? "result" : "error", result ? result : error_of(&why));
	json_decref(request);
	return answer;
}
