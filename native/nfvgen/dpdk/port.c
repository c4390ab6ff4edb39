/* SPDX-License-Identifier: Apache-2.0 */
/* Opens one port, whatever its driver: a vdev string, or pci:ADDRESS. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>

#include "dpdk.h"
#include "first_peer.h"

#define DEFAULT_MTU 1500
#define MORE_ARGUMENTS 64 /* room for those that are put in here */
#define EARLY_BUFFERS 64  /* so many sent buffers may wait in virtio's ring to be given back */

/* These copy a frame out of its buffer, or only read it. */
static const char *const trusted_drivers[] = {"net_virtio_user", "net_virtio", "net_vhost", "net_af_packet", "mlx5_pci",
	"mlx4_pci", "net_ice", "net_i40e", "net_ixgbe", "net_memif"};

/* These copy what they receive into the buffer, on this core: it is in this core's cache. */
static const char *const copying_drivers[] = {"net_memif", "net_af_packet", "net_vhost"};

static bool key_value(const char *arguments, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);

	for (const char *at = arguments; at; at = strchr(at, ',')) {
		if (*at == ',')
			at++;
		if (strncmp(at, key, length) || at[length] != '=')
			continue;
		at += length + 1;
		snprintf(value, size, "%.*s", (int)strcspn(at, ","), at);
		return true;
	}
	return false;
}

/* The socket that this port will listen on, if it is the listening side. */
static void find_socket(struct dpdk_port *port, const char *arguments)
{
	char role[16];
	bool server = key_value(arguments, "server", role, sizeof(role)) && role[0] == '1';
	bool client = key_value(arguments, "client", role, sizeof(role)) && role[0] == '1';

	port->socket[0] = '\0';
	if (strncmp(port->device, "net_virtio_user", 15) == 0 && server)
		key_value(arguments, "path", port->socket, sizeof(port->socket));
	else if (strncmp(port->device, "net_vhost", 9) == 0 && !client)
		key_value(arguments, "iface", port->socket, sizeof(port->socket));
	else if (strncmp(port->device, "net_memif", 9) == 0 && key_value(arguments, "role", role, sizeof(role)) &&
		 (strcmp(role, "server") == 0 || strcmp(role, "master") == 0) &&
		 key_value(arguments, "socket-abstract", role, sizeof(role)) && strcmp(role, "no") == 0)
		key_value(arguments, "socket", port->socket, sizeof(port->socket));
}

/* A socket file that nobody answers is what a killed process left; the driver would stumble over it. */
static void remove_dead_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (!path[0])
		return;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 && errno == ECONNREFUSED)
		unlink(path);
	close(fd);
}

/* How many queues, if more than those that frames are sent on: a key of ours among the driver's arguments, taken out.
 */
static int take_queues(
	char *arguments, const char *key, const struct dpdk_port *port, uint16_t *to, struct failure *why)
{
	char *at = strstr(arguments, key), *rest;
	unsigned long queues;

	if (!at)
		return 0;
	queues = strtoul(at + strlen(key), &rest, 10);
	if (queues < 1 || queues > NFVGEN_QUEUES || (*rest && *rest != ',')) {
		failure_set(why, "port %s: %.9s must be 1 to %u", port->device, key, NFVGEN_QUEUES);
		return -EINVAL;
	}
	*to = (uint16_t)RTE_MAX(queues, *to);
	if (at > arguments && at[-1] == ',')
		at--;
	else if (*rest == ',')
		rest++;
	memmove(at, rest, strlen(rest) + 1);
	return 0;
}

/* Drivers of vhost-user want to be told how many queue pairs there are; virtio agrees on several by a control queue. */
static void add_queues(const struct dpdk_port *port, char *arguments, size_t size)
{
	bool is_virtio = strncmp(port->device, "net_virtio_user", 15) == 0;
	size_t used = strlen(arguments);
	char value[16];

	if (dpdk.options.queues == 1 || key_value(arguments, "queues", value, sizeof(value)) ||
		(!is_virtio && strncmp(port->device, "net_vhost", 9)))
		return;
	snprintf(arguments + used, size - used, "%squeues=%u%s", used ? "," : "", dpdk.options.queues,
		is_virtio ? ",cq=1" : "");
}

/*
 * A memif's client sends and receives in place where its memory is hugepages: the peer copies, and this core does not.
 * It may then write as many bytes into a buffer as `bsize` says, which is by itself what a buffer of ours has. The
 * words take the place of the role, which is a client's anyhow: newer DPDKs refuse arguments of more than 128
 * characters.
 */
static void send_in_place(const struct dpdk_port *port, char *arguments)
{
	static const char role[] = "role=client", in_place[] = "zero-copy=yes";
	char *at = strstr(arguments, role), value[8];

	if (dpdk.options.no_huge || strncmp(port->device, "net_memif", 9) || !at ||
		key_value(arguments, "zero-copy", value, sizeof(value)) ||
		key_value(arguments, "bsize", value, sizeof(value)))
		return;
	memmove(at + strlen(in_place), at + strlen(role), strlen(at + strlen(role)) + 1);
	memcpy(at, in_place, strlen(in_place));
}

