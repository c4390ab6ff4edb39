/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <errno.h>

#define ETHERNET_BYTES 14
#define VLAN_BYTES 4
#define UDP_BYTES 8
#define VXLAN_BYTES 8
#define GTPU_BYTES 8
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define HOP_LIMIT 64
#define PROTOCOL_UDP 17

/* One header chain's place: Ethernet, IP, UDP. */
struct chain {
	uint16_t network;
	uint16_t udp;
	uint16_t end;
};

static void put16(uint8_t *at, uint16_t value)
{
	value = frame_be16(value);
	memcpy(at, &value, sizeof(value));
}

static void put32(uint8_t *at, uint32_t value)
{
	value = frame_be32(value);
	memcpy(at, &value, sizeof(value));
}

static uint16_t ip_bytes(const struct frame_stack *stack)
{
	return stack->ip == 6 ? IPV6_BYTES : IPV4_BYTES;
}

static uint16_t headers_bytes(const struct frame_stack *stack)
{
	unsigned chain = ETHERNET_BYTES + ip_bytes(stack) + UDP_BYTES;

	return (uint16_t)(chain * (stack->vxlan ? 2 : 1) + (stack->vxlan ? VXLAN_BYTES : 0) +
			  (stack->vlan ? VLAN_BYTES : 0));
}

uint16_t frame_min_size(const struct frame_stack *stack)
{
	/* With bearers too: on SGi the headers are those of plain IPv4. */
	uint16_t size = (uint16_t)(headers_bytes(stack) + FRAME_PAYLOAD_BYTES + NFVGEN_FCS_BYTES);

	return size < NFVGEN_MIN_FRAME_SIZE ? NFVGEN_MIN_FRAME_SIZE : size;
}

void frame_endpoint_default(struct frame_endpoint *endpoint, unsigned port, const uint8_t mac[6])
{
	static const uint8_t ipv4[2][4] = {{198, 18, 0, 1}, {198, 19, 0, 1}};
	static const uint8_t ipv6[2][16] = {
		{0x20, 0x01, 0, 2, [15] = 1},
		{0x20, 0x01, 0, 2, 0, 0, 0, 1, [15] = 1},
	};

	memcpy(endpoint->mac, mac, sizeof(endpoint->mac));
	memcpy(endpoint->ipv4, ipv4[port & 1], sizeof(endpoint->ipv4));
	memcpy(endpoint->ipv6, ipv6[port & 1], sizeof(endpoint->ipv6));
}

/* Destination, source, the tag if there is one, EtherType; returns the bytes written. */
static uint16_t put_ethernet(
	uint8_t *at, const uint8_t destination[6], const uint8_t source[6], uint16_t vlan, uint16_t ethertype)
{
	uint16_t length = 12;

	memcpy(at, destination, 6);
	memcpy(at + 6, source, 6);
	if (vlan) {
		put16(at + length, 0x8100);
		put16(at + length + 2, vlan);
		length += VLAN_BYTES;
	}
	put16(at + length, ethertype);
	return (uint16_t)(length + 2);
}

static void put_ipv4(
	uint8_t *at, uint16_t length, const struct frame_endpoint *source, const struct frame_endpoint *destination)
{
	memset(at, 0, IPV4_BYTES);
	at[0] = 0x45;
	put16(at + 2, length);
	at[6] = 0x40; /* do not fragment */
	at[8] = HOP_LIMIT;
	at[9] = PROTOCOL_UDP;
	memcpy(at + 12, source->ipv4, 4);
	memcpy(at + 16, destination->ipv4, 4);
}

static void put_ipv6(
	uint8_t *at, uint16_t length, const struct frame_endpoint *source, const struct frame_endpoint *destination)
{
	memset(at, 0, IPV6_BYTES);
	at[0] = 0x60;
	put16(at + 4, (uint16_t)(length - IPV6_BYTES));
	at[6] = PROTOCOL_UDP;
	at[7] = HOP_LIMIT;
	memcpy(at + 8, source->ipv6, 16);
	memcpy(at + 24, destination->ipv6, 16);
}

