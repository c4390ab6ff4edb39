/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of BPF_PROG_TEST_RUN a trial: setting one up takes about 20 ms, so it is given more turns than it needs.
 * The program ends the trial to the nanosecond and then throws frames away until a signal ends the call.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "xdp.h"
#include "xdp_gen.skel.h"

/* What the kernel leaves of a page; looked for from here downwards, as it differs between versions. */
#define LONGEST_GUESS 3840
#define SHORTEST_GUESS 2048
/* At 10 M turns a second about 100 s; then the call is made again. */
#define TURNS (1 << 30)

/* One for both directions, in turn, or one for each: on a core of its own. */
struct sender {
	struct xdp_gen_bpf *skeleton;
	struct bpf_program *program; /* the one that this trial is sent by */
	struct xdp_plan plan;
};

static struct {
	struct sender sender[XDP_DIRECTIONS];
	unsigned count;
	pthread_mutex_t lock; /* between snapshots and the end of a trial */
} senders = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct sender *sender_of(unsigned direction)
{
	return &senders.sender[senders.count > 1 ? direction : 0];
}

static int try_length(int program, uint32_t length)
{
	static uint8_t frame[LONGEST_GUESS];
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = length, .repeat = 1,
		.flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	return bpf_prog_test_run_opts(program, &options);
}

uint16_t xdp_sender_longest(void)
{
	/* return XDP_DROP */
	const struct bpf_insn drop[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_DROP},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int program = bpf_prog_load(BPF_PROG_TYPE_XDP, "nfvgen_probe", "GPL", drop, 2, NULL);
	uint32_t length = LONGEST_GUESS;

	if (program < 0)
		return 0;
	/* What is too long is refused at once, so only the last of these tries takes time. */
	while (length >= SHORTEST_GUESS && try_length(program, length))
		length -= 4;
	close(program);
	return length >= SHORTEST_GUESS ? (uint16_t)length : 0;
}

static int set_ports(const struct sender *sender, const struct trial *trial, const struct xdp_port ports[XDP_PORTS])
{
	int err = 0;

	for (__u32 i = 0; i < trial->directions && !err; i++) {
		__u32 ifindex = ports[trial->direction[i].tx].ifindex;

		err = bpf_map_update_elem(bpf_map__fd(sender->skeleton->maps.tx_ports), &i, &ifindex, BPF_ANY);
	}
	return err;
}

/* Only that one is loaded. */
static void choose_program(struct sender *sender, struct xdp_gen_bpf *skeleton, const struct trial *trial)
{
	bool bearers = trial->stack.bearers;

	bpf_program__set_autoload(skeleton->progs.nfvgen_send, !bearers);
	bpf_program__set_autoload(skeleton->progs.nfvgen_send_bearers, bearers);
	sender->program = bearers ? skeleton->progs.nfvgen_send_bearers : skeleton->progs.nfvgen_send;
}

static void take_bearers(const struct sender *sender, const struct trial *trial)
{
	const struct frame_bearers *from = trial->stack.bearers;

	for (uint32_t i = 0; from && i < from->count; i++)
		sender->skeleton->bss->bearers[i] =
			(struct gen_bearer){.ue = from->bearer[i].ue, .teid = from->bearer[i].uplink_teid};
}

/*
 * Frames wait in the kernel until a batch is over, and a turn that waits is a part of a batch too: small batches when
 * paced. At maximum load it is the most that the kernel takes: it keeps as many pages for frames to come back to, and
 * what finds no place there goes through the page allocator.
 */
static uint32_t batch_size(const struct gen_config *config)
{
	uint64_t slots = config->slots_per_s;

	if (!slots)
		return 256;
	if (config->then_slots_per_s > slots)
		slots = config->then_slots_per_s;
	if (slots > 3000000)
		return 64;
	return slots > 1000000 ? 16 : 8;
}

static int open_one(
	struct sender *sender, const struct trial *trial, const struct xdp_port ports[XDP_PORTS], struct failure *why)
{
	struct xdp_gen_bpf *skeleton = xdp_gen_bpf__open();
	struct xdp_plan *plan = &sender->plan;
	int err = 0;

	if (!skeleton)
		return xdp_fail(why, -ENOMEM, "no memory for the sending program");
	plan->config.batch_ns = batch_size(&plan->config) * NFVGEN_FRAME_NS;
	plan->config.gap_ns = NFVGEN_GAP_NS + plan->config.batch_ns;
	memcpy((void *)&skeleton->rodata->config, &plan->config, sizeof(plan->config));
	memcpy((void *)skeleton->rodata->templates, plan->templates, sizeof(plan->templates));
	memcpy((void *)skeleton->rodata->schedule, plan->schedule, sizeof(plan->schedule));
	if (plan->config.bin_ns)
		err = bpf_map__set_max_entries(skeleton->maps.bins, plan->config.bins * trial->directions);
	choose_program(sender, skeleton, trial);
	if (!err)
		err = xdp_gen_bpf__load(skeleton);
	pthread_mutex_lock(&senders.lock);
	sender->skeleton = skeleton;
	pthread_mutex_unlock(&senders.lock);
	if (err)
		return xdp_fail(why, err, "the kernel refuses the sending program: %s", strerror(-err));
	take_bearers(sender, trial);
	err = set_ports(sender, trial, ports);
	if (err)
		return xdp_fail(why, err, "the kernel refuses to redirect into the ports: %s", strerror(-err));
	return 0;
}

