/* SPDX-License-Identifier: Apache-2.0 */
/* A list of CPUs as the kernel writes it ("0,2-3"), to a CPU set. */
#ifndef NFVBED_EXEC_CORES_H
#define NFVBED_EXEC_CORES_H

#include <sched.h>

/* Returns 0, or -EINVAL when `list` is no list, or -ERANGE when a CPU does not fit a cpu_set_t. */
int cores_parse(const char *list, cpu_set_t *set);

#endif
