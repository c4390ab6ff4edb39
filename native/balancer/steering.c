/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdlib.h>

#include "remap.h"
#include "steering.h"
#include "tap.h"

#include "balancer.skel.h" /* needs the types of balancer.h */

static struct {
	struct balancer_bpf *skeleton;
	const char *tap;
	unsigned queues;
	int stats; /* the kernel times programs as long as this is open */
	bool attached;
	uint32_t keys[BALANCER_FLOWS];
	struct balancer_flow values[BALANCER_FLOWS];
	struct remap_flow flows[BALANCER_FLOWS];
	uint64_t last[BALANCER_QUEUES]; /* packets of each queue when this period began */
	uint64_t seen;                  /* packets, by the program, when the last period ended */
	uint32_t sent;                  /* by the device's own counter, which has 32 bits here */
	struct steering_totals totals;
} this = {.stats = -1};

int steering_open(const char *tap, unsigned queues, bool timed)
{
	int err;

	this.tap = tap;
	this.queues = queues;
	this.skeleton = balancer_bpf__open();
	if (!this.skeleton)
		return -ENOMEM;
	this.skeleton->rodata->queues = queues;
	err = balancer_bpf__load(this.skeleton);
	if (err || !timed)
		return err;
	this.stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return this.stats < 0 ? this.stats : 0;
}

/* A queue of our own is there for as long as the request takes: an open one would give the tap a carrier for good. */
static int set_program(int program)
{
	int queue = tap_open_queue(this.tap, 0), err;

	if (queue < 0)
		return queue;
	err = ioctl(queue, TUNSETSTEERINGEBPF, &program) ? -errno : 0;
	close(queue);
	return err;
}

int steering_attach(void)
{
	int err = set_program(bpf_program__fd(this.skeleton->progs.nfvbed_map_flow));

	this.attached = this.attached || !err;
	return err;
}

static int read_flows(unsigned *count)
{
	DECLARE_LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t next, room = BALANCER_FLOWS;
	int err;

	err = bpf_map_lookup_batch(
		bpf_map__fd(this.skeleton->maps.flows), NULL, &next, this.keys, this.values, &room, &options);
	*count = room;
	return err == -ENOENT ? 0 : err; /* the table's end */
}

/* A packet that is counted in the very moment of a move may not be counted: its flow's count begins anew. */
static int write_moves(unsigned count, uint32_t period)
{
	int table = bpf_map__fd(this.skeleton->maps.flows), err = 0;

	for (unsigned i = 0; i < count && !err; i++) {
		const struct balancer_flow value = {.period = period, .queue = this.flows[i].queue};

		if (this.flows[i].moved)
			err = bpf_map_update_elem(table, &this.flows[i].id, &value, BPF_EXIST);
	}
	return err;
}

static void begin_period(uint32_t period)
{
	struct balancer_bpf__bss *shared = this.skeleton->bss;

	for (unsigned i = 0; i < this.queues; i++) {
		shared->queue[i].base = this.last[i];
		this.last[i] = shared->queue[i].packets;
	}
	shared->period = period;
	this.totals.periods++;
}

int steering_remap(uint64_t threshold)
{
	uint32_t period = this.skeleton->bss->period;
	unsigned found = 0, active = 0, moved;
	int err = read_flows(&found);

	if (err)
		return err;
	for (unsigned i = 0; i < found; i++) {
		const struct balancer_flow *flow = &this.values[i];

		if (flow->period == period && flow->packets)
			this.flows[active++] =
				(struct remap_flow){.id = this.keys[i], .queue = flow->queue, .packets = flow->packets};
		else
			bpf_map_delete_elem(bpf_map__fd(this.skeleton->maps.flows), &this.keys[i]);
	}
	moved = remap(this.flows, active, this.queues, threshold);
	begin_period(period + 1);
	err = write_moves(active, period + 1);
	this.totals.moves += moved;
	this.totals.flows = active;
	return err ? err : (int)moved;
}

static int read_sent(uint32_t *sent)
{
	struct ifaddrs *all, *one;
	int err = -ENODEV;

	if (getifaddrs(&all))
		return -errno;
	for (one = all; one; one = one->ifa_next) {
		if (one->ifa_addr && one->ifa_addr->sa_family == AF_PACKET && !strcmp(one->ifa_name, this.tap)) {
			*sent = ((const struct rtnl_link_stats *)one->ifa_data)->tx_packets;
			err = 0;
		}
	}
	freeifaddrs(all);
	return err;
}

int steering_keep(void)
{
	uint64_t seen = this.skeleton->bss->packets;
	uint32_t sent = this.sent;
	bool taken;
	int err = read_sent(&sent);

	if (err)
		return err;
	taken = sent != this.sent && seen == this.seen && this.totals.periods > 1;
	this.sent = sent;
	this.seen = seen;
	if (!taken)
		return 0;
	err = steering_attach();
	this.totals.attached_again += !err;
	return err ? err : 1;
}

struct steering_totals steering_read(void)
{
	const struct balancer_bpf__bss *shared = this.skeleton->bss;
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (!bpf_obj_get_info_by_fd(bpf_program__fd(this.skeleton->progs.nfvbed_map_flow), &info, &size)) {
		this.totals.mapper_ns = info.run_time_ns;
		this.totals.mapper_runs = info.run_cnt;
	}
	this.totals.packets = shared->packets;
	this.totals.no_flow = shared->no_flow;
	this.totals.no_entry = shared->no_entry;
	return this.totals;
}

int steering_floor(unsigned repeat, unsigned *ns)
{
	uint8_t frame[60] = {0};
	struct ether_header *ethernet = (struct ether_header *)frame;
	struct iphdr *ip = (struct iphdr *)(ethernet + 1);
	DECLARE_LIBBPF_OPTS(
		bpf_test_run_opts, options, .data_in = frame, .data_size_in = sizeof(frame), .repeat = (int)repeat);
	int err;

	ethernet->ether_type = htons(ETHERTYPE_IP);
	ip->version = 4;
	ip->ihl = 5;
	ip->protocol = IPPROTO_UDP;
	err = bpf_prog_test_run_opts(bpf_program__fd(this.skeleton->progs.nfvbed_map_flow), &options);
	*ns = options.duration;
	return err;
}

void steering_close(void)
{
	if (this.attached)
		set_program(-1);
	if (this.stats >= 0)
		close(this.stats);
	balancer_bpf__destroy(this.skeleton);
}
