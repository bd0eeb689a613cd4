/* SPDX-License-Identifier: Apache-2.0 */
#include "vitals.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct ckp_vitals_reading) % sizeof(uint64_t) == 0, "whole words");
_Static_assert(sizeof(struct ckp_tap_reading) % sizeof(uint64_t) == 0, "whole words");

/* A sequence lock with one writer. The fence keeps the words behind the odd number, and the release
 * before the even one; see read_words(). */
static void write_words(_Atomic uint32_t *lock, _Atomic uint64_t *to, const void *from,
                        size_t count)
{
    const uint64_t *words = from;
    uint32_t sequence = atomic_load_explicit(lock, memory_order_relaxed);

    atomic_store_explicit(lock, sequence + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit(&to[i], words[i], memory_order_relaxed);
    atomic_store_explicit(lock, sequence + 2, memory_order_release);
}

/* The acquire and the fence pair with those in write_words(): words of two writings are seen by the
 * number that has changed. */
static void read_words(const _Atomic uint32_t *lock, const _Atomic uint64_t *from, void *to,
                       size_t count)
{
    uint64_t *words = to;
    uint32_t before, after;

    do {
        before = atomic_load_explicit(lock, memory_order_acquire);
        for (size_t i = 0; i < count; i++)
            words[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(lock, memory_order_relaxed);
    } while (before != after || before % 2 != 0);
}

void ckp_tap_vitals_publish(struct ckp_tap_vitals *vitals, const struct ckp_tap_reading *reading)
{
    write_words(&vitals->sequence, vitals->word, reading, CKP_TAP_WORDS);
}

void ckp_tap_vitals_read(const struct ckp_tap_vitals *vitals, struct ckp_tap_reading *reading)
{
    read_words(&vitals->sequence, vitals->word, reading, CKP_TAP_WORDS);
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
    write_words(&vitals->sequence, vitals->word, newest, CKP_VITALS_WORDS);
}

void ckp_vitals_note_stamps(struct ckp_vitals *vitals, int64_t step_ns)
{
    vitals->newest.stamp_step_ns = step_ns;
}

void ckp_vitals_set_stage(struct ckp_vitals *vitals, enum ckp_stage stage)
{
    atomic_store_explicit(&vitals->stage, stage, memory_order_relaxed);
}

void ckp_vitals_put_statistics(struct ckp_vitals *vitals, char *text)
{
    free(atomic_exchange_explicit(&vitals->statistics, text, memory_order_acq_rel));
}

struct ckp_vitals_reading ckp_vitals_read(const struct ckp_vitals *vitals)
{
    struct ckp_vitals_reading reading;

    read_words(&vitals->sequence, vitals->word, &reading, CKP_VITALS_WORDS);
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
