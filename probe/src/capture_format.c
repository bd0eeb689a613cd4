/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_format.h"

#include "segment.h"

#include <string.h>

/* Section header and first interface, with their options, fit in here or are not looked at. */
#define PEEK_BYTES_MAX 4096u

#define PCAP_MAGIC_US         0xa1b2c3d4u
#define PCAP_MAGIC_NS         0xa1b23c4du
#define PCAP_MAGIC_MODIFIED   0xa1b2cd34u /* with more fields a frame; µs */
#define PCAPNG_SECTION        0x0a0d0d0au
#define PCAPNG_BYTE_ORDER     0x1a2b3c4du
#define PCAPNG_INTERFACE      1u
#define PCAPNG_OPTION_END     0u
#define PCAPNG_OPTION_TSRESOL 9u
#define RESOLUTION_US_NS      INT64_C(1000)

struct peek {
    FILE *stream;
    uint8_t bytes[PEEK_BYTES_MAX];
    size_t count;
    bool is_swapped;
};

/* Sees to it that `count` bytes are there. Never reads more: a pipe may have no more yet. */
static bool fetch(struct peek *peek, size_t count)
{
    if (count > PEEK_BYTES_MAX)
        return false;
    if (count > peek->count)
        peek->count += fread(peek->bytes + peek->count, 1, count - peek->count, peek->stream);
    return count <= peek->count;
}

static void put_back(struct peek *peek)
{
    clearerr(peek->stream); /* the end of a short file comes again */
    while (peek->count > 0)
        ungetc(peek->bytes[--peek->count], peek->stream);
}

static uint32_t load_32(const struct peek *peek, size_t at)
{
    uint32_t value;

    memcpy(&value, peek->bytes + at, sizeof value);
    return peek->is_swapped ? __builtin_bswap32(value) : value;
}

static uint16_t load_16(const struct peek *peek, size_t at)
{
    uint16_t value;

    memcpy(&value, peek->bytes + at, sizeof value);
    return peek->is_swapped ? __builtin_bswap16(value) : value;
}

/* if_tsresol: a negative power of 10, or of 2 if the highest bit is set. */
static int64_t resolution_of(uint8_t exponent)
{
    int64_t resolution_ns = CKP_NANOS_PER_SECOND;
    int64_t base = exponent & 0x80 ? 2 : 10;

    for (int i = exponent & 0x7f; i > 0 && resolution_ns > 1; i--)
        resolution_ns /= base;
    return resolution_ns;
}

/* Looks for if_tsresol in the interface block at `at`. */
static int64_t interface_resolution_ns(const struct peek *peek, size_t at, size_t end)
{
    at += 16; /* type, length, link type, snap length */
    while (at + 4 <= end && load_16(peek, at) != PCAPNG_OPTION_END) {
        uint16_t bytes = load_16(peek, at + 2);
        if (load_16(peek, at) == PCAPNG_OPTION_TSRESOL && bytes == 1 && at + 4 < end)
            return resolution_of(peek->bytes[at + 4]);
        at += 4 + (size_t)((bytes + 3u) & ~3u);
    }
    return RESOLUTION_US_NS;
}

/* The first interface's resolution: libpcap itself needs that block before any frame. */
static int64_t pcapng_resolution_ns(struct peek *peek)
{
    if (!fetch(peek, 12))
        return RESOLUTION_US_NS;
    peek->is_swapped = load_32(peek, 8) != PCAPNG_BYTE_ORDER;

    size_t at = load_32(peek, 4);
    while (fetch(peek, at + 8)) {
        size_t bytes = load_32(peek, at + 4);
        if (bytes < 12 || bytes > PEEK_BYTES_MAX)
            break;
        if (load_32(peek, at) == PCAPNG_INTERFACE)
            return fetch(peek, at + bytes) ? interface_resolution_ns(peek, at, at + bytes - 4)
                                           : RESOLUTION_US_NS;
        at += bytes;
    }
    return RESOLUTION_US_NS;
}

/* The older format, in either byte order, tells the resolution by its magic number. */
static enum ckp_capture_format recognise_pcap(uint32_t magic, int64_t *resolution_ns)
{
    switch (magic) {
    case PCAP_MAGIC_NS:
        *resolution_ns = 1;
        return CKP_FORMAT_PCAP;
    case PCAP_MAGIC_US:
    case PCAP_MAGIC_MODIFIED:
        *resolution_ns = RESOLUTION_US_NS;
        return CKP_FORMAT_PCAP;
    default:
        return CKP_FORMAT_UNKNOWN;
    }
}

static enum ckp_capture_format recognise(struct peek *peek, int64_t *resolution_ns)
{
    if (!fetch(peek, 4))
        return peek->count == 0 ? CKP_FORMAT_EMPTY : CKP_FORMAT_UNKNOWN;
    if (peek->bytes[0] == 0x1f && peek->bytes[1] == 0x8b)
        return CKP_FORMAT_GZIP;
    if (memcmp(peek->bytes, "\x28\xb5\x2f\xfd", 4) == 0)
        return CKP_FORMAT_ZSTD;

    uint32_t magic = load_32(peek, 0);
    if (magic == PCAPNG_SECTION) {
        *resolution_ns = pcapng_resolution_ns(peek);
        return CKP_FORMAT_PCAPNG;
    }
    enum ckp_capture_format format = recognise_pcap(magic, resolution_ns);
    return format == CKP_FORMAT_PCAP ? format
                                     : recognise_pcap(__builtin_bswap32(magic), resolution_ns);
}

enum ckp_capture_format ckp_capture_format_peek(FILE *stream, int64_t *resolution_ns)
{
    struct peek peek = {.stream = stream};
    enum ckp_capture_format format = recognise(&peek, resolution_ns);

    put_back(&peek);
    return format;
}
