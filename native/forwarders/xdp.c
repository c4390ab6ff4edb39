/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the redirecting XDP program onto two ports, in native mode; it ends with this process. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forwarder.h"
#include "xdp_forward.skel.h"

#define PROGRAM "nfvbed-xdp-forwarder"

static struct {
	struct forwarder_options options;
	struct xdp_forward_bpf *skeleton;
	int attached[FORWARDER_PORTS];
} xdp = {.attached = {-1, -1}};

static int load(void)
{
	int err;

	xdp.skeleton = xdp_forward_bpf__open();
	if (!xdp.skeleton)
		return -ENOMEM;
	xdp.skeleton->rodata->first_ifindex = xdp.options.ifindex[0];
	err = xdp_forward_bpf__load(xdp.skeleton);
	for (__u32 i = 0; i < FORWARDER_PORTS && !err; i++)
		err = bpf_map_update_elem(
			bpf_map__fd(xdp.skeleton->maps.way_out), &i, &xdp.options.ifindex[!i], BPF_ANY);
	return err;
}

/* Never the kernel's generic mode instead, which is slower than a bridge and would pass for XDP. */
static int attach(unsigned i)
{
	DECLARE_LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_DRV_MODE);

	xdp.attached[i] = bpf_link_create(
		bpf_program__fd(xdp.skeleton->progs.nfvbed_forward), (int)xdp.options.ifindex[i], BPF_XDP, &options);
	return xdp.attached[i] < 0 ? -errno : 0;
}

static int64_t sum(__u32 port)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *values = cpus > 0 ? calloc((size_t)cpus, sizeof(*values)) : NULL;
	int64_t total = -1;

	if (values && !bpf_map_lookup_elem(bpf_map__fd(xdp.skeleton->maps.received), &port, values)) {
		total = 0;
		for (int i = 0; i < cpus; i++)
			total += (int64_t)values[i];
	}
	free(values);
	return total;
}

/* What a port took is counted by its driver, not here. */
static void read_counts(struct forwarder_counts counts[FORWARDER_PORTS])
{
	for (unsigned i = 0; i < FORWARDER_PORTS; i++)
		counts[i] = (struct forwarder_counts){
			.rx_packets = sum(i), .tx_packets = -1, .rx_dropped = -1, .tx_dropped = -1};
}

int main(int argc, char **argv)
{
	int status = forwarder_options(argc, argv, PROGRAM, &xdp.options), signals, err;

	if (status)
		return status < 0 ? FORWARDER_ENDED : status;
	signals = forwarder_signals();
	err = signals < 0 ? signals : load();
	if (err) {
		fprintf(stderr, PROGRAM ": the program cannot be loaded: %s\n", strerror(-err));
		status = FORWARDER_FAILED;
	}
	for (unsigned i = 0; i < FORWARDER_PORTS && !status; i++) {
		err = attach(i);
		if (err) {
			fprintf(stderr, PROGRAM ": port %s: XDP in native mode: %s\n", xdp.options.port[i],
				strerror(-err));
			status = FORWARDER_FAILED;
		}
	}
	if (!status)
		status = forwarder_serve(&xdp.options, signals, -1, read_counts);
	for (unsigned i = 0; i < FORWARDER_PORTS; i++)
		if (xdp.attached[i] >= 0)
			close(xdp.attached[i]);
	xdp_forward_bpf__destroy(xdp.skeleton);
	return status;
}
