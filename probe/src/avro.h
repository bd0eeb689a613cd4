/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Avro's binary primitives, laid by hand. Each function writes at `out`, which must have
 * room, and returns the byte after. */
#ifndef CKP_AVRO_H
#define CKP_AVRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CKP_VARINT_BYTES_MAX   10u
#define CKP_VARINT32_BYTES_MAX 5u

static inline uint8_t *ckp_write_varint(uint8_t *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

/** An Avro int or long. */
static inline uint8_t *ckp_write_zigzag(uint8_t *out, int64_t value)
{
    return ckp_write_varint(out, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

/** The union of null and an int or long. */
static inline uint8_t *ckp_write_optional(uint8_t *out, bool is_there, int64_t value)
{
    out = ckp_write_zigzag(out, is_there ? 1 : 0);
    return is_there ? ckp_write_zigzag(out, value) : out;
}

/** Avro bytes or a string. */
static inline uint8_t *ckp_write_bytes(uint8_t *out, const void *bytes, size_t count)
{
    out = ckp_write_zigzag(out, (int64_t)count);
    memcpy(out, bytes, count);
    return out + count;
}

static inline uint8_t *ckp_write_text(uint8_t *out, const char *text)
{
    return ckp_write_bytes(out, text, strlen(text));
}

static inline uint8_t *ckp_write_le(uint8_t *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        *out++ = (uint8_t)(value >> (8 * i));
    return out;
}

#endif
