/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of one tap, from their first frame to the last batch. */
#ifndef CKP_FILE_PLAY_H
#define CKP_FILE_PLAY_H

#include "options.h"

#include <signal.h>

/** Exit codes of the probe. */
enum { CKP_EXIT_ALL_DONE = 0, CKP_EXIT_NOT_ALL_DONE = 1, CKP_EXIT_WRONG_OPTIONS = 2 };

/** Plays options->files until their end or *stop. @return the exit code; all else was told */
int ckp_play_files(const struct ckp_options *options, const volatile sig_atomic_t *stop);

#endif
