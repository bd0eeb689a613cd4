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

bool ckp_capture_is_open(const struct ckp_capture *capture)
{
    return capture->bytes != NULL;
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

/** By time; of equal ones the first added comes first. */
static int compare_records(const void *one, const void *other)
{
    const uint8_t *left = *(const uint8_t *const *)one, *right = *(const uint8_t *const *)other;
    struct record_header a, b;

    memcpy(&a, left, sizeof(a));
    memcpy(&b, right, sizeof(b));
    if (a.seconds != b.seconds)
        return a.seconds < b.seconds ? -1 : 1;
    if (a.nanos != b.nanos)
        return a.nanos < b.nanos ? -1 : 1;
    return left < right ? -1 : 1;
}

static size_t record_bytes(const uint8_t *record)
{
    struct record_header header;

    memcpy(&header, record, sizeof(header));
    return sizeof(header) + header.captured_bytes;
}

static const uint8_t **sorted_records(const struct ckp_capture *capture)
{
    const uint8_t **records = malloc((capture->num_records + 1) * sizeof(*records));
    const uint8_t *record = capture->bytes + sizeof(struct file_header);

    if (!records)
        abort();
    for (uint64_t i = 0; i < capture->num_records; record += record_bytes(record), i++)
        records[i] = record;
    qsort(records, capture->num_records, sizeof(*records), compare_records);
    return records;
}

bool ckp_capture_write(const struct ckp_capture *capture, const char *file_name)
{
    FILE *file = fopen(file_name, "wb");

    if (!file)
        return false;
    const uint8_t **records = sorted_records(capture);
    bool written = fwrite(capture->bytes, sizeof(struct file_header), 1, file) == 1;
    for (uint64_t i = 0; written && i < capture->num_records; i++)
        written = fwrite(records[i], record_bytes(records[i]), 1, file) == 1;
    free(records);
    return fclose(file) == 0 && written;
}

void ckp_capture_free(struct ckp_capture *capture)
{
    free(capture->bytes);
    *capture = (struct ckp_capture){0};
}
