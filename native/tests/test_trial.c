/* SPDX-License-Identifier: Apache-2.0 */
#include "nfvgen.h"

#include <string.h>

#include "check.h"

static const struct engine_info info = {.min_frame_size_bytes = 64,
	.max_frame_size_bytes = 9018,
	.ports = {{.mac = {2, 0, 0, 0, 0, 1}}, {.mac = {2, 0, 0, 0, 0, 2}}}};
static struct trial trial;
static struct refusal why;

static int parse(const char *text)
{
	json_t *request = json_loads(text, 0, NULL);
	int result;

	memset(&why, 0, sizeof(why));
	CHECK(request != NULL);
	result = trial_parse(request, &info, &trial, &why);
	json_decref(request);
	return result;
}

/* A request with these rows of bearers, and with more keys. */
#define WITH_BEARERS(rows, more)                                                                                       \
	"{\"frames\": 1, \"stack\": {\"gtpu\": {\"enb\": \"192.0.2.1\", \"sgw\": \"192.0.2.2\", \"server\": "          \
	"\"203.0.113.9\", \"bearers\": [" rows "]}}" more "}"
#define TWO_BEARERS "[\"10.45.0.2\", 1, 4294967295], [\"10.45.0.3\", 2, 7]"

struct refused {
	const char *request;
	const char *code;
	const char *field;
	long long limit; /* -1: none */
};