static int probe_vdev(struct dpdk_port *port, const char *spec, struct failure *why)
{
	const char *comma = strchr(spec, ',');
	char arguments[512], value[16];
	int used, result;

	snprintf(port->device, sizeof(port->device), "%.*s", (int)strcspn(spec, ","), spec);
	used = snprintf(arguments, sizeof(arguments), "%s", comma ? comma + 1 : "");
	if (used < 0 || (size_t)used + MORE_ARGUMENTS > sizeof(arguments)) {
		failure_set(why, "port %s: its arguments are longer than %zu bytes", port->device,
			sizeof(arguments) - MORE_ARGUMENTS);
		return -EINVAL;
	}
	result = take_queues(arguments, "rx_queues=", port, &port->rx_queues, why);
	if (result == 0)
		result = take_queues(arguments, "tx_queues=", port, &port->tx_queues, why);
	if (result < 0)
		return result;
	used = (int)strlen(arguments);
	if (key_value(arguments, "queue_size", value, sizeof(value)))
		port->descriptors = (uint16_t)strtoul(value, NULL, 10);
	else if (strncmp(port->device, "net_virtio_user", 15) == 0)
		snprintf(arguments + used, sizeof(arguments) - (size_t)used, "%squeue_size=%u", used ? "," : "",
			dpdk.options.queue_size);
	add_queues(port, arguments, sizeof(arguments));
	send_in_place(port, arguments);
	port->in_place = key_value(arguments, "zero-copy", value, sizeof(value)) && strcmp(value, "yes") == 0;
	find_socket(port, arguments);
	remove_dead_socket(port->socket);
	result = rte_eal_hotplug_add("vdev", port->device, arguments);
	if (result < 0)
		failure_set(why, "port %s could not be opened: %s (%s). Check its arguments \"%.80s\"", port->device,
			rte_strerror(-result), dpdk_last_log(), arguments);
	return result;
}

/*
 * A PCI device is a port by its address; where it is several (ConnectX-3), "class=eth,mac=..." behind it says which.
 * Gives -ENODEV where no port fits.
 */
static int find_pci(struct dpdk_port *port)
{
	char *more = strstr(port->device, ",class=");
	struct rte_dev_iterator iterator;
	uint16_t id;

	if (!more) {
		port->device[strcspn(port->device, ",")] = '\0';
		return rte_eth_dev_get_port_by_name(port->device, &port->id);
	}
	RTE_ETH_FOREACH_MATCHING_DEV(id, more + 1, &iterator)
	{
		port->id = id;
		rte_eth_iterator_cleanup(&iterator);
		return 0;
	}
	return -ENODEV;
}

static int probe(struct dpdk_port *port, const char *spec, struct failure *why)
{
	int result = 0;

	port->rx_queues = port->tx_queues = (uint16_t)dpdk.options.queues;
	port->descriptors = (uint16_t)dpdk.options.queue_size;
	port->pci = strncmp(spec, "pci:", 4) == 0;
	if (port->pci)
		snprintf(port->device, sizeof(port->device), "%s", spec + strlen("pci:"));
	else
		result = probe_vdev(port, spec, why);
	if (result < 0)
		return result;
	result = port->pci ? find_pci(port) : rte_eth_dev_get_port_by_name(port->device, &port->id);
	if (result < 0)
		failure_set(why, "port %s: no driver took it (%s). Check its address, its driver and the IOMMU",
			port->device, dpdk_last_log());
	else
		port->open = true;
	return result;
}

/* Without copying a driver is another one. */
static bool is_listed(const char *const *drivers, unsigned count, const char *driver, const char *spec)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(driver, drivers[i]) == 0)
			return !strstr(spec, "zero-copy=yes");
	return false;
}

/* The largest MTU that the driver accepts; NICs keep theirs, as scattered receive makes them slower. */
static uint16_t choose_mtu(const struct dpdk_port *port, const struct rte_eth_dev_info *info)
{
	uint32_t overhead = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN, frame = info->max_rx_pktlen;
	uint16_t mtu = DEFAULT_MTU;

	if (port->pci)
		return rte_eth_dev_get_mtu(port->id, &mtu) == 0 ? mtu : DEFAULT_MTU;
	if (info->max_mtu != UINT16_MAX && frame != UINT32_MAX && frame > info->max_mtu)
		overhead = frame - info->max_mtu;
	if (frame == 0 || frame > NFVGEN_MAX_FRAME_SIZE)
		frame = NFVGEN_MAX_FRAME_SIZE;
	if (frame <= overhead)
		return DEFAULT_MTU;
	return (uint16_t)RTE_MIN(frame - overhead, (uint32_t)info->max_mtu);
}

