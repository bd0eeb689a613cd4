/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. The counters of one worker. */
#ifndef CKP_COUNTERS_H
#define CKP_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

enum ckp_counter {
#define CKP_COUNTER(symbol, name, scope, help) CKP_COUNT_##symbol,
#include "counters.def"
#undef CKP_COUNTER
    CKP_COUNTERS
};

struct ckp_counter_info {
    const char *name;
    const char *help;
    bool in_batches; /* depends on the frames alone, so that equal captures give equal bytes */
};

extern const struct ckp_counter_info ckp_counter_info[CKP_COUNTERS];

struct ckp_counters {
    uint64_t value[CKP_COUNTERS];
};

static inline void ckp_count(struct ckp_counters *counters, enum ckp_counter counter, uint64_t n)
{
    counters->value[counter] += n;
}

static inline void ckp_counters_add(struct ckp_counters *sum, const struct ckp_counters *counters)
{
    for (int i = 0; i < CKP_COUNTERS; i++)
        sum->value[i] += counters->value[i];
}

#endif
