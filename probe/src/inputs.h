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

/** Opens all captures, of which nothing is read, each failure one sentence on standard error.
 * @return false if there is no memory */
bool ckp_inputs_open(struct ckp_inputs *inputs, const char *const *paths, size_t count);

/** Reads their heads, leaves out those that are no captures, each with a sentence, orders the
 * others by their first frames and tells session and resolution. May wait; ends early if `stop` is
 * set: then nothing else is to be read of them. */
void ckp_inputs_read_heads(struct ckp_inputs *inputs, const char *filter,
                           const volatile sig_atomic_t *stop);
void ckp_inputs_close(struct ckp_inputs *inputs);

#endif
