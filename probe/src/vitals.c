/* SPDX-License-Identifier: Apache-2.0 */
#include "vitals.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct ckp_vitals_reading) % sizeof(uint64_t) == 0, "whole words");

/* A sequence lock with one writer. The fence keeps the words behind the odd number, and the release
 * before the even one; see ckp_vitals_read(). */
static void write_words(struct ckp_vitals *vitals)
{
    uint64_t words[CKP_VITALS_WORDS];
    uint32_t sequence = atomic_load_explicit(&vitals->sequence, memory_order_relaxed);

    memcpy(words, &vitals->newest, sizeof words);
    atomic_store_explicit(&vitals->sequence, sequence + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (size_t i = 0; i < CKP_VITALS_WORDS; i++)
        atomic_store_explicit(&vitals->word[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&vitals->sequence, sequence + 2, memory_order_release);
}

void ckp_vitals_publish(struct ckp_vitals *vitals, const struct ckp_counters *counters,
                        int64_t now_ns, int64_t silent_ns)
{
    struct ckp_vitals_reading *newest = &vitals->newest;

    if (counters->value[CKP_COUNT_FRAMES_RECEIVED] != newest->counter[CKP_COUNT_FRAMES_RECEIVED])
        newest->frame_ns = now_ns;
    newest->turned_ns = now_ns;
    newest->silent_ns = silent_ns;
    memcpy(newest->counter, counters->value, sizeof newest->counter);
    write_words(vitals);
}

void ckp_vitals_set_stage(struct ckp_vitals *vitals, enum ckp_stage stage)
{
    atomic_store_explicit(&vitals->stage, stage, memory_order_relaxed);
}

void ckp_vitals_put_statistics(struct ckp_vitals *vitals, char *text)
{
    free(atomic_exchange_explicit(&vitals->statistics, text, memory_order_acq_rel));
}

/* The acquire and the fence pair with those in write_words(): words of two writings are seen by the
 * number that has changed. */
struct ckp_vitals_reading ckp_vitals_read(const struct ckp_vitals *vitals)
{
    struct ckp_vitals_reading reading;
    uint64_t words[CKP_VITALS_WORDS];
    uint32_t before, after;

    do {
        before = atomic_load_explicit(&vitals->sequence, memory_order_acquire);
        for (size_t i = 0; i < CKP_VITALS_WORDS; i++)
            words[i] = atomic_load_explicit(&vitals->word[i], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&vitals->sequence, memory_order_relaxed);
    } while (before != after || before % 2 != 0);
    memcpy(&reading, words, sizeof reading);
    return reading;
}

enum ckp_stage ckp_vitals_stage(const struct ckp_vitals *vitals)
{
    return atomic_load_explicit(&vitals->stage, memory_order_relaxed);
}

char *ckp_vitals_take_statistics(struct ckp_vitals *vitals)
{
    return atomic_exchange_explicit(&vitals->statistics, NULL, memory_order_acq_rel);
}
