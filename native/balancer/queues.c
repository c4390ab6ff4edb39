/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of a multi-queue tap, in place of a host's sender and of a guest with a vCPU for each queue: paced UDP
 * flows go out by a link (a bridge), and a thread for each queue takes what the tap has for it. Frames carry their flow
 * and their number, so that what each queue had in each interval, what was lost and what came out of order is counted.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "balancer.h"
#include "tap.h"

#define PROGRAM "nfvbed-queue-ends"
#define FLOWS 256
#define INTERVALS 6000
#define MAGIC 0x4e465651u
#define USAGE 2
#define FAILED 1
#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull
#define DRAIN_NS (300 * NS_PER_MS)
#define LATE_NS (100 * NS_PER_MS)
#define READER_WAITS_MS 20

/* What a tap puts before each frame (virtio's header without merged buffers), as nfvbed makes its taps. */
#define HEADER sizeof(struct virtio_net_hdr)

struct mark {
	uint32_t magic;
	uint32_t flow;
	uint64_t number; /* from 1 */
} __attribute__((packed));

struct frame {
	struct ether_header ethernet;
	struct iphdr ip;
	struct udphdr udp;
	struct mark mark;
} __attribute__((packed));

struct flow {
	unsigned port;
	unsigned rate;
	uint64_t due;
	uint64_t sent;
	uint64_t unsent;
	_Atomic uint64_t last; /* largest number that was taken */
	_Atomic uint64_t received;
	_Atomic uint64_t reordered;
	_Atomic uint64_t queues; /* a bit for each that it came by */
};

struct queue {
	pthread_t thread;
	int handle;
	unsigned number;
	uint64_t received;
	uint32_t in[INTERVALS];
};

static struct {
	const char *tap;
	const char *link;
	uint8_t mac[ETHER_ADDR_LEN];
	unsigned queues;
	unsigned duration_ms;
	unsigned interval_ms;
	unsigned serve; /* packets a second that each reader takes at most; 0: as it can */
	unsigned flows;
	struct flow flow[FLOWS];
	struct queue queue[BALANCER_QUEUES];
	uint64_t start;
	atomic_bool over;
} this = {.duration_ms = 10000, .interval_ms = 200};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t at)
{
	const struct timespec when = {.tv_sec = (time_t)(at / NS_PER_S), .tv_nsec = (long)(at % NS_PER_S)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
}

static int fail(const char *what, int err)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", what, strerror(-err));
	return FAILED;
}

/* Two queues may have frames of one flow at the same time: whichever is taken behind a later one is out of order. */
static void take(struct queue *queue, const struct frame *frame)
{
	const struct mark *mark = &frame->mark;
	uint64_t at = (now_ns() - this.start) / (this.interval_ms * NS_PER_MS), last;
	struct flow *flow;

	if (mark->magic != MAGIC || mark->flow >= this.flows)
		return; /* somebody else's, who sends into this bridge */
	flow = &this.flow[mark->flow];
	queue->received++;
	if (at < INTERVALS)
		queue->in[at]++;
	atomic_fetch_add(&flow->received, 1);
	atomic_fetch_or(&flow->queues, 1ull << queue->number);
	last = atomic_load(&flow->last);
	while (mark->number > last && !atomic_compare_exchange_weak(&flow->last, &last, mark->number))
		;
	if (mark->number < last)
		atomic_fetch_add(&flow->reordered, 1);
}

static void *serve_queue(void *argument)
{
	struct queue *queue = argument;
	struct pollfd wait = {.fd = queue->handle, .events = POLLIN};
	uint64_t due = now_ns();
	uint8_t data[2048];

	while (!atomic_load(&this.over)) {
		ssize_t size;

		if (poll(&wait, 1, READER_WAITS_MS) <= 0)
			continue;
		size = read(queue->handle, data, sizeof(data));
		if (size < (ssize_t)(HEADER + sizeof(struct frame)))
			continue;
		take(queue, (const struct frame *)(data + HEADER));
		if (!this.serve)
			continue;
		/* A reader that had nothing to do saves up no time. */
		due = (due > now_ns() ? due : now_ns()) + NS_PER_S / this.serve;
		if (due > now_ns() + NS_PER_MS)
			sleep_until(due);
	}
	return NULL;
}

