/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "xdp.h"
#include "xdp_sink.skel.h"

_Static_assert(XDP_ROWS *XDP_ROW == HISTOGRAM_BUCKETS, "the sink counts in the buckets of struct histogram");
_Static_assert(XDP_BINS == NFVGEN_MAX_BINS, "both engines have room for the same timeline");
_Static_assert(XDP_LATE_NS == NFVGEN_LATE_NS, "both engines give a frame up after the same time");

static struct {
	struct xdp_sink_bpf *skeleton;
	int link[XDP_PORTS];
	bool has_bearers; /* whether the program on the ports is that of trials with bearers */
	int cpus;
	struct sink_counts *per_cpu;
	struct sink_row *rows; /* one row of every CPU */
} sink = {.link = {-1, -1}};

static int attach(const struct xdp_port *port, int *link, struct failure *why)
{
	DECLARE_LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_DRV_MODE);
	int err;

	/* A link, not an attachment: it ends with its descriptor, also after kill -9. */
	*link = bpf_link_create(
		bpf_program__fd(sink.skeleton->progs.nfvgen_sink), (int)port->ifindex, BPF_XDP, &options);
	if (*link >= 0)
		return 0;
	err = -errno;
	if (err == -EBUSY || err == -EEXIST)
		return xdp_fail(why, err,
			"port %s: another XDP program is attached to it; detach it first (ip link set %s xdp off)",
			port->name, port->name);
	if (err == -EOPNOTSUPP)
		return xdp_fail(why, err,
			"port %s: its driver (%s) has no native XDP; the dpdk engine over net_af_packet takes it",
			port->name, port->driver);
	return xdp_fail(why, err,
		"port %s: native XDP refused: %s; with an MTU of %u here, the MTU on both ends must be below about "
		"3,500 and large "
		"receive offload off",
		port->name, strerror(-err), port->mtu);
}

int xdp_sink_open(const struct xdp_port ports[XDP_PORTS], struct failure *why)
{
	int err;

	sink.cpus = libbpf_num_possible_cpus();
	if (sink.cpus < 1)
		return xdp_fail(why, sink.cpus, "the number of CPUs cannot be read: %s", strerror(-sink.cpus));
	sink.per_cpu = calloc((size_t)sink.cpus, sizeof(*sink.per_cpu));
	sink.skeleton = xdp_sink_bpf__open();
	sink.rows = calloc((size_t)sink.cpus, sizeof(*sink.rows));
	if (!sink.per_cpu || !sink.rows || !sink.skeleton)
		return xdp_fail(why, -ENOMEM, "no memory for the receiving program");
	err = xdp_sink_bpf__load(sink.skeleton);
	if (err)
		return xdp_fail(why, err,
			"the kernel refuses the receiving program: %s (CAP_BPF and CAP_NET_ADMIN are needed)",
			strerror(-err));
	for (unsigned i = 0; i < XDP_PORTS; i++) {
		sink.skeleton->bss->config.ifindex[i] = ports[i].ifindex;
		sink.skeleton->bss->config.stream[i] = XDP_NO_STREAM;
	}
	for (unsigned i = 0; i < XDP_PORTS && !err; i++)
		err = attach(&ports[i], &sink.link[i], why);
	return err;
}

void xdp_sink_close(void)
{
	for (unsigned i = 0; i < XDP_PORTS; i++) {
		if (sink.link[i] >= 0)
			close(sink.link[i]);
		sink.link[i] = -1;
	}
	xdp_sink_bpf__destroy(sink.skeleton);
	sink.skeleton = NULL;
	free(sink.per_cpu);
	free(sink.rows);
	sink.per_cpu = NULL;
	sink.rows = NULL;
}

void xdp_sink_addresses(const struct frame_endpoint endpoint[XDP_PORTS])
{
	struct sink_config *config = &sink.skeleton->bss->config;

	for (unsigned i = 0; i < XDP_PORTS; i++) {
		memcpy(&config->ipv4[i], endpoint[i].ipv4, sizeof(config->ipv4[i]));
		memcpy(config->ipv6[i], endpoint[i].ipv6, sizeof(config->ipv6[i]));
		memcpy(config->mac[i], endpoint[i].mac, sizeof(endpoint[i].mac));
	}
}

static void clear_latency(void)
{
	memset(sink.rows, 0, (size_t)sink.cpus * sizeof(*sink.rows));
	for (__u32 key = 0; key < XDP_PORTS * XDP_ROWS; key++)
		bpf_map_update_elem(bpf_map__fd(sink.skeleton->maps.latency), &key, sink.rows, BPF_ANY);
}

static void start_timeline(const struct trial *trial, uint64_t start_ns)
{
	struct xdp_sink_bpf__bss *bss = sink.skeleton->bss;

	bss->timeline.bin_ns = trial->timeline_ns;
	bss->timeline.start_ns = start_ns;
	if (!trial->timeline_ns)
		return;
	memset(bss->received_bins, 0, sizeof(bss->received_bins));
	for (unsigned i = 0; i < XDP_PORTS; i++)
		bss->gap[i] = (struct sink_gap){.last_ns = start_ns, .from_ns = start_ns, .to_ns = start_ns};
}

void xdp_sink_timeline(unsigned port, struct timeline *t)
{
	const struct sink_gap *gap = &sink.skeleton->bss->gap[port];

	for (uint32_t i = 0; i < t->count; i++)
		t->bins[i].received = sink.skeleton->bss->received_bins[port][i];
	t->last = gap->last_ns;
	t->missing = gap->missing;
	t->gap_from = gap->from_ns;
	t->gap_to = gap->to_ns;
}

