/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Reads of network byte order. The caller has checked the bounds. */
#ifndef CKP_OCTETS_H
#define CKP_OCTETS_H

#include <stdint.h>

static inline uint16_t ckp_load_be16(const uint8_t *at)
{
    return (uint16_t)((at[0] << 8) | at[1]);
}

static inline uint32_t ckp_load_be32(const uint8_t *at)
{
    return ((uint32_t)at[0] << 24) | ((uint32_t)at[1] << 16) | ((uint32_t)at[2] << 8) | at[3];
}

static inline uint64_t ckp_load_be64(const uint8_t *at)
{
    return ((uint64_t)ckp_load_be32(at) << 32) | ckp_load_be32(at + 4);
}

#endif