static uint16_t checksum(const struct iphdr *ip)
{
	const uint16_t *words = (const uint16_t *)ip;
	uint32_t sum = 0;

	for (unsigned i = 0; i < sizeof(*ip) / sizeof(*words); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~(sum + (sum >> 16));
}

static struct frame make_frame(void)
{
	struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.ttl = 64,
		.protocol = IPPROTO_UDP,
		.tot_len = htons(sizeof(struct frame) - sizeof(struct ether_header)),
		.saddr = htonl(0xc6120001), /* 198.18.0.0/15: RFC 2544 */
		.daddr = htonl(0xc6130001),
	};
	struct frame frame = {
		.ethernet = {.ether_shost = {0x02, 0x4e, 0x46, 0x56, 0x03, 0x00}, .ether_type = htons(ETHERTYPE_IP)},
		.udp = {.uh_dport = htons(9), .uh_ulen = htons(sizeof(frame.udp) + sizeof(frame.mark))},
		.mark = {.magic = MAGIC},
	};

	memcpy(frame.ethernet.ether_dhost, this.mac, sizeof(this.mac));
	ip.check = checksum(&ip);
	frame.ip = ip;
	return frame;
}

static int open_link(void)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(this.link)};
	int handle, err;

	if (!address.sll_ifindex)
		return -errno;
	handle = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* receives nothing */
	if (handle < 0)
		return -errno;
	if (!bind(handle, (struct sockaddr *)&address, sizeof(address)))
		return handle;
	err = -errno;
	close(handle);
	return err;
}

static struct flow *find_next(void)
{
	struct flow *next = this.flow;

	for (unsigned i = 1; i < this.flows; i++)
		if (this.flow[i].due < next->due)
			next = &this.flow[i];
	return next;
}

/* What is not sent in time is never sent: who waited for a core would else send a burst. */
static int send_flows(int handle, uint64_t end)
{
	struct frame frame = make_frame();

	for (struct flow *flow = find_next(); flow->due < end; flow = find_next()) {
		uint64_t now = now_ns();

		if (flow->due > now)
			sleep_until(flow->due);
		if (now > flow->due + LATE_NS) {
			flow->unsent++;
		} else {
			frame.udp.uh_sport = htons((uint16_t)flow->port);
			frame.mark.flow = (uint32_t)(flow - this.flow);
			frame.mark.number = flow->sent + 1;
			if (send(handle, &frame, sizeof(frame), 0) == sizeof(frame))
				flow->sent++;
			else if (errno == ENOBUFS)
				flow->unsent++;
			else
				return -errno;
		}
		flow->due += NS_PER_S / flow->rate;
	}
	return 0;
}

static int open_queues(void)
{
	for (unsigned i = 0; i < this.queues; i++) {
		this.queue[i].number = i;
		this.queue[i].handle = tap_open_queue(this.tap, O_NONBLOCK);
		if (this.queue[i].handle < 0)
			return fail(this.tap, this.queue[i].handle);
	}
	return 0;
}

static void print_counts(void)
{
	unsigned intervals = this.duration_ms / this.interval_ms;

	printf("{\"flows\": [");
	for (unsigned i = 0; i < this.flows; i++) {
		const struct flow *flow = &this.flow[i];

		printf("%s{\"port\": %u, \"rate_pps\": %u, \"sent\": %lu, \"unsent\": %lu, \"received\": %lu, "
		       "\"reordered\": %lu, \"queues\": %lu}",
			i ? ", " : "", flow->port, flow->rate, flow->sent, flow->unsent, flow->received,
			flow->reordered, flow->queues);
	}
	printf("], \"interval_ms\": %u, \"intervals\": [", this.interval_ms);
	for (unsigned at = 0; at < intervals; at++) {
		printf("%s[", at ? ", " : "");
		for (unsigned i = 0; i < this.queues; i++)
			printf("%s%u", i ? ", " : "", this.queue[i].in[at]);
		printf("]");
	}
	printf("]}\n");
}

