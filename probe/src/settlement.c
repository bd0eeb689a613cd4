/* SPDX-License-Identifier: Apache-2.0 */
#include "settlement.h"

#include "clock.h"
#include "ledger.h"
#include "log.h"
#include "schema_text.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define CLAUSE_BYTES_MAX 128
#define POLL_US          2000

/* Longer than Kafka takes to do without a broker (broker.session.timeout.ms is 9 s), and no more,
 * for meanwhile ports fill up. */
#define ANSWER_NS (15 * CKP_NANOS_PER_SECOND)

static const char *topic_of(const struct ckp_options *options)
{
    return ckp_option_text(options, CKP_OPTION_KAFKA) ? ckp_option_text(options, CKP_OPTION_TOPIC)
                                                      : "";
}

/* Readable, and different for all taps and topics. */
static const char *name_by_default(struct ckp_settlement *settlement,
                                   const struct ckp_options *options)
{
    const char *tap = ckp_option_text(options, CKP_OPTION_TAP);
    char readable[64];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t bytes = 0;

    for (const char *c = tap; *c; c++) {
        bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                        (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';
        if (bytes < sizeof readable - 1)
            readable[bytes++] = is_plain ? *c : '_';
        hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    }
    readable[bytes] = '\0';
    hash *= UINT64_C(0x100000001b3); /* between the two */
    for (const char *c = topic_of(options); *c; c++)
        hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    snprintf(settlement->default_path, sizeof settlement->default_path,
             "/dev/shm/chokepoint-probe-%s-%016" PRIx64, readable, hash);
    return settlement->default_path;
}

static void tell_without(const struct ckp_settlement *settlement, const char *problem,
                         const char *clause)
{
    ckp_log("state file %s %s%s; should this probe be killed, nobody will know what it had "
            "received",
            settlement->path, problem, clause);
}

bool ckp_settlement_open(struct ckp_settlement *settlement, const struct ckp_options *options,
                         bool is_live, char *why, size_t why_size)
{
    const char *given = ckp_option_text(options, CKP_OPTION_STATE_FILE);
    char clause[CLAUSE_BYTES_MAX];

    *settlement = (struct ckp_settlement){.path = given, .is_named = given != NULL};
    if (!is_live || (!given && !ckp_option_text(options, CKP_OPTION_KAFKA)))
        return true;
    if (!given)
        settlement->path = name_by_default(settlement, options);
    settlement->file = ckp_state_file_open(settlement->path, clause, sizeof clause);
    if (!settlement->file && given) {
        snprintf(why, why_size, "state file %s cannot be used: %s", given, clause);
        return false;
    }
    if (!settlement->file) {
        tell_without(settlement, "cannot be used: ", clause);
        return true;
    }
    if (ckp_state_file_read(settlement->file, &settlement->killed, clause, sizeof clause) !=
        CKP_STATE_UNREADABLE)
        return true;
    settlement->is_unreadable = true;
    ckp_log("state file %s %s: what the probe that left it had received and not delivered is not "
            "known",
            settlement->path, clause);
    return true;
}

/* Batches of the killed session that this one hands to its sink. */
struct teller {
    const struct ckp_sink *sink;
    struct ckp_counters *counters;
};

static void deliver(void *self, const struct ckp_batch *batch)
{
    struct teller *teller = self;

    ckp_count(teller->counters, CKP_COUNT_BATCHES_ENCODED, 1);
    ckp_count(teller->counters, CKP_COUNT_BALANCES_ENCODED, 1); /* in no total of this session */
    teller->sink->deliver(teller->sink->self, batch);
}

static bool is_answered(const struct ckp_counters *counters)
{
    return counters->value[CKP_COUNT_BATCHES_DELIVERED] +
               counters->value[CKP_COUNT_BATCHES_UNDELIVERED] ==
           counters->value[CKP_COUNT_BATCHES_ENCODED];
}

static const char *tell(struct ckp_killed_session *killed, const struct teller *teller,
                        const volatile sig_atomic_t *stop)
{
    int64_t deadline_ns = ckp_clock_monotonic_ns() + ANSWER_NS;
    struct teller self = *teller;

    if (!ckp_killed_session_tell(killed, CKP_SCHEMA_FINGERPRINT, deliver, &self))
        return "is not published: there is no memory";
    while (!is_answered(self.counters) && !*stop && ckp_clock_monotonic_ns() < deadline_ns) {
        self.sink->tend(self.sink->self);
        usleep(POLL_US);
    }
    return self.counters->value[CKP_COUNT_BATCHES_DELIVERED] ==
                   self.counters->value[CKP_COUNT_BATCHES_ENCODED]
               ? NULL
               : "is not confirmed by the output";
}

static const char *settle(struct ckp_killed_session *killed, const struct ckp_options *options,
                          uint32_t partition_count, const struct teller *teller,
                          const volatile sig_atomic_t *stop)
{
    if (strcmp(killed->facts.topic, topic_of(options)) != 0 ||
        killed->facts.partition_count != partition_count)
        return "is not published: it was of another topic";
    if (!ckp_killed_session_close_books(killed))
        return "is not published: its numbers do not go together";
    return tell(killed, teller, stop);
}

static uint64_t sum(const struct ckp_killed_session *killed, enum ckp_counter counter)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < killed->facts.worker_count; i++)
        total += killed->counters[i].value[counter];
    return total;
}

