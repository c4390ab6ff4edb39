// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * The sender: it is run again and again by the kernel (BPF_F_TEST_XDP_LIVE_FRAMES), each time with a fresh frame, and
 * makes that frame the next one of the trial or throws it away while no frame is due.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "xdp_frame.bpf.h"
#include "xdp_shared.h"

#define NS_PER_S 1000000000ull
/* A turn that only waits takes 50 to 120 ns; what is longer was the kernel delivering the frames before it. */
#define WAIT_TURN_NS 250

const volatile __u8 schedule[XDP_SCHEDULE] = {};
struct gen_state state = {};

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, XDP_DIRECTIONS);
	__type(key, __u32);
	__type(value, __u32);
} tx_ports SEC(".maps");

/* The timelines, one direction after the other; one element where there is none. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32); /* sent; refused frames among them, of which only the sum is reported */
} bins SEC(".maps");

/*
 * Reading the clock is a fifth of the work. A paced frame needs it; at maximum load the frames of a burst share a time,
 * as they leave together (the kernel hands them over 16 at a time); without stamps it only ends the trial.
 */
static __always_inline __u64 clock_ns(void)
{
	if (config.slots_per_s || !(state.iterations++ & (config.stamp ? 3 : 15)))
		return bpf_ktime_get_ns();
	return state.last_ns;
}

static __always_inline void account_time(__u64 now)
{
	__u64 since = state.last_ns, delta;

	/* What comes before an appointed start is no part of the trial. */
	if ((config.bin_ns || config.appointed) && since && since < state.start_ns)
		since = now < state.start_ns ? now : state.start_ns;
	delta = since ? now - since : 0;
	state.after_gap = delta > config.gap_ns;
	if (state.after_gap) {
		__u64 gap_ns = delta - config.batch_ns;

		state.gaps++;
		state.gaps_ns += gap_ns;
		state.waited_ns += gap_ns;
		if (gap_ns > state.gap_longest_ns)
			state.gap_longest_ns = gap_ns;
	} else if (state.waiting) {
		state.waited_ns += delta < WAIT_TURN_NS ? delta : WAIT_TURN_NS;
	}
	state.waiting = 0;
	state.last_ns = now;
}

static __always_inline __u32 *bin_at(__u32 direction, __u64 time)
{
	__u64 at = (time - state.start_ns) / config.bin_ns;
	__u32 key = direction * config.bins + (at < config.bins ? (__u32)at : config.bins - 1);

	return bpf_map_lookup_elem(&bins, &key);
}

static __always_inline __u64 slots_per_s(void)
{
	return config.then_ns && state.second ? config.then_slots_per_s : config.slots_per_s;
}

static __always_inline void next_slots(__u64 slots)
{
	int second = config.then_ns && state.second;
	__u64 part = second ? config.then_interval_rest : config.interval_rest;
	__u64 rest = state.due_rest + slots * part;

	state.due_ns += slots * (second ? config.then_interval_ns : config.interval_ns);
	if (part) {
		state.due_ns += rest / slots_per_s();
		state.due_rest = rest % slots_per_s();
	}
}

/* A hole of any length costs the same: what was missed is computed, and never sent. */
static __always_inline void skip_until(__u64 until)
{
	__u64 slots = ((until - state.due_ns) * slots_per_s() + NS_PER_S - 1) / NS_PER_S;
	__u32 turn = state.turn & 1;

	if (config.directions == 1) {
		state.direction[config.first & 1].unsent += slots;
	} else {
		state.direction[turn].unsent += (slots + 1) / 2;
		state.direction[turn ^ 1].unsent += slots / 2;
		state.turn = turn ^ (slots & 1);
	}
	next_slots(slots);
}

/* The change of the pace does not wait for what is late. */
static __always_inline void change_pace(__u64 turn_ns)
{
	if (state.due_ns < turn_ns)
		skip_until(turn_ns);
	state.second = 1;
	state.due_ns = turn_ns;
	state.due_rest = 0;
}

/* After a gap the newest slots are sent on, as many as a ring holds. */
static __always_inline void skip_to_newest(__u64 now)
{
	__u64 interval_ns = config.then_ns && state.second ? config.then_interval_ns : config.interval_ns;
	__u64 kept_ns = config.directions * XDP_SENT_ON * (interval_ns + 1);

	if (now > kept_ns && state.due_ns < now - kept_ns)
		skip_until(now - kept_ns);
}

static __always_inline int paced_out(__u64 now)
{
	__u64 end_ns = state.start_ns + config.duration_ns, until = end_ns;

	if (config.then_ns && !state.second) {
		until = state.start_ns + config.then_ns;
		if (now >= until) {
			change_pace(until);
			until = end_ns;
		}
	}
	if (state.due_ns < until && now > state.due_ns + XDP_LATE_NS)
		skip_until(now - XDP_LATE_NS < until ? now - XDP_LATE_NS : until);
	if (state.after_gap)
		skip_to_newest(now < until ? now : until);
	/* Slots that were due before the end are sent, even just after it. */
	if (state.due_ns >= end_ns)
		state.done = 1;
	return state.done || now < state.due_ns;
}

