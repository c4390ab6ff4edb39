// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/* Redirects every frame at a port's ingress to one other port: the number of its link is the filter's class. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

/* cls_bpf sets tc_classid to its `classid` before the program runs (net/sched/cls_bpf.c), so no map is needed. */
SEC("tc")
int nfvbed_tc_redirect(struct __sk_buff *frame)
{
	__u32 peer = frame->tc_classid;

	return peer ? bpf_redirect(peer, 0) : TC_ACT_SHOT;
}

char LICENSE[] SEC("license") = "GPL";
