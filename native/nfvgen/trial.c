/* SPDX-License-Identifier: Apache-2.0 */
/* The request `start`: parsed, checked against what the engine can do, completed with defaults. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "bearers.h"
#include "nfvgen.h"
#include "timeline.h"

#define BAD "bad-request"
#define RANGE "out-of-range"

static const char *const keys[] = {"schema", "id", "command", "duration_ns", "frames", "rate_pps", "directions",
	"frame_sizes", "flows", "stack", "macs", "destination_macs", "destination_mac_count", "ipv4", "ipv6",
	"flow_address", "flow_macs", "learning_frames", "drain_ns", "check", "stamp", "then", "timeline_ns",
	"sessions"};

static int out_of_range(struct refusal *why, const char *field, json_int_t seen, json_int_t limit, const char *kind)
{
	why->has_limit = true;
	why->limit = limit;
	return refuse(why, RANGE, field, "%s is %" JSON_INTEGER_FORMAT "; the %s that fits is %" JSON_INTEGER_FORMAT,
		field, seen, kind, limit);
}

static int check_range(struct refusal *why, const char *field, json_int_t seen, json_int_t smallest, json_int_t largest)
{
	if (seen < smallest)
		return out_of_range(why, field, seen, smallest, "smallest");
	if (seen > largest)
		return out_of_range(why, field, seen, largest, "largest");
	return 0;
}

/* A key with an integer; absent or null leaves *value alone. */
static int get_integer(const json_t *object, const char *key, json_int_t smallest, json_int_t largest,
	json_int_t *value, struct refusal *why)
{
	const json_t *seen = json_object_get(object, key);

	if (!seen || json_is_null(seen))
		return 0;
	if (!json_is_integer(seen))
		return refuse(why, BAD, key, "%s must be an integer or null", key);
	if (check_range(why, key, json_integer_value(seen), smallest, largest) < 0)
		return -1;
	*value = json_integer_value(seen);
	return 0;
}

static int get_bool(const json_t *object, const char *key, bool *value, struct refusal *why)
{
	const json_t *seen = json_object_get(object, key);

	if (!seen)
		return 0;
	if (!json_is_boolean(seen))
		return refuse(why, BAD, key, "%s must be true or false", key);
	*value = json_is_true(seen);
	return 0;
}

static int check_keys(const json_t *object, const char *const *known, size_t count, struct refusal *why)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
		size_t i = 0;

		while (i < count && strcmp(key, known[i]))
			i++;
		if (i == count)
			return refuse(why, BAD, key, "unknown key \"%.100s\"", key);
	}
	return 0;
}

/* A list of two strings, each understood by `parse`. */
static int get_pair(const json_t *request, const char *key, bool (*parse)(const char *, uint8_t *),
	uint8_t *const at[2], const char *right, struct refusal *why)
{
	const json_t *list = json_object_get(request, key);

	if (!list || json_is_null(list))
		return 0;
	if (!json_is_array(list) || json_array_size(list) != 2)
		return refuse(why, BAD, key, "%s must be a list of two: %s", key, right);
	for (unsigned i = 0; i < 2; i++) {
		const char *text = json_string_value(json_array_get(list, i));

		if (!text || !parse(text, at[i]))
			return refuse(why, BAD, key, "%s[%u] is \"%.60s\"; right is %s", key, i,
				text ? text : "no string", right);
	}
	return 0;
}

static bool parse_mac(const char *text, uint8_t *mac)
{
	int end = 0;

	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4],
		       &mac[5], &end) == 6 &&
	       end == 17 && text[end] == '\0';
}

static bool parse_ipv4(const char *text, uint8_t *address)
{
	return inet_pton(AF_INET, text, address) == 1;
}

static bool parse_ipv6(const char *text, uint8_t *address)
{
	return inet_pton(AF_INET6, text, address) == 1;
}

/* After the addresses, which decide whether the last byte has room. */
static int get_destination_count(const json_t *request, struct trial *trial, struct refusal *why)
{
	static const char key[] = "destination_mac_count";
	json_int_t count = 1;

	if (get_integer(request, key, 1, NFVGEN_MAX_DESTINATIONS, &count, why) < 0)
		return -1;
	if (count & (count - 1))
		return refuse(why, BAD, key, "%s is %" JSON_INTEGER_FORMAT "; right is 1, 2, 4 or 8", key, count);
	for (unsigned i = 0; i < NFVGEN_PORTS; i++) {
		json_int_t room = 0x100 - trial->destination_mac[i][5];

		if (count > room)
			return out_of_range(why, key, count, room, "largest");
	}
	trial->destination_mac_count = (uint8_t)count;
	return 0;
}

