/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to ARP requests and IPv6 neighbour solicitations for the ports' addresses, so that routers can reach them. */
#include "dpdk.h"

#define IDLE_FRAMES 4096
#define ARP_BYTES 28
#define SOLICITATION_BYTES (40 + 24)

static uint16_t read16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* Takes a copy of the request up to `length`, with its tag; the caller then changes it into the answer. */
static struct rte_mbuf *copy_of(const uint8_t *frame, uint32_t length)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(dpdk.pool);
	uint32_t padded = RTE_MAX(length, (uint32_t)(NFVGEN_MIN_FRAME_SIZE - NFVGEN_FCS_BYTES));

	if (!m)
		return NULL;
	m->hash.usr = 0; /* no template any more */
	m->data_len = (uint16_t)padded;
	m->pkt_len = padded;
	memset(rte_pktmbuf_mtod(m, void *), 0, padded);
	memcpy(rte_pktmbuf_mtod(m, void *), frame, length);
	return m;
}

static void transmit(unsigned port, unsigned queue, struct rte_mbuf *m)
{
	if (rte_eth_tx_burst(dpdk.ports[port].id, (uint16_t)queue, &m, 1) == 0)
		rte_pktmbuf_free(m); /* the asker asks again */
}

static void answer_arp(unsigned port, unsigned queue, const uint8_t *frame, uint32_t at)
{
	const struct frame_endpoint *own = &dpdk.endpoint[port];
	struct rte_mbuf *m;
	uint8_t *answer;

	if (read16(frame + at + 6) != 1 || memcmp(frame + at + 24, own->ipv4, 4))
		return;
	m = copy_of(frame, at + ARP_BYTES);
	if (!m)
		return;
	answer = rte_pktmbuf_mtod(m, uint8_t *);
	memcpy(answer, frame + at + 8, 6);
	memcpy(answer + 6, own->mac, 6);
	answer[at + 7] = 2;
	memcpy(answer + at + 8, own->mac, 6);
	memcpy(answer + at + 14, own->ipv4, 4);
	memcpy(answer + at + 18, frame + at + 8, 10);
	transmit(port, queue, m);
}

static bool is_learning(const uint8_t *frame, uint32_t at)
{
	if (memcmp(frame + at + 14, frame + at + 24, 4))
		return false;
	return memcmp(frame + at + 8, dpdk.endpoint[0].mac, 6) == 0 ||
	       memcmp(frame + at + 8, dpdk.endpoint[1].mac, 6) == 0;
}

/* RFC 4861, 7.2.4: solicited, with the target's link-layer address. */
static void answer_solicitation(unsigned port, unsigned queue, const uint8_t *frame, uint32_t at)
{
	static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1}, unspecified[16];
	const struct frame_endpoint *own = &dpdk.endpoint[port];
	bool unknown = memcmp(frame + at + 8, unspecified, 16) == 0;
	struct rte_mbuf *m = copy_of(frame, at + SOLICITATION_BYTES);
	uint8_t *answer, *icmp;
	uint16_t checksum;

	if (!m)
		return;
	m->data_len = (uint16_t)(at + SOLICITATION_BYTES + 8);
	m->pkt_len = m->data_len;
	answer = rte_pktmbuf_mtod(m, uint8_t *);
	memcpy(answer, frame + 6, 6);
	memcpy(answer + 6, own->mac, 6);
	answer[at + 4] = 0;
	answer[at + 5] = 32;
	answer[at + 7] = 255;
	memcpy(answer + at + 24, unknown ? all_nodes : frame + at + 8, 16);
	memcpy(answer + at + 8, own->ipv6, 16);
	icmp = answer + at + 40;
	icmp[0] = 136;
	icmp[2] = icmp[3] = 0;
	icmp[4] = unknown ? 0x20 : 0x60; /* override, solicited */
	icmp[24] = 2;
	icmp[25] = 1;
	memcpy(icmp + 26, own->mac, 6);
	checksum = (uint16_t)~frame_fold(frame_sum(answer + at + 8, 32 + 32) + frame_be16(32) + frame_be16(58));
	memcpy(icmp + 2, &checksum, sizeof(checksum));
	transmit(port, queue, m);
}

void dpdk_answer(unsigned port, unsigned queue, const uint8_t *frame, uint32_t length, bool *own_learning)
{
	uint32_t at = 14;
	uint16_t type;

	if (length < at + ARP_BYTES)
		return;
	type = read16(frame + 12);
	if (type == 0x8100) {
		type = read16(frame + 16);
		at += 4;
	}
	if (type == 0x0806 && length >= at + ARP_BYTES) {
		*own_learning = is_learning(frame, at);
		answer_arp(port, queue, frame, at);
		return;
	}
	if (type == 0x86dd && length >= at + SOLICITATION_BYTES && frame[at + 6] == 58 && frame[at + 40] == 135 &&
		memcmp(frame + at + 48, dpdk.endpoint[port].ipv6, 16) == 0)
		answer_solicitation(port, queue, frame, at);
}

/* Between trials: empties the ports (so that nothing old is waiting when a trial starts) and answers. */
void dpdk_idle(void)
{
	struct rte_mbuf *frames[32];
	uint8_t bytes[128];
	bool own_learning;

	for (unsigned port = 0; port < NFVGEN_PORTS; port++) {
		unsigned count = 32;

		for (unsigned total = 0; count == 32 && total < IDLE_FRAMES; total += count) {
			count = dpdk_take(&dpdk.ports[port], frames, 32);
			for (unsigned i = 0; i < count; i++) {
				uint32_t length = RTE_MIN(frames[i]->pkt_len, (uint32_t)sizeof(bytes));
				const uint8_t *frame = rte_pktmbuf_read(frames[i], 0, length, bytes);

				if (frame)
					dpdk_answer(port, 0, frame, length, &own_learning);
			}
			rte_pktmbuf_free_bulk(frames, count);
		}
	}
}
