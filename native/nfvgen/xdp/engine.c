/* SPDX-License-Identifier: Apache-2.0 */
/* The XDP engine: live frames out of one port, a checking XDP program on the other. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../../coredistance/ticks.h"
#include "xdp.h"

#define ETHERNET_BYTES 14
#define STOPPED_DRAIN_NS 50000000ull
#define QUIET_STEPS 3
#define NS_PER_S 1000000000ull
/* From here a trial with a timeline begins so much later: its call takes about 20 ms to set up. */
#define APPOINTMENT_NS 100000000ull

static struct {
	struct engine_options options;
	struct xdp_port ports[XDP_PORTS];
	const struct trial *_Atomic trial; /* while it runs: for snapshots, on another thread */
	uint16_t trial_number;
	char log[192]; /* the last thing that libbpf said */
} xdp;

/* Standard error belongs to our own messages. */
static int keep_log(enum libbpf_print_level level, const char *format, va_list arguments)
{
	if (level == LIBBPF_WARN)
		vsnprintf(xdp.log, sizeof(xdp.log), format, arguments);
	return 0;
}

static int pin_to(int core, struct failure *why)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)core, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return xdp_fail(why, -errno, "--core %d: cannot run there: %s", core, strerror(errno));
	return 0;
}

static int open_ports(const char *const names[XDP_PORTS], struct failure *why)
{
	int err = 0;

	if (!strcmp(names[0], names[1]))
		return xdp_fail(why, -EINVAL, "port %s: given twice; two interfaces are needed", names[0]);
	for (unsigned i = 0; i < XDP_PORTS && !err; i++)
		err = xdp_port_open(&xdp.ports[i], names[i], why);
	return err;
}

static int fill_info(struct engine_info *info, struct failure *why)
{
	unsigned longest = xdp_sender_longest();
	struct utsname kernel;

	if (!longest)
		return xdp_fail(
			why, -EOPNOTSUPP, "this kernel has no XDP live frames (Linux 5.18 and CAP_BPF are needed)");
	uname(&kernel);
	snprintf(info->version, sizeof(info->version), "Linux %.40s, libbpf %d.%d", kernel.release,
		libbpf_major_version(), libbpf_minor_version());
	for (unsigned i = 0; i < XDP_PORTS; i++) {
		const struct xdp_port *port = &xdp.ports[i];
		struct port_info *reported = &info->ports[i];

		snprintf(reported->name, sizeof(reported->name), "%s", port->name);
		snprintf(reported->driver, sizeof(reported->driver), "%s", port->driver);
		memcpy(reported->mac, port->mac, sizeof(reported->mac));
		reported->link_up = xdp_port_link(port);
		reported->speed_mbps = port->speed_mbps;
		if (port->mtu + ETHERNET_BYTES < longest)
			longest = port->mtu + ETHERNET_BYTES;
	}
	info->min_frame_size_bytes = NFVGEN_MIN_FRAME_SIZE;
	info->max_frame_size_bytes = (uint16_t)(longest + NFVGEN_FCS_BYTES);
	info->tsc_hz = ticks_rate(0).hz;
	info->thread_ids[0] = gettid();
	info->clock = "monotonic";
	return 0;
}

static void xdp_close(void)
{
	xdp_second_close();
	xdp_sender_close();
	xdp_napi_restore();
	xdp_xmit_close();
	xdp_sink_close();
	for (unsigned i = 0; i < XDP_PORTS; i++)
		xdp_port_close(&xdp.ports[i]);
}

static int xdp_open(const struct engine_options *options, struct engine_info *info, struct failure *why)
{
	struct frame_endpoint endpoint[XDP_PORTS];
	int err;

	xdp.options = *options;
	libbpf_set_print(keep_log);
	err = pin_to(options->cores[0], why);
	if (err)
		return err;
	err = open_ports(options->ports, why);
	if (err)
		goto out;
	err = fill_info(info, why);
	if (err)
		goto out;
	err = xdp_xmit_open(xdp.ports, why);
	if (err)
		goto out;
	err = xdp_sink_open(xdp.ports, why);
	if (err)
		goto out;
	for (unsigned i = 0; i < XDP_PORTS; i++)
		frame_endpoint_default(&endpoint[i], i, xdp.ports[i].mac);
	xdp_sink_addresses(endpoint);
	if (options->sink_core >= 0)
		err = xdp_napi_pin(xdp.ports, options->sink_core, why);
	if (!err && options->core_count > 1)
		err = xdp_second_open(options->cores[1], &info->thread_ids[1], why);
out:
	if (err)
		xdp_close();
	return err;
}

static void clear(struct trial_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
}