static int get_addresses(
	const json_t *request, const struct engine_info *info, struct trial *trial, struct refusal *why)
{
	struct frame_endpoint *e = trial->endpoint;

	for (unsigned i = 0; i < NFVGEN_PORTS; i++)
		frame_endpoint_default(&e[i], i, info->ports[i].mac);
	if (get_pair(request, "macs", parse_mac, (uint8_t *[]){e[0].mac, e[1].mac}, "02:00:00:00:00:01", why) < 0 ||
		get_pair(request, "ipv4", parse_ipv4, (uint8_t *[]){e[0].ipv4, e[1].ipv4}, "198.18.0.1", why) < 0 ||
		get_pair(request, "ipv6", parse_ipv6, (uint8_t *[]){e[0].ipv6, e[1].ipv6}, "2001:2::1", why) < 0)
		return -1;
	for (unsigned i = 0; i < NFVGEN_PORTS; i++)
		memcpy(trial->destination_mac[i], e[!i].mac, sizeof(trial->destination_mac[i]));
	if (get_pair(request, "destination_macs", parse_mac,
		    (uint8_t *[]){trial->destination_mac[0], trial->destination_mac[1]}, "02:00:00:00:00:01", why) < 0)
		return -1;
	return get_destination_count(request, trial, why);
}

static int find_word(const json_t *value, const char *const words[], unsigned count)
{
	const char *text = json_string_value(value);

	for (unsigned i = 0; text && i < count; i++)
		if (!strcmp(text, words[i]))
			return (int)i;
	return -1;
}

/* After the stack, whose part it is. */
static int get_flow_address(const json_t *request, struct trial *trial, struct refusal *why)
{
	static const char *const words[] = {
		[FLOW_SOURCE] = "source",
		[FLOW_DESTINATION] = "destination",
		[FLOW_DESTINATION_NETWORK] = "destination-network",
	};
	const json_t *seen = json_object_get(request, "flow_address");
	int found = seen ? find_word(seen, words, 3) : FLOW_SOURCE;

	if (found < 0)
		return refuse(
			why, BAD, "flow_address", "flow_address must be source, destination or destination-network");
	trial->stack.flow_address = (uint8_t)found;
	return 0;
}

/* After the number of destination addresses, beside which the destination cannot move. */
static int get_flow_macs(const json_t *request, struct trial *trial, struct refusal *why)
{
	static const char *const words[] = {"source", "destination"};
	const json_t *list = json_object_get(request, "flow_macs");

	if (list && !json_is_array(list))
		return refuse(why, BAD, "flow_macs", "flow_macs must be a list of source, destination");
	for (size_t i = 0; i < json_array_size(list); i++) {
		int found = find_word(json_array_get(list, i), words, 2);

		if (found < 0)
			return refuse(why, BAD, "flow_macs", "flow_macs[%zu] must be source or destination", i);
		trial->flow_macs |= found ? FLOW_DESTINATION_MAC : FLOW_SOURCE_MAC;
	}
	if (trial->flow_macs & FLOW_DESTINATION_MAC && trial->destination_mac_count > 1)
		return refuse(why, BAD, "flow_macs", "the destination moves by flow_macs or by destination_mac_count");
	return 0;
}

/* After what moves with the flow: in replies it moves on the other side. */
static int get_sessions(const json_t *request, struct trial *trial, struct refusal *why)
{
	static const char *const words[] = {"unreplied", "mirrored"};
	const json_t *seen = json_object_get(request, "sessions");
	int found = seen ? find_word(seen, words, 2) : 0;

	if (found < 0)
		return refuse(why, BAD, "sessions", "sessions must be unreplied or mirrored");
	trial->mirrored = found == 1;
	if (trial->mirrored && trial->flow_macs && trial->destination_mac_count > 1)
		return refuse(why, BAD, "sessions",
			"the destination of replies moves by flow_macs or by destination_mac_count");
	return 0;
}

static int get_stack(const json_t *request, struct frame_stack *stack, struct refusal *why)
{
	static const char *const known[] = {"vlan", "ip", "vxlan", "gtpu"};
	const json_t *object = json_object_get(request, "stack");
	json_int_t vlan = 0, ip = 4, vni = -1;

	if (object && !json_is_object(object))
		return refuse(why, BAD, "stack", "stack must be an object with vlan, ip, vxlan, gtpu");
	if (check_keys(object, known, 4, why) < 0 || get_integer(object, "vlan", 1, 4094, &vlan, why) < 0 ||
		get_integer(object, "ip", 4, 6, &ip, why) < 0 ||
		get_integer(object, "vxlan", 0, 0xffffff, &vni, why) < 0)
		return -1;
	if (ip == 5)
		return refuse(why, BAD, "ip", "ip is 5; right is 4 or 6");
	*stack = (struct frame_stack){
		.vlan = (uint16_t)vlan, .ip = (uint8_t)ip, .vxlan = vni >= 0, .vni = vni >= 0 ? (uint32_t)vni : 0};
	return bearers_parse(json_object_get(object, "gtpu"), &stack->bearers, why);
}