static const struct refused table[] = {
	{"{}", "bad-request", "duration_ns", -1},
	{"{\"duration_ns\": 1.5}", "bad-request", "duration_ns", -1},
	{"{\"duration_ns\": true}", "bad-request", "duration_ns", -1},
	{"{\"duration_ns\": 999999}", "out-of-range", "duration_ns", 1000000},
	{"{\"duration_ns\": 86400000000001}", "out-of-range", "duration_ns", 86400000000000},
	{"{\"duration_ns\": 1000000, \"speed\": 1}", "bad-request", "speed", -1},
	{"{\"frames\": 0}", "out-of-range", "frames", 1},
	{"{\"frames\": 1, \"rate_pps\": 0}", "out-of-range", "rate_pps", 1},
	{"{\"frames\": 1, \"flows\": 1000001}", "out-of-range", "flows", 1000000},
	{"{\"frames\": 1, \"learning_frames\": 101}", "out-of-range", "learning_frames", 100},
	{"{\"frames\": 1, \"drain_ns\": 10000000001}", "out-of-range", "drain_ns", 10000000000},
	{"{\"frames\": 1, \"check\": 1}", "bad-request", "check", -1},
	{"{\"frames\": 1, \"stamp\": \"no\"}", "bad-request", "stamp", -1},
	{"{\"frames\": 1, \"frame_sizes\": [[63, 1]]}", "out-of-range", "frame_sizes", 64},
	{"{\"frames\": 1, \"frame_sizes\": [[9019, 1]]}", "out-of-range", "frame_sizes", 9018},
	{"{\"frames\": 1, \"frame_sizes\": [[64, 0]]}", "out-of-range", "frame_sizes", 1},
	{"{\"frames\": 1, \"frame_sizes\": []}", "bad-request", "frame_sizes", -1},
	{"{\"frames\": 1, \"frame_sizes\": [64]}", "bad-request", "frame_sizes", -1},
	{"{\"frames\": 1, \"stack\": {\"ip\": 6}}", "out-of-range", "frame_sizes", 84},
	{"{\"frames\": 1, \"stack\": {\"ip\": 6, \"vxlan\": 1}, \"frame_sizes\": [[100, 1]]}", "out-of-range",
		"frame_sizes", 154},
	{"{\"frames\": 1, \"stack\": {\"ip\": 5}}", "bad-request", "ip", -1},
	{"{\"frames\": 1, \"stack\": {\"vlan\": 4095}}", "out-of-range", "vlan", 4094},
	{"{\"frames\": 1, \"stack\": {\"vxlan\": 16777216}}", "out-of-range", "vxlan", 16777215},
	{"{\"frames\": 1, \"stack\": {\"mpls\": 1}}", "bad-request", "mpls", -1},
	{"{\"frames\": 1, \"stack\": {\"gtpu\": 5}}", "bad-request", "gtpu", -1},
	{"{\"frames\": 1, \"stack\": {\"gtpu\": {\"enb\": \"192.0.2.1\"}}}", "bad-request", "gtpu", -1},
	{WITH_BEARERS("", ""), "bad-request", "gtpu", -1},
	{WITH_BEARERS("5", ""), "bad-request", "gtpu", -1},
	{WITH_BEARERS("[\"10.45.0.2\", 1]", ""), "bad-request", "gtpu", -1},
	{WITH_BEARERS("[\"10.45.0\", 1, 1]", ""), "bad-request", "gtpu", -1},
	{WITH_BEARERS("[\"10.45.0.2\", 0, 1]", ""), "bad-request", "gtpu", -1},
	{WITH_BEARERS("[\"10.45.0.2\", 1, 4294967296]", ""), "bad-request", "gtpu", -1},
	{WITH_BEARERS(TWO_BEARERS, ", \"frame_sizes\": [[63, 1]]"), "out-of-range", "frame_sizes", 64},
	{WITH_BEARERS(TWO_BEARERS, ", \"frame_sizes\": [[8983, 1]]"), "out-of-range", "frame_sizes", 8982},
	{WITH_BEARERS(TWO_BEARERS, ", \"flows\": 3"), "bad-request", "flows", -1},
	{WITH_BEARERS(TWO_BEARERS, ", \"ipv4\": [\"10.0.0.1\", \"10.0.0.2\"]"), "bad-request", "ipv4", -1},
	{WITH_BEARERS(TWO_BEARERS, ", \"flow_macs\": [\"source\"]"), "bad-request", "flow_macs", -1},
	{WITH_BEARERS(TWO_BEARERS, ", \"directions\": [[0, 0]]"), "bad-request", "directions", -1},
	{"{\"frames\": 1, \"stack\": null}", "bad-request", "stack", -1},
	{"{\"frames\": 1, \"directions\": [[0, 2]]}", "out-of-range", "directions", 1},
	{"{\"frames\": 1, \"directions\": []}", "bad-request", "directions", -1},
	{"{\"frames\": 1, \"directions\": [[0, 1], [0, 1]]}", "bad-request", "directions", -1},
	{"{\"frames\": 1, \"macs\": [\"02:00:00:00:00:01\"]}", "bad-request", "macs", -1},
	{"{\"frames\": 1, \"macs\": [\"02:00:00:00:00:01\", \"2:0:0:0:0:2\"]}", "bad-request", "macs", -1},
	{"{\"frames\": 1, \"flow_address\": \"port\"}", "bad-request", "flow_address", -1},
	{"{\"frames\": 1, \"flow_address\": 1}", "bad-request", "flow_address", -1},
	{"{\"frames\": 1, \"flow_macs\": \"source\"}", "bad-request", "flow_macs", -1},
	{"{\"frames\": 1, \"flow_macs\": [\"source\", \"none\"]}", "bad-request", "flow_macs", -1},
	{"{\"frames\": 1, \"flow_macs\": [\"destination\"], \"destination_mac_count\": 2}", "bad-request", "flow_macs",
		-1},
	{"{\"frames\": 1, \"destination_mac_count\": 9}", "out-of-range", "destination_mac_count", 8},
	{"{\"frames\": 1, \"destination_mac_count\": 0}", "out-of-range", "destination_mac_count", 1},
	{"{\"frames\": 1, \"destination_mac_count\": 3}", "bad-request", "destination_mac_count", -1},
	{"{\"frames\": 1, \"destination_mac_count\": \"2\"}", "bad-request", "destination_mac_count", -1},
	{"{\"frames\": 1, \"destination_mac_count\": 4, \"destination_macs\": "
	 "[\"02:00:00:00:00:01\", \"02:00:00:00:00:fd\"]}",
		"out-of-range", "destination_mac_count", 3},
	{"{\"duration_ns\": 1000000, \"then\": {\"rate_pps\": 1, \"duration_ns\": 1000000}}", "bad-request", "then",
		-1},
	{"{\"duration_ns\": 1000000, \"rate_pps\": 1, \"then\": 5}", "bad-request", "then", -1},
	{"{\"duration_ns\": 1000000, \"rate_pps\": 1, \"then\": {\"rate_pps\": 1}}", "bad-request", "then", -1},
	{"{\"duration_ns\": 1000000, \"rate_pps\": 1, \"then\": {\"pps\": 1}}", "bad-request", "pps", -1},
	{"{\"duration_ns\": 1000000, \"timeline_ns\": 9999}", "out-of-range", "timeline_ns", 10000},
	{"{\"duration_ns\": 1000000, \"timeline_ns\": 10000, \"stamp\": false}", "bad-request", "timeline_ns", -1},
	{"{\"duration_ns\": 131070000000, \"timeline_ns\": 999992}", "out-of-range", "timeline_ns", 999993},
	{"{\"frames\": 1, \"sessions\": \"both\"}", "bad-request", "sessions", -1},
	{"{\"frames\": 1, \"sessions\": null}", "bad-request", "sessions", -1},
	{"{\"frames\": 1, \"sessions\": \"mirrored\", \"flow_macs\": [\"source\"], \"destination_mac_count\": 2}",
		"bad-request", "sessions", -1},
	{WITH_BEARERS(TWO_BEARERS, ", \"sessions\": \"mirrored\""), "bad-request", "sessions", -1},
	{"{\"frames\": 1, \"ipv4\": [\"1.2.3.4\", \"1.2.3\"]}", "bad-request", "ipv4", -1},
	{"{\"frames\": 1, \"ipv6\": [\"::1\", 2]}", "bad-request", "ipv6", -1},
};

