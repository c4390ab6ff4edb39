/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the XDP engine share: two ports, a sink on each, a sender for the time of a trial. */
#ifndef NFVGEN_XDP_H
#define NFVGEN_XDP_H

#include <net/if.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/types.h>

#include "../engine.h"
#include "../timeline.h"
#include "xdp_shared.h"

#define XDP_NAPI_THREADS 64
#define XDP_ALL (-1)

struct xdp_port {
	char name[IF_NAMESIZE];
	char driver[32];
	unsigned ifindex;
	unsigned mtu;
	uint8_t mac[6];
	uint32_t speed_mbps;
	int socket; /* for learning frames, ioctls and promiscuous mode, which ends with it */
};

/* What one direction's sender did so far. */
struct xdp_sent {
	uint64_t generated;
	uint64_t missed; /* slots never served */
};

/* fail.c: fills `why` and returns `err`, a negative errno. */
__attribute__((format(printf, 3, 4))) int xdp_fail(struct failure *why, int err, const char *format, ...);

/* port.c */
int xdp_port_open(struct xdp_port *port, const char *name, struct failure *why);
void xdp_port_close(struct xdp_port *port);
bool xdp_port_link(const struct xdp_port *port);
void xdp_port_learn(const struct xdp_port *port, const struct frame_stack *stack, const struct frame_endpoint *source);

/* sink.c */
int xdp_sink_open(const struct xdp_port ports[XDP_PORTS], struct failure *why);
void xdp_sink_close(void);
int xdp_sink_choose(const struct trial *trial, struct failure *why); /* the program on the ports */
void xdp_sink_addresses(const struct frame_endpoint endpoint[XDP_PORTS]);
/* `start_ns`: of the timeline, where the trial has one. */
void xdp_sink_start(const struct trial *trial, uint16_t trial_number, uint64_t start_ns);
void xdp_sink_timeline(unsigned port, struct timeline *t);
void xdp_sink_read(const struct trial *trial, struct trial_counts *counts, bool with_latency);

/* expect.c */
void xdp_expect(struct sink_quick *quick, const struct trial *trial, uint16_t trial_number);

/* xmit.c */
int xdp_xmit_open(const struct xdp_port ports[XDP_PORTS], struct failure *why);
void xdp_xmit_close(void);
struct xdp_plan;
void xdp_xmit_start(const struct trial *trial, const struct xdp_plan *plan);
struct xmit_counts xdp_xmit_read(unsigned port);
uint64_t xdp_xmit_bytes(unsigned direction); /* of the frames that its port took, in memory */

/* sender.c */
uint16_t xdp_sender_longest(void); /* the longest live frame, in memory; 0: the kernel has none */
/* `count`: how many there may be; a trial of one direction has one. */
int xdp_sender_open(const struct trial *trial, unsigned count, uint16_t trial_number,
	const struct xdp_port ports[XDP_PORTS], struct failure *why);
void xdp_sender_close(void);
unsigned xdp_sender_count(void);
int xdp_sender_call(unsigned number); /* the kernel's loop: blocks until a signal, or until its turns are used up */
uint32_t xdp_sender_map(unsigned direction); /* the number of the map of its sender's ports */
const struct xdp_plan *xdp_sender_plan(void);
struct xdp_sent xdp_sender_read(unsigned direction);
void xdp_sender_gaps(struct trial_counts *counts);
void xdp_sender_times(uint64_t *duration_ns, uint64_t *busy_ns);
bool xdp_sender_done(unsigned number, uint64_t *elapsed_ns);
/* Of trials with a timeline, whose ends go by the same start, and of two senders, which begin together: */
void xdp_sender_appoint(uint64_t start_ns);
void xdp_sender_timeline(unsigned direction, struct timeline *t);

/* second.c: the thread of a second sender, on a core of its own, which it keeps between trials. */
int xdp_second_open(int core, int *thread_id, struct failure *why);
void xdp_second_close(void);
pthread_t xdp_second_thread(void);
void xdp_second_start(int (*work)(void *), void *argument);
int xdp_second_wait(void); /* what the work returned */

/* run.c: blocks until the trial has ended or `stop` is set. */
int xdp_run_senders(const struct trial *trial, const struct xdp_port ports[XDP_PORTS], const atomic_bool *stop,
	const int cores[], struct failure *why);

/* template.c: a trial as the sending program wants it. */
struct xdp_plan {
	struct gen_config config;
	struct gen_template templates[XDP_DIRECTIONS * XDP_MIX];
	uint8_t schedule[XDP_SCHEDULE];
	uint8_t longest[NFVGEN_MAX_FRAME_SIZE];
};
/* `direction`: the one that a sender has for itself, or XDP_ALL. */
int xdp_plan(struct xdp_plan *plan, const struct trial *trial, int direction, uint16_t trial_number);

/* napi.c */
int xdp_napi_pin(const struct xdp_port ports[XDP_PORTS], int core, struct failure *why);
void xdp_napi_restore(void);

#endif