/* IP and UDP headers up to the end of the frame, without checksums; returns where the two are. */
static struct chain put_chain(uint8_t *bytes, uint16_t network, uint16_t end, const struct frame_stack *stack,
	const struct frame_endpoint *const endpoints[2])
{
	struct chain chain = {.network = network, .udp = (uint16_t)(network + ip_bytes(stack)), .end = end};
	uint16_t length = (uint16_t)(end - network);

	if (stack->ip == 6)
		put_ipv6(bytes + network, length, endpoints[0], endpoints[1]);
	else
		put_ipv4(bytes + network, length, endpoints[0], endpoints[1]);
	put16(bytes + chain.udp, stack->replies ? NFVGEN_UDP_PORT : NFVGEN_MIN_UDP_SOURCE);
	put16(bytes + chain.udp + 2, stack->replies ? NFVGEN_MIN_UDP_SOURCE : NFVGEN_UDP_PORT);
	put16(bytes + chain.udp + 4, (uint16_t)(end - chain.udp));
	put16(bytes + chain.udp + 6, 0);
	return chain;
}

/* The sum over pseudo header, UDP header and payload. */
static uint64_t udp_sum(const uint8_t *bytes, const struct frame_stack *stack, struct chain chain)
{
	uint16_t addresses = (uint16_t)(chain.network + (stack->ip == 6 ? 8 : 12));
	uint64_t sum = frame_sum(bytes + addresses, (size_t)(chain.end - addresses));

	return sum + frame_be16(PROTOCOL_UDP) + frame_be16((uint16_t)(chain.end - chain.udp));
}

static void put_payload(struct frame_template *t, uint16_t stream)
{
	uint8_t *at = t->bytes + t->layout.payload;

	put32(at + FRAME_PAYLOAD_MAGIC, NFVGEN_MAGIC);
	put16(at + FRAME_PAYLOAD_STREAM, stream);
	/* Beyond the frame's end too: a sender copies whole cache lines into buffers that larger frames will use. */
	for (unsigned i = FRAME_PAYLOAD_BYTES; t->layout.payload + i < sizeof(t->bytes); i++)
		at[i] = frame_pattern(i);
}

/* Where in an IP header the 16 bits lie that distinguish flows; even, as sums count in words of 16 bits. */
static uint16_t flow_address(const struct frame_stack *stack)
{
	static const uint8_t ipv4[2][3] = {{12 + 2, 16 + 2, 16}, {16 + 2, 12 + 2, 12}};
	static const uint8_t ipv6[2][3] = {{8 + 14, 24 + 14, 24 + 6}, {24 + 14, 8 + 14, 8 + 6}};

	return stack->ip == 6 ? ipv6[stack->replies][stack->flow_address] : ipv4[stack->replies][stack->flow_address];
}

static void set_layout(struct frame_template *t, const struct frame_stack *stack, struct chain inner)
{
	struct frame_layout *at = &t->layout;

	at->inner_network = inner.network;
	at->address = (uint16_t)(inner.network + flow_address(stack));
	if (stack->bearers) {
		at->ue = (uint16_t)(inner.network + (stack->uplink ? 12 : 16));
		at->address = (uint16_t)(at->ue + 2);
	}
	at->ip_checksum = stack->ip == 6 ? 0 : (uint16_t)(inner.network + 10);
	at->flow_port = (uint16_t)(inner.udp + (stack->replies ? 2 : 0));
	at->udp_checksum = (uint16_t)(inner.udp + 6);
	at->payload = (uint16_t)(inner.udp + UDP_BYTES);
	at->sequence = (uint16_t)(at->payload + FRAME_PAYLOAD_SEQUENCE);
	at->time = (uint16_t)(at->payload + FRAME_PAYLOAD_TIME);
}

/* Partial sums with the flow's fields zeroed; sequence and time are still 0 in the template. */
static void set_inner_sums(struct frame_template *t, const struct frame_stack *stack, struct chain inner)
{
	uint8_t *bytes = t->bytes;

	t->address = (uint16_t)(bytes[t->layout.address] << 8 | bytes[t->layout.address + 1]);
	put16(bytes + t->layout.address, 0);
	if (stack->bearers)
		put32(bytes + t->layout.ue, 0);
	put16(bytes + t->layout.flow_port, 0);
	t->ip_sum = stack->ip == 6 ? 0 : frame_fold(frame_sum(bytes + inner.network, IPV4_BYTES));
	t->udp_sum = frame_fold(udp_sum(bytes, stack, inner));
}

