/* SPDX-License-Identifier: Apache-2.0 */
/* A nanosecond pcap file, collected in memory and written when it is complete: a slow disk never
 * delays a frame. Records are written in time order, whatever the order in which they were added.
 */
#ifndef CKP_TESTBED_CAPTURE_FILE_H
#define CKP_TESTBED_CAPTURE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ckp_capture {
    uint32_t snap_bytes;
    uint64_t num_records;
    uint8_t *bytes;
    size_t num_bytes;
    size_t capacity_bytes;
};

void ckp_capture_open(struct ckp_capture *capture, uint32_t snap_bytes);

bool ckp_capture_is_open(const struct ckp_capture *capture);

/** Adds one frame; `arrival_ns` counts from the Unix epoch. */
void ckp_capture_add(struct ckp_capture *capture, int64_t arrival_ns, const uint8_t *frame,
                     size_t frame_bytes);

/** Writes the file; false with errno set if that failed. */
bool ckp_capture_write(const struct ckp_capture *capture, const char *file_name);

void ckp_capture_free(struct ckp_capture *capture);

#endif