int xdp_sink_choose(const struct trial *trial, struct failure *why)
{
	bool wanted = trial->stack.bearers;
	const struct bpf_program *program =
		wanted ? sink.skeleton->progs.nfvgen_sink_bearers : sink.skeleton->progs.nfvgen_sink;

	if (wanted == sink.has_bearers)
		return 0;
	for (unsigned i = 0; i < XDP_PORTS; i++)
		if (bpf_link_update(sink.link[i], bpf_program__fd(program), NULL))
			return xdp_fail(
				why, -errno, "the kernel refuses to change the receiving program: %s", strerror(errno));
	sink.has_bearers = wanted;
	return 0;
}

static void take_bearers(const struct frame_bearers *from)
{
	struct sink_bearers *to = &sink.skeleton->bss->bearers;

	to->count = 0;
	if (!from)
		return;
	to->enb = from->enb;
	to->sgw = from->sgw;
	to->server = from->server;
	for (uint32_t i = 0; i < from->count; i++)
		to->bearer[i] = (struct gen_bearer){.ue = from->bearer[i].ue, .teid = from->bearer[i].downlink_teid};
	to->count = from->count;
}

void xdp_sink_start(const struct trial *trial, uint16_t trial_number, uint64_t start_ns)
{
	int counts = bpf_map__fd(sink.skeleton->maps.counts);
	struct sink_config *config = &sink.skeleton->bss->config;

	/* First nothing is expected: a late frame of the trial before must not be counted into the cleared window. */
	for (__u32 i = 0; i < XDP_PORTS; i++)
		config->stream[i] = XDP_NO_STREAM;
	memset(sink.skeleton->bss->next_sequence, 0, sizeof(sink.skeleton->bss->next_sequence));
	memset(sink.skeleton->bss->window, 0, sizeof(sink.skeleton->bss->window));
	clear_latency();
	memset(sink.per_cpu, 0, (size_t)sink.cpus * sizeof(*sink.per_cpu));
	for (__u32 i = 0; i < XDP_PORTS; i++)
		bpf_map_update_elem(counts, &i, sink.per_cpu, BPF_ANY);
	xdp_sink_addresses(trial->endpoint);
	config->check = trial->check;
	start_timeline(trial, start_ns);
	take_bearers(trial->stack.bearers);
	xdp_expect(&sink.skeleton->bss->quick, trial, trial_number);
	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned i = 0; i < trial->directions; i++)
		config->stream[trial->direction[i].rx] = (uint16_t)(trial_number << 1 | i);
}

/* The sum over all CPUs. */
static struct sink_counts read_port(__u32 port)
{
	struct sink_counts sum = {0}, *per_cpu = calloc((size_t)sink.cpus, sizeof(*per_cpu));

	if (!per_cpu || bpf_map_lookup_elem(bpf_map__fd(sink.skeleton->maps.counts), &port, per_cpu))
		goto out;
	for (int i = 0; i < sink.cpus; i++) {
		const struct sink_counts *c = &per_cpu[i];

		sum.received += c->received;
		sum.received_bytes += c->received_bytes;
		sum.reordered += c->reordered;
		sum.duplicated += c->duplicated;
		sum.corrupted += c->corrupted;
		sum.foreign += c->foreign;
		sum.latency_count += c->latency_count;
		sum.latency_sum += c->latency_sum;
		if (c->latency_max > sum.latency_max)
			sum.latency_max = c->latency_max;
		if (c->latency_min_inverted > sum.latency_min_inverted)
			sum.latency_min_inverted = c->latency_min_inverted;
	}
out:
	free(per_cpu);
	return sum;
}

static void read_latency(struct histogram *h, const struct sink_counts *counts, unsigned port)
{
	histogram_clear(h);
	for (__u32 row = 0; row < XDP_ROWS; row++) {
		__u32 key = port * XDP_ROWS + row;

		if (bpf_map_lookup_elem(bpf_map__fd(sink.skeleton->maps.latency), &key, sink.rows))
			continue;
		for (int cpu = 0; cpu < sink.cpus; cpu++)
			for (unsigned i = 0; i < XDP_ROW; i++)
				if (sink.rows[cpu].counts[i])
					histogram_add_bucket(h, row * XDP_ROW + i, sink.rows[cpu].counts[i]);
	}
	h->sum = counts->latency_sum;
	h->max = counts->latency_max;
	h->min = ~counts->latency_min_inverted;
}

void xdp_sink_read(const struct trial *trial, struct trial_counts *counts, bool with_latency)
{
	struct sink_counts seen[XDP_PORTS];

	for (unsigned i = 0; i < XDP_PORTS; i++) {
		seen[i] = read_port(i);
		counts->foreign[i] = seen[i].foreign;
	}
	for (unsigned i = 0; i < trial->directions; i++) {
		struct direction_counts *c = &counts->direction[i];
		unsigned port = trial->direction[i].rx;

		c->received = seen[port].received;
		c->received_bytes = seen[port].received_bytes;
		c->reordered = seen[port].reordered;
		c->duplicated = seen[port].duplicated;
		c->corrupted = seen[port].corrupted;
		if (with_latency)
			read_latency(&c->latency, &seen[port], port);
	}
}
