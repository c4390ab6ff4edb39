/* SPDX-License-Identifier: Apache-2.0 */
/* The bearers of a request. Both return 0, or -1 with `why` filled. */
#ifndef NFVGEN_BEARERS_H
#define NFVGEN_BEARERS_H

#include "nfvgen.h"

/* The value of the stack's key; `to` is left alone without one. What it points to is freed by trial_free(). */
int bearers_parse(const json_t *object, const struct frame_bearers **to, struct refusal *why);

/* Gives the trial what the bearers decide, and refuses what they leave no choice of; after all other keys. */
int bearers_complete(const json_t *request, struct trial *trial, struct refusal *why);

#endif
