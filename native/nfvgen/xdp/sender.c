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

static struct {
	struct xdp_gen_bpf *skeleton;
	struct bpf_program *program; /* the one that this trial is sent by */
	pthread_mutex_t lock;        /* between snapshots and the end of a trial */
	struct xdp_plan plan;
} sender = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

static int set_ports(const struct trial *trial, const struct xdp_port ports[XDP_PORTS])
{
	int err = 0;

	for (__u32 i = 0; i < trial->directions && !err; i++) {
		__u32 ifindex = ports[trial->direction[i].tx].ifindex;

		err = bpf_map_update_elem(bpf_map__fd(sender.skeleton->maps.tx_ports), &i, &ifindex, BPF_ANY);
	}
	return err;
}

/* Only that one is loaded. */
static void choose_program(struct xdp_gen_bpf *skeleton, const struct trial *trial)
{
	bool bearers = trial->stack.bearers;

	bpf_program__set_autoload(skeleton->progs.nfvgen_send, !bearers);
	bpf_program__set_autoload(skeleton->progs.nfvgen_send_bearers, bearers);
	sender.program = bearers ? skeleton->progs.nfvgen_send_bearers : skeleton->progs.nfvgen_send;
}

static void take_bearers(const struct trial *trial)
{
	const struct frame_bearers *from = trial->stack.bearers;

	for (uint32_t i = 0; from && i < from->count; i++)
		sender.skeleton->bss->bearers[i] =
			(struct gen_bearer){.ue = from->bearer[i].ue, .teid = from->bearer[i].uplink_teid};
}

/*
 * Frames wait in the kernel until a batch is over, and a turn that waits is a part of a batch too: small batches when
 * paced. At maximum load it is the most that the kernel takes: it keeps as many pages for frames to come back to, and
 * what finds no place there goes through the page allocator.
 */
static uint32_t batch_size(void)
{
	uint64_t slots = sender.plan.config.slots_per_s;

	if (!slots)
		return 256;
	if (sender.plan.config.then_slots_per_s > slots)
		slots = sender.plan.config.then_slots_per_s;
	if (slots > 3000000)
		return 64;
	return slots > 1000000 ? 16 : 8;
}

int xdp_sender_open(
	const struct trial *trial, uint16_t trial_number, const struct xdp_port ports[XDP_PORTS], struct failure *why)
{
	struct xdp_gen_bpf *skeleton;
	int err = xdp_plan(&sender.plan, trial, trial_number);

	if (err)
		return xdp_fail(why, err, "the frames of this trial cannot be built: %s", strerror(-err));
	skeleton = xdp_gen_bpf__open();
	if (!skeleton)
		return xdp_fail(why, -ENOMEM, "no memory for the sending program");
	sender.plan.config.batch_ns = batch_size() * NFVGEN_FRAME_NS;
	sender.plan.config.gap_ns = NFVGEN_GAP_NS + sender.plan.config.batch_ns;
	memcpy((void *)&skeleton->rodata->config, &sender.plan.config, sizeof(sender.plan.config));
	memcpy((void *)skeleton->rodata->templates, sender.plan.templates, sizeof(sender.plan.templates));
	memcpy((void *)skeleton->rodata->schedule, sender.plan.schedule, sizeof(sender.plan.schedule));
	if (sender.plan.config.bin_ns)
		err = bpf_map__set_max_entries(
			skeleton->maps.bins, sender.plan.config.bins * sender.plan.config.directions);
	choose_program(skeleton, trial);
	if (!err)
		err = xdp_gen_bpf__load(skeleton);
	pthread_mutex_lock(&sender.lock);
	sender.skeleton = skeleton;
	pthread_mutex_unlock(&sender.lock);
	if (err)
		return xdp_fail(why, err, "the kernel refuses the sending program: %s", strerror(-err));
	take_bearers(trial);
	err = set_ports(trial, ports);
	if (err)
		return xdp_fail(why, err, "the kernel refuses to redirect into the ports: %s", strerror(-err));
	return 0;
}

void xdp_sender_close(void)
{
	pthread_mutex_lock(&sender.lock);
	xdp_gen_bpf__destroy(sender.skeleton);
	sender.skeleton = NULL;
	pthread_mutex_unlock(&sender.lock);
}

uint32_t xdp_sender_map(void)
{
	struct bpf_map_info info = {0};
	__u32 length = sizeof(info);

	bpf_obj_get_info_by_fd(bpf_map__fd(sender.skeleton->maps.tx_ports), &info, &length);
	return info.id;
}

const struct xdp_plan *xdp_sender_plan(void)
{
	return &sender.plan;
}

int xdp_sender_call(void)
{
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = sender.plan.longest,
		.data_size_in = sender.plan.config.longest, .repeat = TURNS, .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
		.batch_size = batch_size());

	return bpf_prog_test_run_opts(bpf_program__fd(sender.program), &options);
}

struct xdp_sent xdp_sender_read(unsigned direction)
{
	struct xdp_sent sent = {0};

	pthread_mutex_lock(&sender.lock);
	if (sender.skeleton) {
		const volatile struct gen_direction *d = &sender.skeleton->bss->state.direction[direction];

		sent.generated = d->generated;
		sent.missed = d->unsent;
	}
	pthread_mutex_unlock(&sender.lock);
	return sent;
}

void xdp_sender_times(uint64_t *duration_ns, uint64_t *busy_ns)
{
	const volatile struct gen_state *state = &sender.skeleton->bss->state;

	*duration_ns = state->last_ns - state->start_ns;
	*busy_ns = *duration_ns > state->waited_ns ? *duration_ns - state->waited_ns : 0;
}

void xdp_sender_gaps(struct trial_counts *counts)
{
	const volatile struct gen_state *state = &sender.skeleton->bss->state;

	counts->gaps = state->gaps;
	counts->gap_ns = state->gaps_ns;
	counts->gap_longest_ns = state->gap_longest_ns;
}

bool xdp_sender_done(uint64_t *elapsed_ns)
{
	const volatile struct gen_state *state = &sender.skeleton->bss->state;

	*elapsed_ns = state->start_ns && state->last_ns > state->start_ns ? state->last_ns - state->start_ns : 0;
	return state->done;
}

void xdp_sender_appoint(uint64_t start_ns)
{
	sender.skeleton->bss->state.start_ns = start_ns;
	sender.skeleton->bss->state.due_ns = start_ns;
}

void xdp_sender_timeline(unsigned direction, struct timeline *t)
{
	int map = bpf_map__fd(sender.skeleton->maps.bins);

	for (__u32 i = 0; i < t->count; i++) {
		__u32 key = direction * t->count + i;

		bpf_map_lookup_elem(map, &key, &t->bins[i].sent);
	}
}
