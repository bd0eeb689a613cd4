/* SPDX-License-Identifier: Apache-2.0 */
/* --check: whether what the options describe would work. Nothing is watched and nothing published.
 */
#ifndef CKP_CHECK_H
#define CKP_CHECK_H

#include "facts.h"
#include "options.h"

#include <signal.h>

/** Looks, and tells on standard output. @return the exit code: 0 if nothing has failed */
int ckp_check(const struct ckp_options *options, const volatile sig_atomic_t *stop);

/**
 * Opens the ports and fills in what their drivers say, or why they do not open. The program without
 * DPDK starts the one with it, which begins anew: then this returns only if that fails.
 */
void ckp_check_ports(struct ckp_facts *facts, const struct ckp_options *options);

#endif
