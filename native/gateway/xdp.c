/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the gateway's programs onto two kernel ports, in native mode; they end with this process. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway.h"
#include "gateway.skel.h"

#define PROGRAM "nfvbed-xdp-gateway"

static struct {
	struct gateway_bpf *skeleton;
	unsigned ifindex[GATEWAY_PORTS];
	int link[GATEWAY_PORTS];
	int packets; /* a socket for questions */
} xdp = {.link = {-1, -1}, .packets = -1};

static int fail(const char *what, int err)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", what, strerror(-err));
	return err;
}

/* Its MAC address and MTU. */
static int read_port(enum gateway_port port, const char *name, struct gateway_side *side)
{
	struct ifreq request = {0};

	xdp.ifindex[port] = strlen(name) < IF_NAMESIZE ? if_nametoindex(name) : 0;
	if (!xdp.ifindex[port])
		return -ENODEV;
	strncpy(request.ifr_name, name, IF_NAMESIZE - 1);
	if (ioctl(xdp.packets, SIOCGIFHWADDR, &request))
		return -errno;
	memcpy(side->mac, request.ifr_hwaddr.sa_data, sizeof(side->mac));
	if (ioctl(xdp.packets, SIOCGIFMTU, &request))
		return -errno;
	side->mtu = (unsigned)request.ifr_mtu;
	return 0;
}

static int load(const struct gateway_options *options)
{
	int err;

	xdp.skeleton = gateway_bpf__open();
	if (!xdp.skeleton)
		return -ENOMEM;
	memcpy((void *)&xdp.skeleton->rodata->config, &options->config, sizeof(options->config));
	err = gateway_bpf__load(xdp.skeleton);
	for (__u32 i = 0; i < GATEWAY_PORTS && !err; i++) {
		err = bpf_map_update_elem(bpf_map__fd(xdp.skeleton->maps.ports), &i, &xdp.ifindex[i], BPF_ANY);
		if (!err)
			err = bpf_map_update_elem(
				bpf_map__fd(xdp.skeleton->maps.neighbours), &i, &options->neighbour[i], BPF_ANY);
	}
	return err;
}

/* Never the kernel's generic mode instead, which is slower than a bridge and would pass for XDP. */
static int attach(enum gateway_port port)
{
	DECLARE_LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_DRV_MODE);
	const struct bpf_program *program =
		port == GATEWAY_S1U ? xdp.skeleton->progs.nfvbed_s1u : xdp.skeleton->progs.nfvbed_sgi;

	xdp.link[port] = bpf_link_create(bpf_program__fd(program), (int)xdp.ifindex[port], BPF_XDP, &options);
	return xdp.link[port] < 0 ? -errno : 0;
}

static int open_ports(struct gateway_options *options)
{
	int err;

	xdp.packets = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (xdp.packets < 0)
		return fail("a packet socket", -errno);
	for (enum gateway_port port = 0; port < GATEWAY_PORTS; port++) {
		err = read_port(port, options->port[port], &options->config.side[port]);
		if (err)
			return fail(options->port[port], err);
	}
	if (xdp.ifindex[0] == xdp.ifindex[1])
		return fail("both ports are the same one", -EINVAL);
	err = load(options);
	if (err)
		return fail("the programs cannot be loaded", err);
	for (enum gateway_port port = 0; port < GATEWAY_PORTS; port++) {
		err = attach(port);
		if (err)
			return fail(options->port[port], err);
	}
	return 0;
}

static void close_ports(void)
{
	for (unsigned i = 0; i < GATEWAY_PORTS; i++)
		if (xdp.link[i] >= 0)
			close(xdp.link[i]);
	gateway_bpf__destroy(xdp.skeleton);
	if (xdp.packets >= 0)
		close(xdp.packets);
}

static int add(const struct gateway_bearer *bearer)
{
	int uplink = bpf_map__fd(xdp.skeleton->maps.uplink), downlink = bpf_map__fd(xdp.skeleton->maps.downlink);
	int err = bpf_map_update_elem(uplink, &bearer->uplink, &bearer->ue, BPF_NOEXIST);

	if (err)
		return err;
	err = bpf_map_update_elem(downlink, &bearer->ue, &bearer->downlink, BPF_NOEXIST);
	if (err)
		bpf_map_delete_elem(uplink, &bearer->uplink);
	return err;
}

static int take_out(const struct gateway_bearer *bearer)
{
	int err = bpf_map_delete_elem(bpf_map__fd(xdp.skeleton->maps.uplink), &bearer->uplink);
	int other = bpf_map_delete_elem(bpf_map__fd(xdp.skeleton->maps.downlink), &bearer->ue);

	return err ? err : other;
}

static int read_port_state(enum gateway_port port, struct gateway_counts *sum, gateway_mac *neighbour)
{
	int cpus = libbpf_num_possible_cpus(), err = -ENOMEM;
	struct gateway_counts *values = cpus > 0 ? calloc((size_t)cpus, sizeof(*values)) : NULL;
	__u32 key = port;

	*sum = (struct gateway_counts){0};
	if (values)
		err = bpf_map_lookup_elem(bpf_map__fd(xdp.skeleton->maps.counts), &key, values);
	for (int i = 0; i < cpus && !err; i++)
		for (unsigned count = 0; count < GATEWAY_COUNTS; count++)
			sum->count[count] += values[i].count[count];
	free(values);
	return err ? err : bpf_map_lookup_elem(bpf_map__fd(xdp.skeleton->maps.neighbours), &key, neighbour);
}

static int ask(enum gateway_port port, const uint8_t *frame, unsigned length)
{
	struct sockaddr_ll place = {.sll_family = AF_PACKET, .sll_ifindex = (int)xdp.ifindex[port]};

	return sendto(xdp.packets, frame, length, MSG_DONTWAIT, (struct sockaddr *)&place, sizeof(place)) < 0 ? -errno
													      : 0;
}

static int failed(void)
{
	return -1;
}

const struct gateway_backend gateway_backend = {
	.name = "xdp",
	.program = PROGRAM,
	.open = open_ports,
	.close = close_ports,
	.add = add,
	.remove = take_out,
	.read = read_port_state,
	.ask = ask,
	.failed = failed,
};
