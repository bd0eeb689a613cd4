/* SPDX-License-Identifier: Apache-2.0 */
/* The books: every frame has one fate, so the sums must come out even. */
#ifndef CKP_LEDGER_H
#define CKP_LEDGER_H

#include "counters.h"

#include <stdio.h>

struct ckp_ledger {
    const char *probe;
    const char *tap;
    uint64_t session;
    const struct ckp_counters *counters;
};

/** Whether all equations hold; each that does not is told on `complaints`, unless
 * that is NULL. */
bool ckp_ledger_is_balanced(const struct ckp_counters *counters, FILE *complaints);

/** Counters that are not zero, for people. */
void ckp_ledger_print(const struct ckp_ledger *ledger, FILE *out);

/** One JSON object on one line, with all counters. */
void ckp_ledger_print_json(const struct ckp_ledger *ledger, FILE *out);

/** The markdown table of README.md. */
void ckp_ledger_print_counter_table(FILE *out);

#endif
