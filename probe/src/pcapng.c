/* SPDX-License-Identifier: Apache-2.0 */
#include "pcapng.h"

#include <string.h>

enum {
    BLOCK_SECTION = 0x0a0d0d0a,
    BLOCK_INTERFACE = 1,
    BLOCK_ENHANCED_PACKET = 6,
};

enum {
    OPTION_END = 0,
    OPTION_INTERFACE_NAME = 2,
    OPTION_APPLICATION = 4,
    OPTION_TIME_RESOLUTION = 9,
};

#define BYTE_ORDER_MAGIC   0x1a2b3c4du
#define VERSION_MAJOR      1u
#define VERSION_MINOR      0u
#define LENGTH_UNKNOWN     UINT32_MAX
#define NANOSECONDS        9u /* 10^-9 s */
#define FRAME_HEAD_BYTES   28u
#define BLOCK_LENGTH_BYTES 4u

/* Of the registry of link types. */
static const uint16_t link_type[] = {
    [CKP_LINK_ETHERNET] = 1,     [CKP_LINK_RAW_IP] = 101, [CKP_LINK_LINUX_SLL] = 113,
    [CKP_LINK_LINUX_SLL2] = 276, [CKP_LINK_NULL] = 0,
};

static uint8_t *write_u16(uint8_t *out, uint16_t value)
{
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

static uint8_t *write_u32(uint8_t *out, uint32_t value)
{
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

static size_t padding(size_t bytes)
{
    return -bytes & 3u;
}

static uint8_t *write_padded(uint8_t *out, const void *bytes, size_t count)
{
    memcpy(out, bytes, count);
    memset(out + count, 0, padding(count));
    return out + count + padding(count);
}

static uint8_t *write_option(uint8_t *out, uint16_t code, const void *value, size_t bytes)
{
    out = write_u16(out, code);
    out = write_u16(out, (uint16_t)bytes);
    return write_padded(out, value, bytes);
}

static uint8_t *write_text(uint8_t *out, uint16_t code, const char *text)
{
    size_t bytes = strlen(text);

    return write_option(out, code, text, bytes < CKP_PCAPNG_TEXT_MAX ? bytes : CKP_PCAPNG_TEXT_MAX);
}

/* The length of a block stands at both of its ends. */
static uint8_t *end_block(uint8_t *block, uint8_t *out)
{
    uint32_t bytes = (uint32_t)(out - block) + BLOCK_LENGTH_BYTES;

    write_u32(block + sizeof(uint32_t), bytes);
    return write_u32(out, bytes);
}

uint8_t *ckp_pcapng_write_section(uint8_t *out, const char *application)
{
    uint8_t *block = out;

    out = write_u32(out, BLOCK_SECTION);
    out = write_u32(out, 0);
    out = write_u32(out, BYTE_ORDER_MAGIC);
    out = write_u16(out, VERSION_MAJOR);
    out = write_u16(out, VERSION_MINOR);
    out = write_u32(out, LENGTH_UNKNOWN);
    out = write_u32(out, LENGTH_UNKNOWN);
    out = write_text(out, OPTION_APPLICATION, application);
    out = write_u32(out, OPTION_END);
    return end_block(block, out);
}

uint8_t *ckp_pcapng_write_interface(uint8_t *out, enum ckp_link link, uint32_t snap_bytes,
                                    const char *name)
{
    const uint8_t resolution = NANOSECONDS;
    uint8_t *block = out;

    out = write_u32(out, BLOCK_INTERFACE);
    out = write_u32(out, 0);
    out = write_u16(out, link_type[link]);
    out = write_u16(out, 0);
    out = write_u32(out, snap_bytes);
    out = write_text(out, OPTION_INTERFACE_NAME, name);
    out = write_option(out, OPTION_TIME_RESOLUTION, &resolution, sizeof resolution);
    out = write_u32(out, OPTION_END);
    return end_block(block, out);
}

size_t ckp_pcapng_frame_bytes(const struct ckp_ring_frame *frame)
{
    return FRAME_HEAD_BYTES + frame->captured_bytes + padding(frame->captured_bytes) +
           BLOCK_LENGTH_BYTES;
}

static uint32_t read_u32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

size_t ckp_pcapng_block_bytes(const uint8_t *block)
{
    return read_u32(block + 4);
}

int64_t ckp_pcapng_block_time_ns(const uint8_t *block)
{
    return (int64_t)((uint64_t)read_u32(block + 12) << 32 | read_u32(block + 16));
}

uint8_t *ckp_pcapng_write_frame(uint8_t *out, uint32_t interface,
                                const struct ckp_ring_frame *frame)
{
    uint8_t *block = out;

    out = write_u32(out, BLOCK_ENHANCED_PACKET);
    out = write_u32(out, 0);
    out = write_u32(out, interface);
    out = write_u32(out, (uint32_t)((uint64_t)frame->time_ns >> 32));
    out = write_u32(out, (uint32_t)frame->time_ns);
    out = write_u32(out, frame->captured_bytes);
    out = write_u32(out, frame->original_bytes);
    out = write_padded(out, frame->bytes, frame->captured_bytes);
    return end_block(block, out);
}