static void set_outer_ip_checksum(uint8_t *bytes, struct chain outer)
{
	uint16_t checksum = (uint16_t)~frame_fold(frame_sum(bytes + outer.network, IPV4_BYTES));

	memcpy(bytes + outer.network + 10, &checksum, 2);
}

/*
 * The outer sum, port zeroed. The inner UDP datagram with its pseudo header sums to nothing, and so does an inner IPv4
 * header: what frame_write_outer() adds is minus the inner address (IPv6: it cancels out, as its header is not summed).
 */
static void set_outer_sums(struct frame_template *t, const struct frame_stack *stack, struct chain outer)
{
	struct frame_flow flow = frame_flow(t, 0);

	t->layout.outer_source_port = outer.udp;
	t->layout.outer_udp_checksum = (uint16_t)(outer.udp + 6);
	frame_write(t->bytes, t, 0, 0, 0);
	put16(t->bytes + outer.udp, 0);
	put16(t->bytes + outer.udp + 6, 0);
	t->outer_udp_sum = frame_fold(udp_sum(t->bytes, stack, outer) + (stack->ip == 6 ? 0 : flow.address));
	if (stack->ip == 4)
		set_outer_ip_checksum(t->bytes, outer);
}

/* The same with the UE's whole address and the TEID for the port: see frame_write_bearer(). */
static void set_tunnel_sums(struct frame_template *t, const struct frame_stack *stack, struct chain outer)
{
	t->layout.teid = (uint16_t)(outer.udp + UDP_BYTES + 4);
	t->layout.outer_udp_checksum = (uint16_t)(outer.udp + 6);
	frame_write(t->bytes, t, 0, 0, 0);
	put32(t->bytes + t->layout.teid, 0);
	put16(t->bytes + outer.udp + 6, 0);
	t->outer_udp_sum = frame_fold(udp_sum(t->bytes, stack, outer) + stack->bearers->bearer[0].ue);
	set_outer_ip_checksum(t->bytes, outer);
}

static struct chain put_vxlan(struct frame_template *t, const struct frame_stack *stack, struct chain outer,
	const struct frame_endpoint *const endpoints[2])
{
	uint16_t at = (uint16_t)(outer.udp + UDP_BYTES);

	/* The tunnel's own ports are not mirrored: its source port spreads flows, whichever way they go (RFC 7348). */
	put16(t->bytes + outer.udp, NFVGEN_MIN_UDP_SOURCE);
	put16(t->bytes + outer.udp + 2, NFVGEN_VXLAN_PORT);
	put32(t->bytes + at, 0x08000000u); /* the VNI is valid */
	put32(t->bytes + at + 4, stack->vni << 8);
	at = (uint16_t)(at + VXLAN_BYTES);
	memcpy(t->bytes + at, t->bytes, 12);
	put16(t->bytes + at + 12, stack->ip == 6 ? 0x86dd : 0x0800);
	return put_chain(t->bytes, (uint16_t)(at + ETHERNET_BYTES), t->layout.length, stack, endpoints);
}

static struct frame_endpoint endpoint_at(uint32_t ipv4)
{
	struct frame_endpoint endpoint = {0};

	memcpy(endpoint.ipv4, &ipv4, sizeof(endpoint.ipv4));
	return endpoint;
}

/* IPv4, UDP and GTP-U (3GPP TS 29.281) from the eNB to the serving gateway. */
static struct chain put_tunnel(struct frame_template *t, const struct frame_stack *stack)
{
	const struct frame_endpoint enb = endpoint_at(stack->bearers->enb), sgw = endpoint_at(stack->bearers->sgw);
	struct chain outer = put_chain(t->bytes, t->layout.network, t->layout.length, stack,
		(const struct frame_endpoint *const[]){&enb, &sgw});
	uint8_t *gtpu = t->bytes + outer.udp + UDP_BYTES;