static int get_direction(const json_t *pair, struct direction *direction, struct refusal *why)
{
	const json_t *tx = json_array_get(pair, 0), *rx = json_array_get(pair, 1);

	if (json_array_size(pair) != 2 || !json_is_integer(tx) || !json_is_integer(rx))
		return refuse(why, BAD, "directions", "a direction is [tx, rx], two port numbers");
	if (check_range(why, "directions", json_integer_value(tx), 0, NFVGEN_PORTS - 1) < 0 ||
		check_range(why, "directions", json_integer_value(rx), 0, NFVGEN_PORTS - 1) < 0)
		return -1;
	*direction = (struct direction){.tx = (uint8_t)json_integer_value(tx), .rx = (uint8_t)json_integer_value(rx)};
	return 0;
}

static int get_directions(const json_t *request, struct trial *trial, struct refusal *why)
{
	const json_t *list = json_object_get(request, "directions");

	trial->directions = NFVGEN_DIRECTIONS;
	trial->direction[0] = (struct direction){.tx = 0, .rx = 1};
	trial->direction[1] = (struct direction){.tx = 1, .rx = 0};
	if (!list)
		return 0;
	if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > NFVGEN_DIRECTIONS)
		return refuse(why, BAD, "directions", "directions must be a list of one or two [tx, rx]");
	trial->directions = (unsigned)json_array_size(list);
	for (unsigned i = 0; i < trial->directions; i++)
		if (get_direction(json_array_get(list, i), &trial->direction[i], why) < 0)
			return -1;
	if (trial->directions == 2 && trial->direction[0].tx == trial->direction[1].tx)
		return refuse(why, BAD, "directions", "both directions send from port %u; each port sends one",
			trial->direction[0].tx);
	return 0;
}

static int get_size(
	const json_t *pair, unsigned i, const struct engine_info *info, struct trial *trial, struct refusal *why)
{
	const json_t *size = json_array_get(pair, 0), *weight = json_array_get(pair, 1);
	uint16_t smallest = frame_min_size(&trial->stack), largest = info->max_frame_size_bytes;

	if (smallest < info->min_frame_size_bytes)
		smallest = info->min_frame_size_bytes;
	/* The size is that on SGi; in its tunnel the frame must fit too. */
	if (trial->stack.bearers)
		largest = (uint16_t)(largest - FRAME_GTPU_BYTES);
	if (json_array_size(pair) != 2 || !json_is_integer(size) || !json_is_integer(weight))
		return refuse(why, BAD, "frame_sizes", "a frame size is [bytes, weight], two integers");
	if (check_range(why, "frame_sizes", json_integer_value(size), smallest, largest) < 0 ||
		check_range(why, "frame_sizes", json_integer_value(weight), 1, NFVGEN_MAX_WEIGHT) < 0)
		return -1;
	trial->mix.size_bytes[i] = (uint16_t)json_integer_value(size);
	trial->mix.weight[i] = (uint16_t)json_integer_value(weight);
	return 0;
}

/* After the stack, which decides what fits. */
static int get_mix(const json_t *request, const struct engine_info *info, struct trial *trial, struct refusal *why)
{
	const json_t *list = json_object_get(request, "frame_sizes");
	json_t *pair;
	int result;

	if (!list) {
		pair = json_pack("[ii]", NFVGEN_MIN_FRAME_SIZE, 1);
		trial->mix.count = 1;
		result = get_size(pair, 0, info, trial, why);
		json_decref(pair);
		return result;
	}
	if (!json_is_array(list) || json_array_size(list) == 0)
		return refuse(why, BAD, "frame_sizes", "frame_sizes must be a list of [bytes, weight]");
	if (check_range(why, "frame_sizes", (json_int_t)json_array_size(list), 1, NFVGEN_MIX) < 0)
		return -1;
	trial->mix.count = (unsigned)json_array_size(list);
	for (unsigned i = 0; i < trial->mix.count; i++)
		if (get_size(json_array_get(list, i), i, info, trial, why) < 0)
			return -1;
	return 0;
}

