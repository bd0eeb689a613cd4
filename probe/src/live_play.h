/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of one tap, from the first frame to the stop signal. */
#ifndef CKP_LIVE_PLAY_H
#define CKP_LIVE_PLAY_H

#include "options.h"

#include <signal.h>

/** Plays the ports of the options until *stop. @return the exit code; all else was told */
int ckp_play_ports(const struct ckp_options *options, const volatile sig_atomic_t *stop);

#endif