int xdp_sender_open(const struct trial *trial, unsigned count, uint16_t trial_number,
	const struct xdp_port ports[XDP_PORTS], struct failure *why)
{
	int err = 0;

	senders.count = count < trial->directions ? count : trial->directions;
	for (unsigned i = 0; i < senders.count && !err; i++) {
		struct sender *sender = &senders.sender[i];

		err = xdp_plan(&sender->plan, trial, senders.count > 1 ? (int)i : XDP_ALL, trial_number);
		if (err)
			return xdp_fail(why, err, "the frames of this trial cannot be built: %s", strerror(-err));
		err = open_one(sender, trial, ports, why);
	}
	return err;
}

unsigned xdp_sender_count(void)
{
	return senders.count;
}

void xdp_sender_close(void)
{
	pthread_mutex_lock(&senders.lock);
	for (unsigned i = 0; i < XDP_DIRECTIONS; i++) {
		xdp_gen_bpf__destroy(senders.sender[i].skeleton);
		senders.sender[i].skeleton = NULL;
	}
	pthread_mutex_unlock(&senders.lock);
}

uint32_t xdp_sender_map(unsigned direction)
{
	struct bpf_map_info info = {0};
	__u32 length = sizeof(info);

	bpf_obj_get_info_by_fd(bpf_map__fd(sender_of(direction)->skeleton->maps.tx_ports), &info, &length);
	return info.id;
}

const struct xdp_plan *xdp_sender_plan(void)
{
	return &senders.sender[0].plan;
}

int xdp_sender_call(unsigned number)
{
	struct sender *sender = &senders.sender[number];
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = sender->plan.longest,
		.data_size_in = sender->plan.config.longest, .repeat = TURNS, .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
		.batch_size = batch_size(&sender->plan.config));

	return bpf_prog_test_run_opts(bpf_program__fd(sender->program), &options);
}

struct xdp_sent xdp_sender_read(unsigned direction)
{
	struct xdp_sent sent = {0};

	pthread_mutex_lock(&senders.lock);
	if (sender_of(direction)->skeleton) {
		const volatile struct gen_direction *d =
			&sender_of(direction)->skeleton->bss->state.direction[direction];

		sent.generated = d->generated;
		sent.missed = d->unsent;
	}
	pthread_mutex_unlock(&senders.lock);
	return sent;
}

/* From the first frame of any to the last one of any; busy is the one that was so longest. */
void xdp_sender_times(uint64_t *duration_ns, uint64_t *busy_ns)
{
	uint64_t first = UINT64_MAX, last = 0;

	*busy_ns = 0;
	for (unsigned i = 0; i < senders.count; i++) {
		const volatile struct gen_state *state = &senders.sender[i].skeleton->bss->state;
		uint64_t took = state->last_ns - state->start_ns;
		uint64_t busy = took > state->waited_ns ? took - state->waited_ns : 0;

		first = state->start_ns < first ? state->start_ns : first;
		last = state->last_ns > last ? state->last_ns : last;
		*busy_ns = busy > *busy_ns ? busy : *busy_ns;
	}
	*duration_ns = last - first;
}

/* Of two senders those of the one that was kept from its core for longer: the time of a trial is not that of both. */
void xdp_sender_gaps(struct trial_counts *counts)
{
	for (unsigned i = 0; i < senders.count; i++) {
		const volatile struct gen_state *state = &senders.sender[i].skeleton->bss->state;

		if (i && state->gaps_ns <= counts->gap_ns)
			continue;
		counts->gaps = state->gaps;
		counts->gap_ns = state->gaps_ns;
		counts->gap_longest_ns = state->gap_longest_ns;
	}
}

bool xdp_sender_done(unsigned number, uint64_t *elapsed_ns)
{
	const volatile struct gen_state *state = &senders.sender[number].skeleton->bss->state;

	*elapsed_ns = state->start_ns && state->last_ns > state->start_ns ? state->last_ns - state->start_ns : 0;
	return state->done;
}

/* Of two paced ones the second is half an interval later, as where one sends both directions in turn. */
void xdp_sender_appoint(uint64_t start_ns)
{
	for (unsigned i = 0; i < senders.count; i++) {
		struct gen_state *state = &senders.sender[i].skeleton->bss->state;

		state->start_ns = start_ns;
		state->due_ns = start_ns + (i ? senders.sender[i].plan.config.interval_ns / 2 : 0);
	}
}

void xdp_sender_timeline(unsigned direction, struct timeline *t)
{
	int map = bpf_map__fd(sender_of(direction)->skeleton->maps.bins);

	for (__u32 i = 0; i < t->count; i++) {
		__u32 key = direction * t->count + i;

		bpf_map_lookup_elem(map, &key, &t->bins[i].sent);
	}
}
