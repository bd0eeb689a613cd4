/* SPDX-License-Identifier: Apache-2.0 */
/* The captures of one tap, in the order in which they are to be read. */
#ifndef CKP_INPUTS_H
#define CKP_INPUTS_H

#include "capture_file.h"

struct ckp_inputs {
    struct ckp_capture **captures; /* those that could be opened */
    size_t count;
    size_t unreadable;
    uint64_t session;      /* hash of all of them */
    int64_t resolution_ns; /* the coarsest */
};

/** Opens all captures, each failure one sentence on standard error, and orders them by their
 * first frames. @return false if there is no memory */
bool ckp_inputs_open(struct ckp_inputs *inputs, const char *const *paths, size_t count,
                     const char *filter);
void ckp_inputs_close(struct ckp_inputs *inputs);

#endif