/*
 * virtio gives sent buffers back only when its ring is nearly full: then all of the ring's buffers take turns, and
 * their lines fall out of the cache meanwhile. Given back early, the same few are used again while they are warm.
 */
static void give_back_early(const struct dpdk_port *port, uint16_t descriptors, struct rte_eth_txconf *conf)
{
	if (strncmp(port->device, "net_virtio_user", 15) == 0 && descriptors >= 8 * EARLY_BUFFERS)
		conf->tx_free_thresh = (uint16_t)(descriptors - EARLY_BUFFERS);
}

static int configure(struct dpdk_port *port, const struct rte_eth_dev_info *info, uint16_t mtu)
{
	uint16_t rx = port->descriptors, tx = rx;
	struct rte_eth_conf conf = {.rxmode.mtu = mtu};
	struct rte_eth_txconf tx_conf = info->default_txconf;
	int result;

	/* With it the interrupt thread sees peers come and go, and link states can be read from any thread. */
	conf.intr_conf.lsc = (*info->dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
	if (mtu > 2048 - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN)
		conf.rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	result = rte_eth_dev_configure(port->id, port->rx_queues, port->tx_queues, &conf);
	if (result == 0)
		result = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rx, &tx);
	for (uint16_t queue = 0; result == 0 && queue < port->rx_queues; queue++)
		result = rte_eth_rx_queue_setup(port->id, queue, rx, (unsigned)SOCKET_ID_ANY, NULL, dpdk.pool);
	give_back_early(port, tx, &tx_conf);
	for (uint16_t queue = 0; result == 0 && queue < port->tx_queues; queue++)
		result = rte_eth_tx_queue_setup(port->id, queue, tx, (unsigned)SOCKET_ID_ANY, &tx_conf);
	if (result == 0)
		result = rte_eth_dev_start(port->id);
	port->max_frame_size_bytes =
		(uint16_t)RTE_MIN(mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN, NFVGEN_MAX_FRAME_SIZE);
	return result;
}

static int open_driver(struct dpdk_port *port, const char *spec, struct failure *why)
{
	struct rte_eth_dev_info info;
	struct rte_ether_addr mac;
	uint16_t mtu;
	int result = probe(port, spec, why);

	if (result < 0)
		return result;
	result = rte_eth_dev_info_get(port->id, &info);
	if (result < 0)
		goto failed;
	port->trusted = is_listed(trusted_drivers, RTE_DIM(trusted_drivers), info.driver_name, spec);
	port->copies = !port->in_place && is_listed(copying_drivers, RTE_DIM(copying_drivers), info.driver_name, spec);
	if (info.max_rx_queues < port->rx_queues || info.max_tx_queues < port->tx_queues) {
		failure_set(why,
			"port %s: its driver %s has %u queues to receive on and %u to send on; wanted are %u and %u. "
			"Lower --queues",
			port->device, info.driver_name, info.max_rx_queues, info.max_tx_queues, port->rx_queues,
			port->tx_queues);
		return -EINVAL;
	}
	mtu = choose_mtu(port, &info);
	result = configure(port, &info, mtu);
	if (result < 0 && mtu > DEFAULT_MTU)
		result = configure(port, &info, DEFAULT_MTU);
	if (result < 0)
		goto failed;
	rte_eth_promiscuous_enable(port->id); /* virtual ports have no filter, and then refuse: no harm */
	if (rte_eth_macaddr_get(port->id, &mac) == 0)
		memcpy(port->mac, mac.addr_bytes, sizeof(port->mac));
	return 0;
failed:
	failure_set(why, "port %s could not be configured and started: %s (%s)", port->device, rte_strerror(-result),
		dpdk_last_log());
	return result;
}

int dpdk_port_open(struct dpdk_port *port, const char *spec, struct failure *why)
{
	struct first_peer peer = {0};
	char path[sizeof(port->socket)], value[8];
	int result;

	if (strncmp(spec, "net_virtio_user", 15) == 0 && key_value(strchr(spec, ','), "server", value, sizeof(value)) &&
		value[0] == '1' && key_value(strchr(spec, ','), "path", path, sizeof(path))) {
		remove_dead_socket(path);
		result = first_peer_start(&peer, path);
		if (result < 0) {
			failure_set(why, "port %.40s: no thread for its start: %s", spec, rte_strerror(-result));
			return result;
		}
	}
	result = open_driver(port, spec, why);
	first_peer_stop(&peer);
	return result;
}

bool dpdk_port_link(const struct dpdk_port *port)
{
	struct rte_eth_link link = {0};

	return rte_eth_link_get_nowait(port->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

void dpdk_port_close(struct dpdk_port *port)
{
	if (port->open) {
		rte_eth_dev_stop(port->id);
		rte_eth_dev_close(port->id);
		if (!port->pci)
			rte_eal_hotplug_remove("vdev", port->device);
	}
	port->open = false;
	remove_dead_socket(port->socket);
}
