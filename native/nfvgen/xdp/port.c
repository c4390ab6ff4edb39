/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "xdp.h"

static int ask(const struct xdp_port *port, unsigned long what, struct ifreq *request)
{
	snprintf(request->ifr_name, sizeof(request->ifr_name), "%s", port->name);
	return ioctl(port->socket, what, request) ? -errno : 0;
}

static void read_driver(struct xdp_port *port)
{
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
	struct ethtool_cmd link = {.cmd = ETHTOOL_GSET};
	struct ifreq request = {.ifr_data = (char *)&driver};

	snprintf(port->driver, sizeof(port->driver), "unknown");
	if (!ask(port, SIOCETHTOOL, &request))
		snprintf(port->driver, sizeof(port->driver), "%.31s", driver.driver);
	request.ifr_data = (char *)&link;
	/* A virtual port tells a rate that nothing holds it to. */
	if (strcmp(port->driver, "veth") && strcmp(port->driver, "tun") && !ask(port, SIOCETHTOOL, &request) &&
		ethtool_cmd_speed(&link) != (uint32_t)SPEED_UNKNOWN)
		port->speed_mbps = ethtool_cmd_speed(&link);
}

static int read_properties(struct xdp_port *port, struct failure *why)
{
	struct ifreq request = {0};
	int err = ask(port, SIOCGIFMTU, &request);

	if (err)
		return xdp_fail(why, err, "port %s: its MTU cannot be read: %s", port->name, strerror(-err));
	port->mtu = (unsigned)request.ifr_mtu;
	err = ask(port, SIOCGIFHWADDR, &request);
	if (err)
		return xdp_fail(why, err, "port %s: its MAC address cannot be read: %s", port->name, strerror(-err));
	memcpy(port->mac, request.ifr_hwaddr.sa_data, sizeof(port->mac));
	read_driver(port);
	return 0;
}

/* Frames of a trial may have any destination address; the kernel ends this when the socket is closed. */
static int become_promiscuous(const struct xdp_port *port, struct failure *why)
{
	struct packet_mreq request = {.mr_ifindex = (int)port->ifindex, .mr_type = PACKET_MR_PROMISC};

	if (!setsockopt(port->socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request)))
		return 0;
	return xdp_fail(why, -errno, "port %s: promiscuous mode refused: %s", port->name, strerror(errno));
}

int xdp_port_open(struct xdp_port *port, const char *name, struct failure *why)
{
	int err;

	*port = (struct xdp_port){.socket = -1};
	port->ifindex = strlen(name) < sizeof(port->name) ? if_nametoindex(name) : 0;
	if (!port->ifindex)
		return xdp_fail(why, -ENODEV, "port %s: there is no such interface in this network namespace", name);
	snprintf(port->name, sizeof(port->name), "%s", name);
	/* Protocol 0: nothing is received, so the kernel copies no frame for it. */
	port->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (port->socket < 0)
		return xdp_fail(why, -errno, "port %s: no packet socket: %s", name, strerror(errno));
	err = read_properties(port, why);
	if (!err)
		err = become_promiscuous(port, why);
	if (err)
		xdp_port_close(port);
	return err;
}

void xdp_port_close(struct xdp_port *port)
{
	if (port->ifindex && port->socket >= 0)
		close(port->socket);
	port->socket = -1;
}

bool xdp_port_link(const struct xdp_port *port)
{
	struct ifreq request = {0};

	return !ask(port, SIOCGIFFLAGS, &request) && (request.ifr_flags & IFF_UP) && (request.ifr_flags & IFF_RUNNING);
}

void xdp_port_learn(const struct xdp_port *port, const struct frame_stack *stack, const struct frame_endpoint *source)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)port->ifindex};
	uint8_t bytes[128];
	uint16_t length = frame_learning(bytes, stack, source);

	/* A switch that did not learn floods: the trial shows it, so a failure here is no reason to stop. */
	if (sendto(port->socket, bytes, length, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to)) < 0)
		return;
}
