/* SPDX-License-Identifier: Apache-2.0 */
/* Command line of the link emulator: sets up the path, names the files. */
#ifndef CKP_TESTBED_OPTIONS_H
#define CKP_TESTBED_OPTIONS_H

#include <stdint.h>

#include "path.h"

struct ckp_options {
    const char *namespaces[CKP_NUM_DIRECTIONS]; /* of the host that sends in this direction */
    const char *interface;
    const char *captures[CKP_NUM_TAPS]; /* NULL: this tap is not there */
    const char *truth;
    const char *queue_samples;
    const char *link_samples;
    const char *drops;
    uint32_t snap_bytes;
};

/** Ends the process with status 2 and one sentence if an option is wrong. */
void ckp_options_parse(struct ckp_options *options, struct ckp_path *path, int argc, char **argv);

/** Prints one sentence and ends the process. */
__attribute__((noreturn, format(printf, 2, 3))) void ckp_fail(int status, const char *format, ...);

#endif
