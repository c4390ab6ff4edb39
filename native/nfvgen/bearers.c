/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the request `start` that names a mobile core's bearers. */
#include "bearers.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define KEY "gtpu"
#define BAD "bad-request"
#define RIGHT "an object with enb, sgw, server and bearers"

static int get_address(const json_t *object, const char *key, uint32_t *address, struct refusal *why)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text || inet_pton(AF_INET, text, address) != 1)
		return refuse(why, BAD, KEY, KEY ".%s is \"%.60s\"; right is an IPv4 address", key,
			text ? text : "no string");
	return 0;
}

static int get_teid(const json_t *value, size_t number, uint32_t *teid, struct refusal *why)
{
	json_int_t seen = json_integer_value(value);

	if (!json_is_integer(value) || seen < 1 || seen > UINT32_MAX)
		return refuse(why, BAD, KEY, KEY ".bearers[%zu]: a TEID is an integer from 1 to 4294967295", number);
	*teid = frame_be32((uint32_t)seen);
	return 0;
}

static int get_bearer(const json_t *row, size_t number, struct frame_bearer *bearer, struct refusal *why)
{
	const char *ue = json_string_value(json_array_get(row, 0));

	if (json_array_size(row) != 3 || !ue || inet_pton(AF_INET, ue, &bearer->ue) != 1)
		return refuse(why, BAD, KEY,
			KEY ".bearers[%zu] must be [address of the UE, uplink TEID, downlink TEID], the address IPv4",
			number);
	if (get_teid(json_array_get(row, 1), number, &bearer->uplink_teid, why) < 0)
		return -1;
	return get_teid(json_array_get(row, 2), number, &bearer->downlink_teid, why);
}

static int fill(const json_t *object, struct frame_bearers *bearers, struct refusal *why)
{
	const json_t *list = json_object_get(object, "bearers");
	size_t count = json_array_size(list);

	if (get_address(object, "enb", &bearers->enb, why) < 0 || get_address(object, "sgw", &bearers->sgw, why) < 0 ||
		get_address(object, "server", &bearers->server, why) < 0)
		return -1;
	if (!count)
		return refuse(why, BAD, KEY, KEY ".bearers must be a list of at least one bearer");
	if (count > NFVGEN_MAX_BEARERS) {
		why->has_limit = true;
		why->limit = NFVGEN_MAX_BEARERS;
		return refuse(why, "out-of-range", KEY, KEY ".bearers has %zu rows; at most %d fit", count,
			NFVGEN_MAX_BEARERS);
	}
	for (size_t i = 0; i < count; i++)
		if (get_bearer(json_array_get(list, i), i, &bearers->bearer[i], why) < 0)
			return -1;
	bearers->count = (uint32_t)count;
	return 0;
}

int bearers_parse(const json_t *object, const struct frame_bearers **to, struct refusal *why)
{
	struct frame_bearers *bearers;

	if (!object || json_is_null(object))
		return 0;
	if (!json_is_object(object) || json_object_size(object) != 4)
		return refuse(why, BAD, KEY, KEY " must be " RIGHT);
	bearers = calloc(1, sizeof(*bearers));
	if (!bearers)
		return refuse(why, "internal", KEY, "no memory for the bearers");
	*to = bearers;
	return fill(object, bearers, why);
}

void trial_free(struct trial *trial)
{
	free((void *)(uintptr_t)trial->stack.bearers);
	trial->stack.bearers = NULL;
}

static bool is_plain(const struct frame_stack *stack)
{
	return stack->ip == 4 && !stack->vlan && !stack->vxlan;
}

static bool goes_across(const struct trial *trial)
{
	for (unsigned i = 0; i < trial->directions; i++)
		if (trial->direction[i].tx == trial->direction[i].rx)
			return false;
	return true;
}

int bearers_complete(const json_t *request, struct trial *trial, struct refusal *why)
{
	static const char *const others[] = {"ipv4", "flow_address", "flow_macs", "destination_mac_count", "sessions"};
	const struct frame_bearers *bearers = trial->stack.bearers;
	const json_t *flows = json_object_get(request, "flows");

	if (!bearers)
		return 0;
	if (!is_plain(&trial->stack))
		return refuse(why, BAD, "stack", "stack: " KEY " goes with ip 4, without vlan and vxlan");
	if (!goes_across(trial))
		return refuse(why, BAD, "directions", "directions: " KEY " goes from port 0 to port 1 and back");
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (json_object_get(request, others[i]))
			return refuse(why, BAD, others[i],
				"%s does not go with " KEY ", whose bearers have the addresses and ports", others[i]);
	if (flows && trial->flows != bearers->count)
		return refuse(why, BAD, "flows", "flows is %u; with " KEY " it is the number of bearers, %u",
			trial->flows, bearers->count);
	trial->flows = bearers->count;
	memcpy(trial->endpoint[0].ipv4, &bearers->enb, sizeof(bearers->enb));
	memcpy(trial->endpoint[1].ipv4, &bearers->server, sizeof(bearers->server));
	return 0;
}
