/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Keys of the Toeplitz hash by which cards spread flows over queues. */
#ifndef CKP_HASH_KEY_H
#define CKP_HASH_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Whether both directions of a flow of TCP get the same hash, over IPv4 and over IPv6: source and
 * destination meet the same bits of the key. Two bytes repeated, such as 6d 5a, are the usual such
 * key, but not the only one.
 *
 * @param bytes of the key; less than the 40 that IPv6 needs are not symmetric
 */
bool ckp_hash_key_is_symmetric(const uint8_t *key, size_t bytes);

#endif
