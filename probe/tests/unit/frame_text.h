/* SPDX-License-Identifier: Apache-2.0 */
/* Frames as hexadecimal text, layer by layer; spaces are for the eye. Two lengths are filled in:
 * LLLL is that of an IPv4 packet which ends where the frame ends, PPPP that of the payload of an
 * IPv6 packet which does. */
#ifndef CKP_FRAME_TEXT_H
#define CKP_FRAME_TEXT_H

#include "decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FRAME_BYTES_MAX 4096

/* to 02:00:00:00:00:02 from 02:00:00:00:00:01 */
#define MACS          "020000000002 020000000001 "
#define ETHERNET_IPV4 MACS "0800 "
#define ETHERNET_IPV6 MACS "86dd "
/* 10.0.0.1 > 10.0.0.2, TTL 64, DSCP 46 ECN 1, ID 0x1234, don't fragment; total length is given */
#define IPV4(total) "45b9 " total " 1234 4000 4006 0000 0a000001 0a000002 "
/* 2001:db8::1 > 2001:db8::2, hop limit 57, class 0xb9; payload length and next header are given */
#define IPV6(payload, next)                                                                        \
    "6b900000 " payload next " 39 20010db8000000000000000000000001 "                               \
    "20010db8000000000000000000000002 "
/* 40000 > 443, seq 1000, ack 2000, ACK PSH, window 502; data offset in the upper half byte */
#define TCP(offset) "9c40 01bb 000003e8 000007d0 " offset "0 18 01f6 0000 0000 "
#define TCP_PLAIN   TCP("5")

static inline uint8_t nibble(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static inline void fill_length(uint8_t *bytes, size_t at, size_t length)
{
    bytes[at] = (uint8_t)(length >> 8);
    bytes[at + 1] = (uint8_t)length;
}

/* Copies the bytes to memory of exactly their size, so that a sanitizer sees a read beyond. */
static inline uint8_t *copy_exactly(const uint8_t *bytes, size_t count)
{
    uint8_t *copy = malloc(count ? count : 1);

    assert_non_null(copy);
    memcpy(copy, bytes, count);
    return copy;
}

/* To be freed. */
static inline uint8_t *parse_hex(const char *text, size_t *count)
{
    static uint8_t bytes[FRAME_BYTES_MAX];
    size_t ipv4_at[16], ipv6_at[16], ipv4_count = 0, ipv6_count = 0;

    *count = 0;
    for (; *text; text++) {
        if (*text == ' ')
            continue;
        if (strncmp(text, "LLLL", 4) == 0)
            ipv4_at[ipv4_count++] = *count;
        if (strncmp(text, "PPPP", 4) == 0)
            ipv6_at[ipv6_count++] = *count;
        bytes[(*count)++] = (uint8_t)(nibble(text[0]) << 4 | nibble(text[1]));
        text++;
    }
    for (size_t i = 0; i < ipv4_count; i++)
        fill_length(bytes, ipv4_at[i], *count - (ipv4_at[i] - 2));
    for (size_t i = 0; i < ipv6_count; i++)
        fill_length(bytes, ipv6_at[i], *count - (ipv6_at[i] + 36));
    return copy_exactly(bytes, *count);
}

#endif
