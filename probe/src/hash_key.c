/* SPDX-License-Identifier: Apache-2.0 */
#include "hash_key.h"

#define KEY_BYTES_MIN 40u
#define WINDOW_BITS   32u /* of the key, which one bit of the input meets */

static unsigned bit(const uint8_t *key, size_t at)
{
    return (unsigned)key[at / 8] >> (7 - at % 8) & 1u;
}

/* Whether a field of the input and the one behind it meet the same bits. */
static bool is_periodic(const uint8_t *key, size_t from, size_t field_bits)
{
    for (size_t at = from; at < from + field_bits + WINDOW_BITS - 1; at++)
        if (bit(key, at) != bit(key, at + field_bits))
            return false;
    return true;
}

bool ckp_hash_key_is_symmetric(const uint8_t *key, size_t bytes)
{
    /* The input is: addresses of 32 or 128 bits, then ports of 16. */
    return bytes >= KEY_BYTES_MIN && is_periodic(key, 0, 32) && is_periodic(key, 64, 16) &&
           is_periodic(key, 0, 128) && is_periodic(key, 256, 16);
}
