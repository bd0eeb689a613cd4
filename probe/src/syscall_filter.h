/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls that a running probe may make. */
#ifndef CKP_SYSCALL_FILTER_H
#define CKP_SYSCALL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/**
 * For all threads, and for good. Another call ends the process by SIGSYS, after a sentence if the
 * thread takes signals; some that libraries try and can do without fail with EPERM.
 *
 * @return false with one sentence in `why`
 */
bool ckp_syscall_filter_load(char *why, size_t why_size);

#endif
