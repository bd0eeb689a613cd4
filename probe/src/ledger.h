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
    const struct ckp_counters *const *workers;
    uint32_t worker_count;
};

/** Whether all equations hold for a worker; each that does not is told on `complaints`, unless
 * that is NULL. */
bool ckp_ledger_is_balanced(const struct ckp_counters *counters, FILE *complaints);

/** Whether they hold for all workers. */
bool ckp_ledger_all_balanced(const struct ckp_ledger *ledger, FILE *complaints);

/**
 * Adds to a fate what has none: by how much its whole exceeds the sum of all its parts. A whole
 * that is less, by `slack` at most, is raised to their sum.
 *
 * @return false if it is still less
 */
bool ckp_ledger_give_rest(struct ckp_counters *counters, enum ckp_counter fate, uint64_t slack);

/** Counters that are not zero, summed over workers, for people. */
void ckp_ledger_print(const struct ckp_ledger *ledger, FILE *out);

/** One JSON object on one line, with all counters: their sums and, of several workers, each one's.
 */
void ckp_ledger_print_json(const struct ckp_ledger *ledger, FILE *out);

/** The markdown table of README.md. */
void ckp_ledger_print_counter_table(FILE *out);

#endif