static int get_numbers(const json_t *request, struct trial *trial, struct refusal *why)
{
	json_int_t duration = 0, frames = 0, rate = 0, flows = 1, learning = 3, drain = 50000000;

	if (get_integer(request, "duration_ns", NFVGEN_MIN_DURATION_NS, NFVGEN_MAX_DURATION_NS, &duration, why) < 0 ||
		get_integer(request, "frames", 1, INT64_MAX, &frames, why) < 0 ||
		get_integer(request, "rate_pps", 1, NFVGEN_MAX_RATE_PPS, &rate, why) < 0 ||
		get_integer(request, "flows", 1, NFVGEN_MAX_FLOWS, &flows, why) < 0 ||
		get_integer(request, "learning_frames", 0, NFVGEN_MAX_LEARNING, &learning, why) < 0 ||
		get_integer(request, "drain_ns", 0, NFVGEN_MAX_DRAIN_NS, &drain, why) < 0)
		return -1;
	if (!duration && !frames)
		return refuse(why, BAD, "duration_ns", "duration_ns or frames must be given");
	trial->duration_ns = (uint64_t)(duration ? duration : NFVGEN_MAX_DURATION_NS);
	trial->frames = (uint64_t)frames;
	trial->rate_pps = (uint64_t)rate;
	trial->flows = (uint32_t)flows;
	trial->learning_frames = (unsigned)learning;
	trial->drain_ns = (uint64_t)drain;
	return 0;
}

/* After the numbers and the stamps, which both belong together with. */
static int get_then(const json_t *request, struct trial *trial, struct refusal *why)
{
	static const char *const known[] = {"rate_pps", "duration_ns"};
	const json_t *then = json_object_get(request, "then");
	json_int_t rate = 0, duration = 0;

	if (!then || json_is_null(then))
		return 0;
	if (!json_is_object(then))
		return refuse(why, BAD, "then", "then must be an object with rate_pps and duration_ns");
	if (check_keys(then, known, 2, why) < 0 ||
		get_integer(then, "rate_pps", 1, NFVGEN_MAX_RATE_PPS, &rate, why) < 0 ||
		get_integer(then, "duration_ns", NFVGEN_MIN_DURATION_NS, NFVGEN_MAX_DURATION_NS, &duration, why) < 0)
		return -1;
	if (!rate || !duration)
		return refuse(why, BAD, "then", "then needs rate_pps and duration_ns");
	if (!trial->rate_pps || trial->frames)
		return refuse(why, BAD, "then", "then changes a rate: it goes with rate_pps and without frames");
	trial->then_rate_pps = (uint64_t)rate;
	trial->then_duration_ns = (uint64_t)duration;
	return 0;
}

static int get_timeline(const json_t *request, const struct engine_info *info, struct trial *trial, struct refusal *why)
{
	json_int_t width = 0;
	uint64_t total = trial->duration_ns + trial->then_duration_ns;

	if (get_integer(request, "timeline_ns", NFVGEN_MIN_BIN_NS, NFVGEN_MAX_BIN_NS, &width, why) < 0)
		return -1;
	if (width && !trial->stamp)
		return refuse(why, BAD, "timeline_ns", "timeline_ns needs stamp: it goes by the times in the frames");
	if (width && info->core_count > 1)
		return refuse(why, BAD, "timeline_ns", "timeline_ns needs one core: on %u nobody sees what came last",
			info->core_count);
	if (width && total / (uint64_t)width + 2 > NFVGEN_MAX_BINS)
		return out_of_range(
			why, "timeline_ns", width, (json_int_t)(total / (NFVGEN_MAX_BINS - 1) + 1), "smallest");
	trial->timeline_ns = (uint64_t)width;
	return 0;
}

static int parse(const json_t *request, const struct engine_info *info, struct trial *trial, struct refusal *why)
{
	if (check_keys(request, keys, sizeof(keys) / sizeof(keys[0]), why) < 0 ||
		get_numbers(request, trial, why) < 0 || get_bool(request, "check", &trial->check, why) < 0 ||
		get_bool(request, "stamp", &trial->stamp, why) < 0 || get_then(request, trial, why) < 0 ||
		get_timeline(request, info, trial, why) < 0 || get_directions(request, trial, why) < 0 ||
		get_stack(request, &trial->stack, why) < 0 || get_flow_address(request, trial, why) < 0 ||
		get_mix(request, info, trial, why) < 0 || get_addresses(request, info, trial, why) < 0)
		return -1;
	if (get_flow_macs(request, trial, why) < 0 || get_sessions(request, trial, why) < 0)
		return -1;
	return bearers_complete(request, trial, why);
}

int trial_parse(const json_t *request, const struct engine_info *info, struct trial *trial, struct refusal *why)
{
	memset(trial, 0, sizeof(*trial));
	trial->check = true;
	trial->stamp = true;
	if (parse(request, info, trial, why) == 0)
		return 0;
	trial_free(trial);
	return -1;
}
