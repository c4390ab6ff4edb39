/* SPDX-License-Identifier: Apache-2.0 */
/* What the program tells, as JSON. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nfvgen.h"
#include "pacing.h"
#include "timeline.h"

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *latency(const struct histogram *h)
{
	json_t *counts = json_array();

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (h->counts[i])
			json_array_append_new(
				counts, json_pack("[oo]", number(histogram_value(i)), number(h->counts[i])));
	return json_pack("{ss so so so so}", "unit", "ns", "min", h->total ? number(h->min) : json_null(), "max",
		h->total ? number(h->max) : json_null(), "sum", number(h->sum), "counts", counts);
}

/* Only bins that differ from "all sent and all received": the others tell nothing that the counts do not. */
static json_t *timeline(const struct timeline *t)
{
	json_t *bins = json_array(), *gap = json_null();

	for (uint32_t i = 0; i < t->count; i++) {
		const struct timeline_bin *bin = &t->bins[i];

		if (bin->refused || bin->sent != bin->received)
			json_array_append_new(bins, json_pack("[oooo]", number(i), number(bin->sent),
							    number(bin->refused), number(bin->received)));
	}
	if (t->gap_to != t->gap_from)
		gap = json_pack("{so so}", "from_ns", number(pacing_ns(t->gap_from - t->start, t->hz)), "to_ns",
			t->gap_to ? number(pacing_ns(t->gap_to - t->start, t->hz)) : json_null());
	return json_pack("{so so so}", "bin_ns", number(t->width_ns), "bins", bins, "gap", gap);
}

/* Of each queue that the direction's port sends on. */
static json_t *queue_rows(const struct queue_counts *queues, unsigned count)
{
	json_t *rows = json_array();

	for (unsigned i = 0; i < count; i++) {
		const struct queue_counts *c = &queues[i];

		json_array_append_new(rows,
			json_pack("{so so so so so so so so so}", "sent", number(c->sent), "unsent", number(c->unsent),
				"late", number(c->late), "refused", number(c->refused), "received", number(c->received),
				"lost", number(c->sent > c->received ? c->sent - c->received : 0), "reordered",
				number(c->reordered), "duplicated", number(c->duplicated), "corrupted",
				number(c->corrupted)));
	}
	return rows;
}

static json_t *direction(const struct direction *d, const struct direction_counts *c, bool with_latency)
{
	/* A frame counted twice outside the duplicate window must not become a negative loss. */
	uint64_t lost = c->sent > c->received ? c->sent - c->received : 0;
	json_t *row = json_pack("{si si so so so so so so so so so so so so so}", "tx", d->tx, "rx", d->rx, "intended",
		number(c->intended), "sent", number(c->sent), "received", number(c->received), "received_in_time",
		number(c->received_in_time), "lost", number(lost), "unsent", number(c->unsent), "late", number(c->late),
		"refused", number(c->refused), "reordered", number(c->reordered), "duplicated", number(c->duplicated),
		"corrupted", number(c->corrupted), "sent_bytes", number(c->sent_bytes), "received_bytes",
		number(c->received_bytes));

	json_object_set_new(row, "latency", with_latency ? latency(&c->latency) : json_null());
	return row;
}

static json_t *trial_result(const struct worker_view *view)
{
	bool ended = view->state != WORKER_RUNNING;
	json_t *directions = json_array();

	if (!view->have_trial) {
		json_decref(directions);
		return json_null();
	}
	for (unsigned i = 0; i < view->trial.directions; i++) {
		json_t *row =
			direction(&view->trial.direction[i], &view->counts->direction[i], ended && view->trial.stamp);
		const struct timeline *t = ended ? timeline_of(i) : NULL;

		if (view->queues > 1)
			json_object_set_new(row, "queues", queue_rows(view->counts->queue[i], view->queues));
		/* Absent where none was asked for. */
		if (t && t->width)
			json_object_set_new(row, "timeline", timeline(t));
		json_array_append_new(directions, row);
	}
	return json_pack("{so so s{so so so} so s[oo] ss}", "duration_ns",
		number(ended ? view->counts->duration_ns : view->elapsed_ns), "busy_ns", number(view->counts->busy_ns),
		"gaps", "count", number(view->counts->gaps), "total_ns", number(view->counts->gap_ns), "longest_ns",
		number(view->counts->gap_longest_ns), "directions", directions, "foreign",
		number(view->counts->foreign[0]), number(view->counts->foreign[1]), "clock",
		worker_info()->clock ? worker_info()->clock : "tsc");
}

static const char *state_word(enum worker_state state)
{
	switch (state) {
	case WORKER_RUNNING:
		return "running";
	case WORKER_DONE:
		return "done";
	case WORKER_FAILED:
		return "failed";
	default:
		return "idle";
	}
}

json_t *result_stats(void)
{
	struct worker_view view;
	json_t *error;

	worker_view(&view);
	error = view.state == WORKER_FAILED ? json_pack("{ss ss}", "code", "port", "message", view.failure.text)
					    : json_null();
	return json_pack("{ss so so so}", "state", state_word(view.state), "elapsed_ns", number(view.elapsed_ns),
		"error", error, "trial", trial_result(&view));
}

static json_t *port(const struct port_info *info, bool up)
{
	char mac[18];

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", info->mac[0], info->mac[1], info->mac[2],
		info->mac[3], info->mac[4], info->mac[5]);
	return json_pack("{ss ss ss ss so}", "name", info->name, "driver", info->driver, "mac", mac, "link",
		up ? "up" : "down", "speed_mbps", info->speed_mbps ? number(info->speed_mbps) : json_null());
}

json_t *result_hello(const struct options *options)
{
	const struct engine_info *info = worker_info();
	bool up[NFVGEN_PORTS];
	json_t *cores = json_array(), *threads = json_array(),
	       *capabilities = json_pack("[sssssssssss]", "pacing", "imix", "latency", "ipv6", "vlan", "vxlan", "gtpu",
		       "checksum", "arp", "nd", "sessions");

	for (unsigned i = 0; i < options->engine_options.core_count; i++) {
		json_array_append_new(cores, json_integer(options->engine_options.cores[i]));
		json_array_append_new(threads, json_integer(info->thread_ids[i]));
	}
	worker_links(up);
	return json_pack("{ss ss ss ss si si si so so si so si si si so s[oo]}", "name", "nfvgen", "version",
		NFVGEN_VERSION, "engine", options->engine->name, "engine_version", info->version, "pid", (int)getpid(),
		"thread_id", info->thread_ids[0], "core", options->engine_options.cores[0], "cores", cores,
		"thread_ids", threads, "queues", (int)options->engine_options.queues, "tsc_hz", number(info->tsc_hz),
		"min_frame_size_bytes", info->min_frame_size_bytes, "max_frame_size_bytes", info->max_frame_size_bytes,
		"max_flows", NFVGEN_MAX_FLOWS, "capabilities", capabilities, "ports", port(&info->ports[0], up[0]),
		port(&info->ports[1], up[1]));
}

json_t *result_exit(const struct ending *ending)
{
	struct worker_view view;
	const char *name = ending->signal ? sigabbrev_np(ending->signal) : NULL;
	char text[32];

	worker_view(&view);
	snprintf(text, sizeof(text), "SIG%s", name ? name : "");
	return json_pack("{ss s{ss so si so}}", "schema", NFVGEN_SCHEMA, "exit", "reason", ending->reason, "signal",
		ending->signal ? json_string(text) : json_null(), "trials", (int)view.trials, "last",
		trial_result(&view));
}
