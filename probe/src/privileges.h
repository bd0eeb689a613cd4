/* SPDX-License-Identifier: Apache-2.0 */
/* What a process may do that takes its input from strangers: once all is open, next to nothing. */
#ifndef CKP_PRIVILEGES_H
#define CKP_PRIVILEGES_H

#include "options.h"

/**
 * Whether --user names somebody whom this process may become.
 *
 * @return false with one sentence in options->error
 */
bool ckp_privileges_check(struct ckp_options *options);

/**
 * Gives up root for --user, all capabilities, the right to gain any by executing, and all system
 * calls but those in syscall_filter.c. To be called once all is open, whatever threads there are.
 *
 * @return false with one sentence in `why`
 */
bool ckp_privileges_drop(const struct ckp_options *options, char *why, size_t why_size);

/** For a thread that was there before, of itself: capabilities are each thread's own. @return false
 * if that fails */
bool ckp_privileges_drop_capabilities(void);

#endif
