// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * What the hypervisor took of each core, in ns. /proc/stat has it in steps of 10 ms, though the kernel knows it
 * exactly, and adds it to its account at each timer tick: this reads that account when the tick has ended.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "steal.h"

/* The members that are read, wherever the running kernel has them. */
#define AS_THE_KERNEL_HAS_IT __attribute__((preserve_access_index))

struct rq {
	__u64 prev_steal_time;
} AS_THE_KERNEL_HAS_IT;

struct cfs_rq {
	struct rq *rq;
} AS_THE_KERNEL_HAS_IT;

struct sched_entity {
	struct cfs_rq *cfs_rq;
} AS_THE_KERNEL_HAS_IT;

struct task_struct {
	struct sched_entity se;
} AS_THE_KERNEL_HAS_IT;

/* By core; whoever has the map may have it in its memory. A core writes its own alone. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STEAL_CORES);
	__type(key, __u32);
	__type(value, __u64);
} stolen_ns SEC(".maps");

SEC("tp_btf/hrtimer_expire_exit")
int read_account(const void *timer)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	__u32 core = bpf_get_smp_processor_id();
	__u64 *sum_ns = bpf_map_lookup_elem(&stolen_ns, &core);

	(void)timer;
	if (sum_ns)
		*sum_ns = task->se.cfs_rq->rq->prev_steal_time;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
