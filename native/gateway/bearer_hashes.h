/* SPDX-License-Identifier: Apache-2.0 */
/* Bearers as a polling loop finds them; it alone reads and changes them. */
#ifndef NFVBED_BEARER_HASHES_H
#define NFVBED_BEARER_HASHES_H

#include <errno.h>

#include <rte_hash.h>
#include <rte_hash_crc.h>

#include "gateway.h"

struct bearer_hashes {
	struct rte_hash *uplink;   /* TEID to the UE's address */
	struct rte_hash *downlink; /* the UE's address to TEID */
};

static inline struct rte_hash *bearer_hash_make(const char *name)
{
	/* A cuckoo hash that is half full always finds a place. */
	const struct rte_hash_parameters parameters = {.name = name,
		.entries = 2 * GATEWAY_BEARERS,
		.key_len = sizeof(uint32_t),
		.hash_func = rte_hash_crc,
		.socket_id = SOCKET_ID_ANY};

	return rte_hash_create(&parameters);
}

/* Returns whether there is one. */
static inline bool bearer_find(const struct rte_hash *hash, uint32_t key, uint32_t *value)
{
	void *found;

	if (rte_hash_lookup_data(hash, &key, &found) < 0)
		return false;
	*value = (uint32_t)(uintptr_t)found;
	return true;
}

static inline int bearers_open(struct bearer_hashes *bearers)
{
	bearers->uplink = bearer_hash_make("uplink");
	bearers->downlink = bearer_hash_make("downlink");
	return bearers->uplink && bearers->downlink ? 0 : -ENOMEM;
}

static inline void bearers_close(struct bearer_hashes *bearers)
{
	rte_hash_free(bearers->uplink);
	rte_hash_free(bearers->downlink);
}

static inline int bearers_add(struct bearer_hashes *bearers, const struct gateway_bearer *bearer)
{
	int err = rte_hash_add_key_data(bearers->uplink, &bearer->uplink, (void *)(uintptr_t)bearer->ue);

	if (err)
		return err;
	err = rte_hash_add_key_data(bearers->downlink, &bearer->ue, (void *)(uintptr_t)bearer->downlink);
	if (err)
		rte_hash_del_key(bearers->uplink, &bearer->uplink);
	return err;
}

static inline int bearers_remove(struct bearer_hashes *bearers, const struct gateway_bearer *bearer)
{
	int first = rte_hash_del_key(bearers->uplink, &bearer->uplink);
	int second = rte_hash_del_key(bearers->downlink, &bearer->ue);

	return first < 0 ? first : second < 0 ? second : 0;
}

#endif