static void test_refused(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct refused *row = &table[i];
		int result = parse(row->request);

		if (result == 0 || strcmp(why.code, row->code) || strcmp(why.field, row->field) ||
			(row->limit < 0 ? why.has_limit : why.limit != row->limit) || !why.message[0]) {
			fprintf(stderr, "%s: %d %s %s limit %lld: %s\n", row->request, result, why.code ? why.code : "",
				why.field, (long long)why.limit, why.message);
			check_failures++;
		}
	}
}

static void test_defaults(void)
{
	CHECK_EQUAL(parse("{\"duration_ns\": 500000000, \"rate_pps\": null, \"frames\": null}"), 0);
	CHECK_EQUAL(trial.duration_ns, 500000000);
	CHECK_EQUAL(trial.frames, 0);
	CHECK_EQUAL(trial.rate_pps, 0);
	CHECK_EQUAL(trial.directions, 2);
	CHECK_EQUAL(trial.direction[1].tx, 1);
	CHECK_EQUAL(trial.mix.count, 1);
	CHECK_EQUAL(trial.mix.size_bytes[0], 64);
	CHECK_EQUAL(trial.flows, 1);
	CHECK_EQUAL(trial.learning_frames, 3);
	CHECK_EQUAL(trial.drain_ns, 50000000);
	CHECK(trial.check && trial.stamp && !trial.stack.vxlan && trial.stack.ip == 4);
	CHECK_EQUAL(trial.destination_mac[0][5], 2);
	CHECK_EQUAL(trial.destination_mac_count, 1);
	CHECK_EQUAL(trial.flow_macs, 0);
	CHECK(!trial.mirrored && !trial_stack(&trial, 0).replies && !trial_stack(&trial, 1).replies);
	CHECK_EQUAL(trial.stack.flow_address, FLOW_SOURCE);
	CHECK_EQUAL(trial.endpoint[1].ipv4[1], 19);
}

