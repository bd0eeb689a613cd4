/* SPDX-License-Identifier: Apache-2.0 */
/* One sentence on standard error, for the person who started the probe. Never for single frames. */
#ifndef CKP_LOG_H
#define CKP_LOG_H

#include <stdio.h>

#define ckp_log(...)                                                                               \
    do {                                                                                           \
        fputs("chokepoint-probe: ", stderr);                                                       \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
    } while (0)

#endif