void ckp_settlement_publish(struct ckp_settlement *settlement, const struct ckp_options *options,
                            uint32_t partition_count, const struct ckp_sink *sink,
                            struct ckp_counters *counters, const volatile sig_atomic_t *stop)
{
    struct ckp_killed_session *killed = &settlement->killed;
    const struct teller teller = {sink, counters};

    if (settlement->is_unreadable)
        ckp_count(counters, CKP_COUNT_SESSIONS_UNSETTLED, 1);
    if (!killed->counters)
        return;
    if (sum(killed, CKP_COUNT_FRAMES_RECEIVED) + sum(killed, CKP_COUNT_BATCHES_ENCODED) == 0) {
        ckp_killed_session_free(killed); /* it had not come so far */
        return;
    }
    const char *reason = settle(killed, options, partition_count, &teller, stop);
    ckp_count(counters, reason ? CKP_COUNT_SESSIONS_UNSETTLED : CKP_COUNT_SESSIONS_SETTLED, 1);
    if (reason)
        ckp_log("the balance of session %016" PRIx64 " of tap %s, which had no good end, %s",
                killed->facts.session, killed->facts.tap, reason);
    else
        ckp_log("session %016" PRIx64 " of tap %s had no good end: %" PRIu64 " frames of %" PRIu64
                " were not yet written, and of %" PRIu64 " packets it is not known whether they "
                "were delivered; its balance is published",
                killed->facts.session, killed->facts.tap,
                sum(killed, CKP_COUNT_FRAMES_LOST_WHEN_KILLED),
                sum(killed, CKP_COUNT_FRAMES_RECEIVED),
                sum(killed, CKP_COUNT_PACKETS_UNDELIVERED_IN_DOUBT));
    ckp_killed_session_free(killed);
}

bool ckp_settlement_begin(struct ckp_settlement *settlement, const struct ckp_session_facts *facts,
                          char *why, size_t why_size)
{
    char clause[CLAUSE_BYTES_MAX];

    if (!settlement->file || ckp_state_file_begin(settlement->file, facts, clause, sizeof clause))
        return true;
    if (!settlement->is_named) {
        tell_without(settlement, "", clause);
        return true;
    }
    snprintf(why, why_size, "state file %s %s", settlement->path, clause);
    return false;
}

void ckp_settlement_close(struct ckp_settlement *settlement, bool is_settled)
{
    if (settlement->file && is_settled)
        ckp_state_file_settle(settlement->file);
    ckp_state_file_close(settlement->file);
    settlement->file = NULL;
    ckp_killed_session_free(&settlement->killed);
}
