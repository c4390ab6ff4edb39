/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#ifndef NFVBED_STEAL_H
#define NFVBED_STEAL_H

#define STEAL_CORES 1024

#endif
