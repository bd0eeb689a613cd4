/* SPDX-License-Identifier: Apache-2.0 */
/* What a probe owes a killed one before it: to publish its balance. And what it leaves for the
 * next. */
#ifndef CKP_SETTLEMENT_H
#define CKP_SETTLEMENT_H

#include "killed_session.h"
#include "options.h"
#include "sink.h"
#include "state_file.h"

struct ckp_settlement {
    struct ckp_state_file *file; /* NULL: there is none */
    const char *path;
    char default_path[160];
    bool is_named; /* by the options */
    bool is_unreadable;
    struct ckp_killed_session killed; /* counters NULL: none was */
};

/** Takes the file that the options name, or that they imply for a port, and reads what it holds. A
 * file that nobody named and that cannot be used is told, and gone without. @return false with one
 * sentence */
bool ckp_settlement_open(struct ckp_settlement *settlement, const struct ckp_options *options,
                         bool is_live, char *why, size_t why_size);

/** Publishes the balance of a killed session by a sink, waits for the answers, for 15 s at most and
 * not once the probe is told to end, and counts and tells how it went. A sink that does not answer
 * in time is no reason not to start: the balance may still come, but nobody has confirmed it.
 * @param counters of this session, to which the sink counts */
void ckp_settlement_publish(struct ckp_settlement *settlement, const struct ckp_options *options,
                            uint32_t partition_count, const struct ckp_sink *sink,
                            struct ckp_counters *counters, const volatile sig_atomic_t *stop);

/** Begins the file anew, for this session. A file that nobody named and that finds no room is told,
 * and gone without. @return false with one sentence */
bool ckp_settlement_begin(struct ckp_settlement *settlement, const struct ckp_session_facts *facts,
                          char *why, size_t why_size);

/** @param is_settled whether the session has told all; else the next start tells of it */
void ckp_settlement_close(struct ckp_settlement *settlement, bool is_settled);

#endif
