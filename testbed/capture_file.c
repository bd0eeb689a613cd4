/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

#define PCAP_MAGIC_NANOS 0xa1b23c4dU
#define PCAP_VERSION_MAJOR 2
#define PCAP_VERSION_MINOR 4
#define PCAP_LINK_ETHERNET 1
#define INITIAL_CAPACITY_BYTES ((size_t)4 << 20)

struct file_header {
    uint32_t magic;
    uint16_t version_major;
    uint16_t version_minor;
    uint32_t zone;
    uint32_t accuracy;
    uint32_t snap_bytes;
    uint32_t link_type;
};

struct record_header {
    uint32_t seconds;
    uint32_t nanos;
    uint32_t captured_bytes;
    uint32_t frame_bytes;
};

static void append(struct ckp_capture *capture, const void *bytes, size_t num_bytes)
{
    if (capture->num_bytes + num_bytes > capture->capacity_bytes) {
        capture->capacity_bytes =
            capture->capacity_bytes ? 2 * capture->capacity_bytes : INITIAL_CAPACITY_BYTES;
        capture->bytes = realloc(capture->bytes, capture->capacity_bytes);
        if (!capture->bytes)
            abort();
    }
    memcpy(capture->bytes + capture->num_bytes, bytes, num_bytes);
    capture->num_bytes += num_bytes;
}

void ckp_capture_open(struct ckp_capture *capture, uint32_t snap_bytes)
{
    struct file_header header = {
        .magic = PCAP_MAGIC_NANOS,
        .version_major = PCAP_VERSION_MAJOR,
        .version_minor = PCAP_VERSION_MINOR,
        .snap_bytes = snap_bytes,
        .link_type = PCAP_LINK_ETHERNET,
    };

    *capture = (struct ckp_capture){.snap_bytes = snap_bytes};
    append(capture, &header, sizeof(header));
}

void ckp_capture_add(struct ckp_capture *capture, int64_t arrival_ns, const uint8_t *frame,
                     size_t frame_bytes)
{
    size_t captured = frame_bytes < capture->snap_bytes ? frame_bytes : capture->snap_bytes;
    struct record_header header = {
        .seconds = (uint32_t)(arrival_ns / NANOS_PER_SECOND),
        .nanos = (uint32_t)(arrival_ns % NANOS_PER_SECOND),
        .captured_bytes = (uint32_t)captured,
        .frame_bytes = (uint32_t)frame_bytes,
    };

    append(capture, &header, sizeof(header));
    append(capture, frame, captured);
    capture->num_records++;
}

bool ckp_capture_write(const struct ckp_capture *capture, const char *file_name)
{
    FILE *file = fopen(file_name, "wb");

    if (!file)
        return false;
    bool written = fwrite(capture->bytes, 1, capture->num_bytes, file) == capture->num_bytes;
    return fclose(file) == 0 && written;
}

void ckp_capture_free(struct ckp_capture *capture)
{
    free(capture->bytes);
    *capture = (struct ckp_capture){0};
}