static void test_given(void)
{
	CHECK_EQUAL(parse("{\"schema\": \"nfvgen/1\", \"id\": 1, \"command\": \"start\", \"frames\": 10, "
			  "\"directions\": [[1, 0]],"
			  "\"frame_sizes\": [[200, 7], [1518, 1]], \"stack\": {\"vlan\": 5, \"ip\": 6, \"vxlan\": 0},"
			  "\"macs\": [\"02:00:00:00:0a:01\", \"02:00:00:00:0a:02\"], \"destination_macs\": "
			  "[\"02:00:00:00:0b:01\","
			  "\"02:00:00:00:0b:02\"], \"ipv4\": [\"10.0.0.1\", \"10.0.0.2\"], \"ipv6\": [\"fd00::1\", "
			  "\"fd00::2\"],"
			  "\"stamp\": false}"),
		0);
	CHECK_EQUAL(trial.frames, 10);
	CHECK_EQUAL(trial.directions, 1);
	CHECK_EQUAL(trial.direction[0].tx, 1);
	CHECK_EQUAL(trial.mix.count, 2);
	CHECK(trial.stack.vxlan && trial.stack.vni == 0 && trial.stack.vlan == 5);
	CHECK_EQUAL(trial.endpoint[0].mac[4], 0x0a);
	CHECK_EQUAL(trial.destination_mac[1][5], 2);
	CHECK_EQUAL(trial.destination_mac[1][4], 0x0b);
	CHECK_EQUAL(trial.endpoint[1].ipv6[15], 2);
	CHECK(!trial.stamp && trial.check);
	CHECK_EQUAL(parse("{\"frames\": 1, \"destination_mac_count\": 4, \"destination_macs\": "
			  "[\"02:00:00:00:00:01\", \"02:00:00:00:00:fc\"]}"),
		0);
	CHECK_EQUAL(trial.destination_mac_count, 4);
	CHECK_EQUAL(parse("{\"duration_ns\": 131070000000, \"rate_pps\": 5, \"timeline_ns\": 1100000, "
			  "\"then\": {\"rate_pps\": 2, \"duration_ns\": 1000000}}"),
		0);
	CHECK_EQUAL(trial.then_rate_pps, 2);
	CHECK_EQUAL(trial.then_duration_ns, 1000000);
	CHECK_EQUAL(trial.timeline_ns, 1100000);
	CHECK_EQUAL(parse("{\"frames\": 1, \"flow_address\": \"destination-network\", \"flow_macs\": "
			  "[\"destination\", \"source\"], \"destination_mac_count\": 1}"),
		0);
	CHECK_EQUAL(trial.stack.flow_address, FLOW_DESTINATION_NETWORK);
	CHECK_EQUAL(trial.flow_macs, FLOW_SOURCE_MAC | FLOW_DESTINATION_MAC);
}

/* It is port 1 that answers, whichever directions there are; MAC addresses that move do so on the other side. */
static void test_mirrored(void)
{
	CHECK_EQUAL(parse("{\"frames\": 1, \"sessions\": \"mirrored\", \"directions\": [[1, 0]], \"flow_macs\": "
			  "[\"source\"]}"),
		0);
	CHECK(!trial_stack(&trial, 0).replies && trial_stack(&trial, 1).replies);
	CHECK_EQUAL(trial_flow_macs(&trial, 0), FLOW_SOURCE_MAC);
	CHECK_EQUAL(trial_flow_macs(&trial, 1), FLOW_DESTINATION_MAC);
	CHECK_EQUAL(parse("{\"frames\": 1, \"sessions\": \"unreplied\", \"flow_macs\": [\"source\"]}"), 0);
	CHECK(!trial_stack(&trial, 1).replies);
	CHECK_EQUAL(trial_flow_macs(&trial, 1), FLOW_SOURCE_MAC);
	CHECK_EQUAL(parse("{\"frames\": 1, \"sessions\": \"mirrored\", \"flow_macs\": [\"source\", "
			  "\"destination\"]}"),
		0);
	CHECK_EQUAL(trial_flow_macs(&trial, 1), FLOW_SOURCE_MAC | FLOW_DESTINATION_MAC);
}

static void test_bearers(void)
{
	const struct frame_bearers *bearers;

	CHECK_EQUAL(parse(WITH_BEARERS(TWO_BEARERS, ", \"flows\": 2, \"frame_sizes\": [[8982, 1]]")), 0);
	bearers = trial.stack.bearers;
	CHECK(bearers != NULL);
	CHECK_EQUAL(trial.flows, 2);
	CHECK_EQUAL(bearers->count, 2);
	CHECK_EQUAL(frame_be32(bearers->sgw), 0xc0000202);
	CHECK_EQUAL(frame_be32(bearers->bearer[1].ue), 0x0a2d0003);
	CHECK_EQUAL(frame_be32(bearers->bearer[1].uplink_teid), 2);
	CHECK_EQUAL(frame_be32(bearers->bearer[0].downlink_teid), 4294967295);
	CHECK_EQUAL(trial.endpoint[0].ipv4[3], 1);
	CHECK_EQUAL(trial.endpoint[1].ipv4[0], 203);
	CHECK(trial_stack(&trial, 0).uplink && !trial_stack(&trial, 1).uplink);
	trial_free(&trial);
	CHECK(trial.stack.bearers == NULL);
	trial_free(&trial);
	CHECK_EQUAL(parse(WITH_BEARERS(TWO_BEARERS, "")), 0);
	CHECK_EQUAL(trial.flows, 2);
	trial_free(&trial);
}

int main(void)
{
	test_refused();
	test_defaults();
	test_given();
	test_mirrored();
	test_bearers();
	return check_result();
}