/* `final`: nothing is under way any more, so what was generated and not taken was refused. */
static void read_sender(const struct trial *trial, struct trial_counts *counts, bool final)
{
	for (unsigned i = 0; i < trial->directions; i++) {
		struct xmit_counts port = xdp_xmit_read(trial->direction[i].tx);
		struct xdp_sent mine = xdp_sender_read(i);
		struct direction_counts *c = &counts->direction[i];

		c->sent = port.taken;
		c->refused = final && mine.generated > port.taken ? mine.generated - port.taken : port.refused;
		/* Refused frames are dropped by the kernel: they come too late to be tried again. */
		c->unsent = mine.missed + (trial->rate_pps ? c->refused : 0);
		c->late = mine.missed;
		c->intended = c->sent + c->unsent;
		c->sent_bytes = xdp_xmit_bytes(i) + NFVGEN_FCS_BYTES * c->sent;
	}
}

static void xdp_snapshot(struct trial_counts *counts)
{
	const struct trial *trial = xdp.trial;

	if (!trial)
		return;
	read_sender(trial, counts, false);
	xdp_sink_read(trial, counts, false);
}

static bool all_received(const struct trial *trial, struct trial_counts *counts)
{
	read_sender(trial, counts, true);
	xdp_sink_read(trial, counts, false);
	for (unsigned i = 0; i < trial->directions; i++)
		if (counts->direction[i].received < counts->direction[i].sent)
			return false;
	return true;
}

/*
 * Waits for late frames; a moment after the last one is enough when none is missing. A trial that is stopped waits too,
 * but not for long: what is still under way would be counted as lost.
 */
static void drain(const struct trial *trial, struct trial_counts *counts, const atomic_bool *stop)
{
	const uint64_t step = 1000000, ns = trial->drain_ns;
	unsigned quiet = 0;

	for (uint64_t waited = 0; waited < ns && (!atomic_load(stop) || waited < STOPPED_DRAIN_NS); waited += step) {
		nanosleep(&(struct timespec){.tv_nsec = (long)(ns - waited < step ? ns - waited : step)}, NULL);
		quiet = all_received(trial, counts) ? quiet + 1 : 0;
		if (quiet == QUIET_STEPS)
			break;
	}
}

/* When a trial is to begin whose programs have to know it before: those on both ends, or two senders. */
static uint64_t appoint(void)
{
	struct timespec now;
	uint64_t start;

	clock_gettime(CLOCK_MONOTONIC, &now);
	start = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec + APPOINTMENT_NS;
	xdp_sender_appoint(start);
	for (unsigned i = 0; i < XDP_DIRECTIONS; i++)
		if (timeline_of(i))
			timeline_start(timeline_of(i), start, NS_PER_S);
	return start;
}

static void read_timelines(const struct trial *trial, const struct trial_counts *counts, uint64_t end_ns)
{
	for (unsigned i = 0; i < trial->directions; i++) {
		struct timeline *t = timeline_of(i);

		if (!t)
			continue;
		xdp_sender_timeline(i, t);
		xdp_sink_timeline(trial->direction[i].rx, t);
		timeline_end(t, end_ns, xdp_sender_read(i).generated - counts->direction[i].received);
	}
}

static int xdp_run(const struct trial *trial, struct trial_counts *counts, const atomic_bool *stop, struct failure *why)
{
	uint64_t start_ns = 0;
	int err;

	clear(counts);
	xdp.trial_number = (xdp.trial_number + 1) & 0x7fff;
	err = xdp_sender_open(trial, xdp.options.core_count, xdp.trial_number, xdp.ports, why);
	if (err)
		goto out;
	err = xdp_sink_choose(trial, why);
	if (err)
		goto out;
	if (trial->timeline_ns || xdp_sender_count() > 1)
		start_ns = appoint();
	xdp_sink_start(trial, xdp.trial_number, start_ns);
	xdp_xmit_start(trial, xdp_sender_plan());
	for (unsigned n = 0; n < trial->learning_frames; n++)
		for (unsigned i = 0; i < XDP_PORTS; i++)
			xdp_port_learn(&xdp.ports[i], &trial->stack, &trial->endpoint[i]);
	xdp.trial = trial;
	err = xdp_run_senders(trial, xdp.ports, stop, xdp.options.cores, why);
	xdp_sender_times(&counts->duration_ns, &counts->busy_ns);
	xdp_sender_gaps(counts);
	xdp_sink_read(trial, counts, false);
	for (unsigned i = 0; i < trial->directions; i++)
		counts->direction[i].received_in_time = counts->direction[i].received;
	if (!err)
		drain(trial, counts, stop);
	xdp.trial = NULL;
	read_sender(trial, counts, true);
	xdp_sink_read(trial, counts, true);
	read_timelines(trial, counts, start_ns + counts->duration_ns);
out:
	xdp_sender_close();
	return err;
}

static void xdp_links(bool up[NFVGEN_PORTS])
{
	for (unsigned i = 0; i < XDP_PORTS; i++)
		up[i] = xdp_port_link(&xdp.ports[i]);
}

const struct engine engine_xdp = {
	.name = "xdp",
	.open = xdp_open,
	.run = xdp_run,
	.idle = NULL, /* the sinks answer by themselves */
	.snapshot = xdp_snapshot,
	.close = xdp_close,
	.links = xdp_links,
};
