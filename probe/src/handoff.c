/* SPDX-License-Identifier: Apache-2.0 */
#include "handoff.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((CKP_HANDOFF_PACKETS & (CKP_HANDOFF_PACKETS - 1)) == 0,
               "counters that wrap around want a power of 2");

bool ckp_handoff_init(struct ckp_handoff *handoff)
{
    memset(handoff, 0, sizeof *handoff);
    handoff->packets = malloc(CKP_HANDOFF_PACKETS * sizeof *handoff->packets);
    return handoff->packets != NULL;
}

void ckp_handoff_free(struct ckp_handoff *handoff)
{
    free(handoff->packets);
    handoff->packets = NULL;
}

bool ckp_handoff_put(struct ckp_handoff *handoff, const struct ckp_packet *packet)
{
    if (handoff->put - handoff->released_seen == CKP_HANDOFF_PACKETS) {
        handoff->released_seen = atomic_load_explicit(&handoff->released, memory_order_acquire);
        if (handoff->put - handoff->released_seen == CKP_HANDOFF_PACKETS)
            return false;
    }
    handoff->packets[handoff->put++ % CKP_HANDOFF_PACKETS] = *packet;
    return true;
}

void ckp_handoff_publish(struct ckp_handoff *handoff)
{
    atomic_store_explicit(&handoff->published, handoff->put, memory_order_release);
}

double ckp_handoff_fill(const struct ckp_handoff *handoff)
{
    uint32_t held = handoff->put - atomic_load_explicit(&handoff->released, memory_order_relaxed);

    return (double)held / CKP_HANDOFF_PACKETS;
}

void ckp_handoff_close(struct ckp_handoff *handoff)
{
    ckp_handoff_publish(handoff);
    atomic_store_explicit(&handoff->is_closed, true, memory_order_release);
}

uint32_t ckp_handoff_take(struct ckp_handoff *handoff, const struct ckp_packet **packets)
{
    uint32_t released = atomic_load_explicit(&handoff->released, memory_order_relaxed);

    if (handoff->published_seen == released)
        handoff->published_seen = atomic_load_explicit(&handoff->published, memory_order_acquire);
    uint32_t first = released % CKP_HANDOFF_PACKETS;
    uint32_t count = handoff->published_seen - released;
    *packets = &handoff->packets[first];
    return count < CKP_HANDOFF_PACKETS - first ? count : CKP_HANDOFF_PACKETS - first;
}

void ckp_handoff_release(struct ckp_handoff *handoff, uint32_t count)
{
    uint32_t released = atomic_load_explicit(&handoff->released, memory_order_relaxed);

    atomic_store_explicit(&handoff->released, released + count, memory_order_release);
}

/* Closed first: what was published before that is seen then. */
bool ckp_handoff_is_done(struct ckp_handoff *handoff)
{
    bool is_closed = atomic_load_explicit(&handoff->is_closed, memory_order_acquire);

    return is_closed && atomic_load_explicit(&handoff->published, memory_order_acquire) ==
                            atomic_load_explicit(&handoff->released, memory_order_relaxed);
}
