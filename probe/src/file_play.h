/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of one tap, from their first frame to the last batch. */
#ifndef CKP_FILE_PLAY_H
#define CKP_FILE_PLAY_H

#include "options.h"

#include <signal.h>

/** Plays options->files until their end or *stop. @return the exit code; all else was told */
int ckp_play_files(const struct ckp_options *options, const volatile sig_atomic_t *stop);

#endif