	put16(t->bytes + outer.udp, NFVGEN_GTPU_PORT);
	put16(t->bytes + outer.udp + 2, NFVGEN_GTPU_PORT);
	gtpu[0] = FRAME_GTPU_FLAGS;
	gtpu[1] = FRAME_GTPU_GPDU;
	put16(gtpu + 2, (uint16_t)(outer.end - outer.udp - UDP_BYTES - GTPU_BYTES));
	return outer;
}

/* Bearer 0's packet between its UE and the server, at `network`. */
static struct chain put_users_packet(struct frame_template *t, const struct frame_stack *stack, uint16_t network)
{
	const struct frame_endpoint ue = endpoint_at(stack->bearers->bearer[0].ue),
				    server = endpoint_at(stack->bearers->server);
	const struct frame_endpoint *const from_ue[] = {&ue, &server}, *const to_ue[] = {&server, &ue};

	t->bearers = stack->bearers;
	return put_chain(t->bytes, network, t->layout.length, stack, stack->uplink ? from_ue : to_ue);
}

static bool fits(const struct frame_stack *stack, uint16_t size_bytes)
{
	if (stack->bearers && (stack->ip != 4 || stack->vlan || stack->vxlan))
		return false;
	return size_bytes >= frame_min_size(stack) &&
	       size_bytes + (stack->uplink ? FRAME_GTPU_BYTES : 0) <= NFVGEN_MAX_FRAME_SIZE;
}

int frame_template_build(struct frame_template *t, const struct frame_stack *stack, const struct frame_endpoint *source,
	const struct frame_endpoint *destination, const uint8_t destination_mac[6], uint16_t size_bytes,
	uint16_t stream)
{
	const struct frame_endpoint *const endpoints[2] = {source, destination};
	uint16_t ethertype = stack->ip == 6 ? 0x86dd : 0x0800;
	struct chain outer, inner;

	if (!fits(stack, size_bytes))
		return -EINVAL;
	memset(t, 0, sizeof(*t));
	t->layout.length = (uint16_t)(size_bytes - NFVGEN_FCS_BYTES + (stack->uplink ? FRAME_GTPU_BYTES : 0));
	t->layout.network = put_ethernet(t->bytes, destination_mac, source->mac, stack->vlan, ethertype);
	outer = stack->uplink ? put_tunnel(t, stack)
			      : put_chain(t->bytes, t->layout.network, t->layout.length, stack, endpoints);
	inner = outer;
	if (stack->vxlan)
		inner = put_vxlan(t, stack, outer, endpoints);
	if (stack->bearers)
		inner = put_users_packet(
			t, stack, (uint16_t)(t->layout.network + (stack->uplink ? FRAME_GTPU_BYTES : 0)));
	set_layout(t, stack, inner);
	put_payload(t, stream);
	set_inner_sums(t, stack, inner);
	if (stack->vxlan)
		set_outer_sums(t, stack, outer);
	if (stack->uplink)
		set_tunnel_sums(t, stack, outer);
	frame_write(t->bytes, t, 0, 0, 0);
	return 0;
}

uint16_t frame_learning(uint8_t *bytes, const struct frame_stack *stack, const struct frame_endpoint *source)
{
	static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint16_t at = put_ethernet(bytes, broadcast, source->mac, stack->vlan, 0x0806);
	uint16_t length = (uint16_t)(at + NFVGEN_MIN_FRAME_SIZE - NFVGEN_FCS_BYTES - ETHERNET_BYTES);

	memset(bytes + at, 0, (size_t)(length - at));
	put16(bytes + at, 1);          /* Ethernet */
	put16(bytes + at + 2, 0x0800); /* IPv4 */
	bytes[at + 4] = 6;
	bytes[at + 5] = 4;
	put16(bytes + at + 6, 1); /* request; target = sender makes it gratuitous */
	memcpy(bytes + at + 8, source->mac, 6);
	memcpy(bytes + at + 14, source->ipv4, 4);
	memcpy(bytes + at + 24, source->ipv4, 4);
	return length;
}
