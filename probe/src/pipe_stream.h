/* SPDX-License-Identifier: Apache-2.0 */
/* A pipe as a stdio stream that tells before it waits. libpcap reads frames by fread(), which says
 * nothing while a live capture is silent. */
#ifndef CKP_PIPE_STREAM_H
#define CKP_PIPE_STREAM_H

#include <stdint.h>
#include <stdio.h>

/**
 * Called when all that was read is used up, before more is waited for.
 *
 * @return how long to wait before it is called again, in ns; 0 ends reading with an error
 */
typedef int64_t ckp_before_wait_fn(void *self);

struct ckp_pipe {
    int descriptor;
    ckp_before_wait_fn *before_wait; /* may be set at any time; NULL: waits as long as it takes */
    void *self;
};

/** The stream owns the descriptor, and `pipe` must outlive it. @return NULL with errno */
FILE *ckp_pipe_stream_open(struct ckp_pipe *pipe);

#endif
