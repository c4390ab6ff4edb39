/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "xdp.h"
#include "xdp_xmit.skel.h"

static struct {
	struct xdp_xmit_bpf *skeleton;
	int cpus;
	struct xmit_counts before[XDP_PORTS]; /* what earlier trials left in the map */
} xmit;

int xdp_xmit_open(const struct xdp_port ports[XDP_PORTS], struct failure *why)
{
	struct stat netns;
	int err;

	if (stat("/proc/self/ns/net", &netns))
		return xdp_fail(why, -errno, "/proc/self/ns/net: %s", strerror(errno));
	xmit.cpus = libbpf_num_possible_cpus();
	xmit.skeleton = xdp_xmit_bpf__open();
	if (!xmit.skeleton)
		return xdp_fail(why, -ENOMEM, "no memory for the counting program");
	xmit.skeleton->rodata->config.netns = (__u32)netns.st_ino;
	for (unsigned i = 0; i < XDP_PORTS; i++)
		xmit.skeleton->rodata->config.ifindex[i] = ports[i].ifindex;
	err = xdp_xmit_bpf__load(xmit.skeleton);
	if (!err)
		err = xdp_xmit_bpf__attach(xmit.skeleton);
	if (err)
		return xdp_fail(why, err,
			"frames taken by a port cannot be counted: tracepoints xdp_devmap_xmit, xdp_redirect_err: %s "
			"(BTF "
			"and CAP_PERFMON are needed)",
			strerror(-err));
	return 0;
}

void xdp_xmit_close(void)
{
	xdp_xmit_bpf__destroy(xmit.skeleton);
	xmit.skeleton = NULL;
}

static struct xmit_counts read_all(__u32 port)
{
	struct xmit_counts sum = {0}, *per_cpu = calloc((size_t)xmit.cpus, sizeof(*per_cpu));

	if (per_cpu && !bpf_map_lookup_elem(bpf_map__fd(xmit.skeleton->maps.counts), &port, per_cpu)) {
		for (int i = 0; i < xmit.cpus; i++) {
			sum.taken += per_cpu[i].taken;
			sum.refused += per_cpu[i].refused;
			sum.turned_away += per_cpu[i].turned_away;
			if (per_cpu[i].error)
				sum.error = per_cpu[i].error;
		}
	}
	free(per_cpu);
	return sum;
}

static void take_lengths(struct xmit_trial *now, const struct xdp_plan *plan, unsigned direction)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < plan->config.schedule_length; i++) {
		now->bytes_before[direction][i] = bytes;
		bytes += plan->templates[direction * XDP_MIX + plan->schedule[i]].length;
	}
	now->turn_bytes[direction] = bytes;
}

void xdp_xmit_start(const struct trial *trial, const struct xdp_plan *plan)
{
	struct xmit_trial *now = &xmit.skeleton->bss->trial;

	memset(xmit.skeleton->bss->progress, 0, sizeof(xmit.skeleton->bss->progress));
	for (unsigned i = 0; i < XDP_DIRECTIONS; i++)
		now->map[i] = xdp_sender_map(i < trial->directions ? i : 0);
	now->directions = trial->directions;
	now->schedule_length = plan->config.schedule_length;
	for (unsigned i = 0; i < trial->directions; i++) {
		now->tx[i] = trial->direction[i].tx;
		take_lengths(now, plan, i);
	}
	for (unsigned i = 0; i < XDP_PORTS; i++)
		xmit.before[i] = read_all(i);
}

struct xmit_counts xdp_xmit_read(unsigned port)
{
	struct xmit_counts now = read_all(port);

	now.taken -= xmit.before[port].taken;
	now.refused -= xmit.before[port].refused;
	now.turned_away -= xmit.before[port].turned_away;
	return now;
}

uint64_t xdp_xmit_bytes(unsigned direction)
{
	return xmit.skeleton->bss->progress[direction].taken_bytes;
}
