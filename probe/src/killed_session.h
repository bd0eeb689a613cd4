/* SPDX-License-Identifier: Apache-2.0 */
/* A session that ended without a word: what it had counted, closed as books, and told by batches of
 * its own. */
#ifndef CKP_KILLED_SESSION_H
#define CKP_KILLED_SESSION_H

#include "batch.h"

/** What batches of a session have in common. */
struct ckp_session_facts {
    char probe[CKP_NAME_BYTES_MAX + 1];
    char tap[CKP_NAME_BYTES_MAX + 1];
    char topic[CKP_NAME_BYTES_MAX + 1]; /* empty: a stream */
    uint64_t session;
    uint64_t hash_seed;
    int64_t timestamp_resolution_ns;
    uint32_t timestamp_source;
    uint32_t worker_count;
    uint32_t partition_count;
};

struct ckp_killed_session {
    struct ckp_session_facts facts;
    struct ckp_counters *counters;       /* of each worker */
    struct ckp_partition_totals *totals; /* of each worker all partitions */
};

void ckp_killed_session_free(struct ckp_killed_session *killed);

/**
 * Gives each item without a fate that of a killed probe, so that the books of every worker balance:
 * frames received and not written are lost, batches of which no answer was counted are in doubt,
 * flows have ended. A batch that was still open counts as one.
 *
 * @return false if the numbers are none that a probe could have left; then they mean nothing
 */
bool ckp_killed_session_close_books(struct ckp_killed_session *killed);

/**
 * Delivers an empty batch in the name of the session for each partition that it wrote to: its
 * number and its packets before tell a reader which batches and packets it never got, its counters
 * what became of the rest.
 *
 * @return false if there is no memory
 */
bool ckp_killed_session_tell(struct ckp_killed_session *killed, uint64_t schema_fingerprint,
                             ckp_deliver_fn *deliver, void *sink);

#endif
