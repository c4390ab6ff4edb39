/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the programs, and attaches one of them to all ports; it ends with this process. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <net/ethernet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "switch.h"
#include "xdp_switch.skel.h"

#define PROGRAM "nfvbed-xdp-switch"
#define LONGEST 3520 /* what fits into the page of such a run */

static struct {
	struct xdp_switch_bpf *skeleton;
	const struct switch_options *options;
	const char *attached;
	unsigned ifindex[SWITCH_PORTS];
	int link[SWITCH_PORTS];
} this;

static int fail(const char *what, int err)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", what, strerror(-err));
	return err;
}

static int find_ports(void)
{
	for (unsigned i = 0; i < this.options->ports; i++) {
		this.ifindex[i] = if_nametoindex(this.options->port[i]);
		if (!this.ifindex[i])
			return fail(this.options->port[i], -errno);
		if (this.ifindex[i] >= SWITCH_IFINDEX_END)
			return fail("interface numbers of 128 and more: ports belong into a namespace of their own",
				-ERANGE);
	}
	return 0;
}

static int join(unsigned from, unsigned to, uint8_t ways[])
{
	__u32 port = this.ifindex[from], key = port * SWITCH_WAYS + ways[port];

	if (ways[port]++ == SWITCH_WAYS)
		return -E2BIG;
	return bpf_map_update_elem(bpf_map__fd(this.skeleton->maps.way_out), &key, &this.ifindex[to], BPF_ANY);
}

static void count_ways(void)
{
	struct xdp_switch_bpf__rodata *shared = this.skeleton->rodata;
	volatile __u8 *ways = (volatile __u8 *)shared->ways;

	for (unsigned i = 0; i < this.options->cables; i++)
		for (unsigned end = 0; end < 2; end++)
			if (++ways[this.ifindex[this.options->cable[i].end[end]]] > 1)
				shared->has_shares = 1;
}

static int load(void)
{
	const struct switch_options *options = this.options;
	uint8_t ways[SWITCH_IFINDEX_END] = {0};
	int err;

	this.skeleton = xdp_switch_bpf__open();
	if (!this.skeleton)
		return -ENOMEM;
	count_ways();
	err = xdp_switch_bpf__load(this.skeleton);
	for (unsigned i = 0; i < options->cables && !err; i++) {
		err = join(options->cable[i].end[0], options->cable[i].end[1], ways);
		if (!err)
			err = join(options->cable[i].end[1], options->cable[i].end[0], ways);
	}
	for (__u32 i = 0; i < options->stations && !err; i++)
		err = bpf_map_update_elem(bpf_map__fd(this.skeleton->maps.stations), &options->station[i], &i, BPF_ANY);
	return err;
}

static const struct bpf_program *find(const char *name)
{
	char whole[32];

	snprintf(whole, sizeof(whole), "nfvbed_%s", name);
	return bpf_object__find_program_by_name(this.skeleton->obj, whole);
}

/* Never the other mode instead: the one is several times the other's speed. */
static int attach(unsigned i)
{
	DECLARE_LIBBPF_OPTS(bpf_link_create_opts, options,
		.flags = this.options->generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);

	this.link[i] = bpf_link_create(
		bpf_program__fd(this.skeleton->progs.nfvbed_switch), (int)this.ifindex[i], BPF_XDP, &options);
	return this.link[i] < 0 ? -errno : 0;
}

int switch_open(const struct switch_options *options)
{
	int err;

	this.options = options;
	this.attached = "switch";
	memset(this.link, -1, sizeof(this.link));
	err = find_ports();
	if (err)
		return err;
	err = load();
	if (err)
		return fail("the programs cannot be loaded", err);
	for (unsigned i = 0; i < options->ports; i++) {
		err = attach(i);
		if (err)
			return fail(options->port[i], err);
	}
	return 0;
}

void switch_close(void)
{
	for (unsigned i = 0; i < SWITCH_PORTS; i++)
		if (this.link[i] >= 0)
			close(this.link[i]);
	xdp_switch_bpf__destroy(this.skeleton);
}

const char *switch_program(void)
{
	return this.attached;
}

int switch_replace(const char *name)
{
	const struct bpf_program *program = find(name);
	int err = program ? 0 : -ENOENT;

	for (unsigned i = 0; i < this.options->ports && !err; i++)
		err = bpf_link_update(this.link[i], bpf_program__fd(program), NULL) ? -errno : 0;
	if (!err)
		this.attached = bpf_program__name(program) + strlen("nfvbed_");
	return err;
}

int switch_read(unsigned port, struct switch_counts *sum)
{
	int cpus = libbpf_num_possible_cpus(), err = -ENOMEM;
	struct switch_counts *values = cpus > 0 ? calloc((size_t)cpus, sizeof(*values)) : NULL;

	*sum = (struct switch_counts){0};
	if (values)
		err = bpf_map_lookup_elem(bpf_map__fd(this.skeleton->maps.counts), &this.ifindex[port], values);
	for (int i = 0; i < cpus && !err; i++) {
		sum->received += values[i].received;
		sum->no_way += values[i].no_way;
	}
	free(values);
	return err;
}

/* An IPv4 packet from the second station to the first one. */
static void make_frame(uint8_t *frame, unsigned size)
{
	struct ether_header *ethernet = (struct ether_header *)frame;
	struct iphdr *ip = (struct iphdr *)(ethernet + 1);

	memset(frame, 0, size);
	memcpy(ethernet->ether_dhost, &this.options->station[0], ETHER_ADDR_LEN);
	memcpy(ethernet->ether_shost, &this.options->station[1], ETHER_ADDR_LEN);
	ethernet->ether_type = htons(ETHERTYPE_IP);
	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = 64;
	ip->protocol = 17;
	ip->tot_len = htons((uint16_t)(size - sizeof(*ethernet)));
}

/* Not the time of day: another thread may have the core for a while, and its time is not the program's. */
static uint64_t run_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int switch_measure(const char *name, unsigned repeat, unsigned size, struct switch_floor *floor)
{
	const struct bpf_program *program = find(name);
	uint8_t frame[LONGEST];
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = size, .repeat = (int)repeat);
	uint64_t start;
	int err;

	if (!program || size < sizeof(struct ether_header) + sizeof(struct iphdr) || size > sizeof(frame))
		return -EINVAL;
	make_frame(frame, size);
	start = run_time_ns();
	err = bpf_prog_test_run_opts(bpf_program__fd(program), &options);
	*floor = (struct switch_floor){
		.verdict = options.retval, .duration_ns = options.duration, .cpu_ns = run_time_ns() - start};
	return err;
}