static __always_inline int frames_are_out(void)
{
	if (!config.frames)
		return 0;
	if (config.directions == 1)
		return state.direction[config.first & 1].generated >= config.frames;
	return state.direction[0].generated >= config.frames && state.direction[1].generated >= config.frames;
}

/* Is there nothing to be sent now? */
static __always_inline int must_wait(__u64 now)
{
	if (!state.start_ns) {
		state.start_ns = now;
		state.due_ns = now;
	}
	/* With a timeline, or beside another sender, its start was appointed. */
	if ((config.bin_ns || config.appointed) && now < state.start_ns)
		return 1;
	if (frames_are_out() || (!config.slots_per_s && now - state.start_ns >= config.duration_ns)) {
		state.done = 1;
		return 1;
	}
	if (config.slots_per_s && paced_out(now)) {
		state.waiting = 1;
		return 1;
	}
	return 0;
}

/* Takes the slot; returns the direction whose it is. */
static __always_inline __u32 take_slot(void)
{
	__u32 turn = state.turn & 1;

	if (config.slots_per_s)
		next_slots(1);
	if (config.directions == 1)
		return config.first;
	state.turn = turn ^ 1;
	return turn;
}

static __always_inline __u32 next_size(struct gen_direction *mine)
{
	__u32 slot = mine->slot;

	if (config.sizes == 1)
		return 0;
	mine->slot = slot + 1 >= config.schedule_length ? 0 : slot + 1;
	return schedule[slot % XDP_SCHEDULE] % XDP_MIX;
}

static __always_inline __u32 next_flow(struct gen_direction *mine)
{
	__u32 flow = mine->flow;

	if (config.flows == 1)
		return 0;
	mine->flow = flow + 1 >= config.flows ? 0 : flow + 1;
	return flow;
}

/* The program's end of a frame's way: it is accounted for, and handed to its port. */
static __always_inline int send_on(__u32 direction, struct gen_direction *mine, __u64 now)
{
	mine->generated++;
	if (config.bin_ns) {
		__u32 *sent = bin_at(direction & 1, now);

		if (sent)
			(*sent)++;
	}
	return bpf_redirect_map(&tx_ports, direction, XDP_DROP);
}

SEC("xdp")
int nfvgen_send(struct xdp_md *ctx)
{
	const volatile struct gen_template *t;
	struct gen_direction *mine;
	struct frame_mark mark;
	__u32 direction, length;
	void *frame;
	__u64 now;

	if (state.done)
		return XDP_DROP;
	now = clock_ns();
	account_time(now);
	if (must_wait(now))
		return XDP_DROP;
	direction = take_slot();
	mine = &state.direction[direction & 1];
	if (config.frames && mine->generated >= config.frames)
		return XDP_DROP;
	t = &templates[(direction & 1) * XDP_MIX + next_size(mine)];
	length = t->length;
	/* Cannot fail: every length of the mix is checked when the program is loaded. */
	if (config.sizes > 1 && length < config.longest && bpf_xdp_adjust_tail(ctx, (int)length - (int)config.longest))
		return XDP_ABORTED;
	frame = (void *)(long)ctx->data;
	if (frame + config.header_length > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	copy_headers(frame, t);
	mark = (struct frame_mark){.direction = direction,
		.flow = next_flow(mine),
		.sequence = (__u32)mine->generated,
		.time = config.stamp ? now : 0};
	write_fields(frame, t, &mark);
	return send_on(direction, mine, now);
}

/* The sender of trials with bearers: its two directions have different headers. */
SEC("xdp")
int nfvgen_send_bearers(struct xdp_md *ctx)
{
	const volatile struct gen_template *t;
	struct gen_direction *mine;
	struct frame_mark mark;
	__u32 direction;
	__u64 now;

	if (state.done)
		return XDP_DROP;
	now = clock_ns();
	account_time(now);
	if (must_wait(now))
		return XDP_DROP;
	direction = take_slot();
	mine = &state.direction[direction & 1];
	if (config.frames && mine->generated >= config.frames)
		return XDP_DROP;
	t = &templates[(direction & 1) * XDP_MIX + next_size(mine)];
	mark = (struct frame_mark){.direction = direction,
		.flow = next_flow(mine),
		.sequence = (__u32)mine->generated,
		.time = config.stamp ? now : 0};
	if (shape(ctx, t->length, direction != config.uplink))
		return XDP_ABORTED;
	if (direction == config.uplink ? write_bearer(ctx, t, mark, XDP_GTPU_BYTES) : write_bearer(ctx, t, mark, 0))
		return XDP_ABORTED;
	return send_on(direction, mine, now);
}

char LICENSE[] SEC("license") = "GPL";