static int run(void)
{
	int status = open_queues(), handle;
	unsigned started = 0;

	if (status)
		return status;
	handle = open_link();
	if (handle < 0)
		return fail(this.link, handle);
	this.start = now_ns() + NS_PER_MS;
	for (unsigned i = 0; i < this.flows; i++)
		this.flow[i].due = this.start;
	while (started < this.queues && !status) {
		struct queue *queue = &this.queue[started];

		status = -pthread_create(&queue->thread, NULL, serve_queue, queue);
		started += !status;
	}
	if (!status)
		status = send_flows(handle, this.start + this.duration_ms * NS_PER_MS);
	sleep_until(now_ns() + DRAIN_NS);
	atomic_store(&this.over, true);
	for (unsigned i = 0; i < started; i++)
		pthread_join(this.queue[i].thread, NULL);
	close(handle);
	if (status)
		return fail(this.link, status);
	print_counts();
	return 0;
}

static int usage(FILE *stream)
{
	fprintf(stream,
		"usage: " PROGRAM " --tap NAME --queues N --link NAME --mac MAC --flow PORT:PPS...\n"
		"                         [--duration-ms N] [--interval-ms N] [--serve PPS]\n"
		"\n"
		"Sends UDP flows out by a link to an address behind a multi-queue tap, takes them at the tap's queues, "
		"and\n"
		"prints one JSON document: counts of each flow, and packets of each queue in each interval (200 ms).\n"
		"--serve: so many packets a second that each queue's reader takes at most.\n");
	return USAGE;
}

static int wrong(const char *option, const char *seen, const char *right)
{
	fprintf(stderr, PROGRAM ": --%s: seen \"%s\"; right is %s\n", option, seen, right);
	return USAGE;
}

static int add_flow(const char *text)
{
	struct flow *flow = &this.flow[this.flows];
	char rest;

	if (this.flows == FLOWS)
		return wrong("flow", text, "at most 256 flows");
	if (sscanf(text, "%5u:%7u%c", &flow->port, &flow->rate, &rest) != 2 || flow->port - 1 > 65534 || !flow->rate)
		return wrong("flow", text, "PORT:PPS, a port of 1 to 65535 and a rate of 1 to 9999999");
	this.flows++;
	return 0;
}

static int number(const char *option, const char *text, unsigned least, unsigned most, unsigned *value)
{
	char rest;

	if (sscanf(text, "%9u%c", value, &rest) == 1 && *value >= least && *value <= most)
		return 0;
	fprintf(stderr, PROGRAM ": --%s: seen \"%s\"; right is %u to %u\n", option, text, least, most);
	return USAGE;
}

static int set(int option, const char *value)
{
	uint8_t *mac = this.mac;
	char rest;

	switch (option) {
	case 't':
		this.tap = value;
		return 0;
	case 'l':
		this.link = value;
		return 0;
	case 'm':
		if (sscanf(value, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4],
			    &mac[5], &rest) == 6)
			return 0;
		return wrong("mac", value, "an address as 02:00:00:00:00:01");
	case 'f':
		return add_flow(value);
	case 'q':
		return number("queues", value, 1, BALANCER_QUEUES, &this.queues);
	case 'd':
		return number("duration-ms", value, 10, 600000, &this.duration_ms);
	case 'i':
		return number("interval-ms", value, 10, 60000, &this.interval_ms);
	case 's':
		return number("serve", value, 1, 9999999, &this.serve);
	case 'h':
		usage(stdout);
		return -1;
	default:
		return usage(stderr);
	}
}

int main(int argc, char **argv)
{
	static const struct option table[] = {
		{"tap", required_argument, NULL, 't'},
		{"queues", required_argument, NULL, 'q'},
		{"link", required_argument, NULL, 'l'},
		{"mac", required_argument, NULL, 'm'},
		{"flow", required_argument, NULL, 'f'},
		{"duration-ms", required_argument, NULL, 'd'},
		{"interval-ms", required_argument, NULL, 'i'},
		{"serve", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, status = 0;

	while (!status && (option = getopt_long(argc, argv, "", table, NULL)) != -1)
		status = set(option, optarg);
	if (status)
		return status < 0 ? 0 : status;
	if (optind < argc || !this.tap || !this.link || !this.queues || !this.flows ||
		this.duration_ms / this.interval_ms > INTERVALS)
		return usage(stderr);
	return run();
}
