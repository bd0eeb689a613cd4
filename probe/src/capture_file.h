/* SPDX-License-Identifier: Apache-2.0 */
/* Capture files and pipes, read through libpcap. */
#ifndef CKP_CAPTURE_FILE_H
#define CKP_CAPTURE_FILE_H

#include "decode.h"
#include "pipe_stream.h"

#include <signal.h>

enum ckp_capture_status {
    CKP_CAPTURE_FRAME,
    CKP_CAPTURE_FILTERED, /* a frame that the filter leaves out */
    CKP_CAPTURE_END,
    CKP_CAPTURE_CUT_OFF, /* the capture ends in the middle of a frame */
    CKP_CAPTURE_FAILED,
};

struct ckp_capture;

/**
 * Opens a capture, of which nothing is read; "-" is standard input.
 *
 * @return NULL with one sentence in `why`
 */
struct ckp_capture *ckp_capture_open(const char *path, char *why, size_t why_size);

/**
 * Reads its head, without which nothing else can be asked of it. May wait for that.
 *
 * @param filter libpcap expression, NULL for none
 * @return false with one sentence in `why`
 */
bool ckp_capture_read_head(struct ckp_capture *capture, const char *filter, char *why,
                           size_t why_size);
void ckp_capture_close(struct ckp_capture *capture);

const char *ckp_capture_name(const struct ckp_capture *capture);
enum ckp_link ckp_capture_link(const struct ckp_capture *capture);

/** Smallest step of the time stamps, as the file's header tells. */
int64_t ckp_capture_resolution_ns(const struct ckp_capture *capture);

/** Time of the first frame without consuming it; INT64_MAX if there is none. May wait for it. */
int64_t ckp_capture_first_time_ns(struct ckp_capture *capture);

/**
 * Hash of the content; of a pipe, of its first frame's time and bytes.
 *
 * @return false if it could not be read, or `stop` was set meanwhile
 */
bool ckp_capture_hash(struct ckp_capture *capture, const volatile sig_atomic_t *stop,
                      uint64_t *hash);

/** Has `before_wait` called whenever the next frame may be long in coming: a pipe's. If it ends
 * reading the capture has failed. */
void ckp_capture_before_wait(struct ckp_capture *capture, ckp_before_wait_fn *before_wait,
                             void *self);

/** Reads the next frame, whose bytes are valid until the next call. */
enum ckp_capture_status ckp_capture_next(struct ckp_capture *capture, struct ckp_frame *frame);

/** One sentence after CKP_CAPTURE_FAILED. */
const char *ckp_capture_error(const struct ckp_capture *capture);

#endif
