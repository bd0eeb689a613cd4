/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Packets from one thread to one other, in order and without a lock: for a port whose card
 * cannot spread flows over queues. Each side works on a burst at a time and then tells the other,
 * so that the cache line of the other's counter moves once a burst. */
#ifndef CKP_HANDOFF_H
#define CKP_HANDOFF_H

#include "decode.h"

#include <stdatomic.h>

#define CKP_HANDOFF_PACKETS 4096u

struct ckp_handoff {
    struct ckp_packet *packets; /* a ring; the counters below wrap around */

    _Alignas(64) _Atomic uint32_t published; /* by the giver */
    uint32_t put;
    uint32_t released_seen;

    _Alignas(64) _Atomic uint32_t released; /* by the taker */
    uint32_t published_seen;

    _Alignas(64) _Atomic bool is_closed; /* the giver gives no more */
};

/** @return false if there is no memory */
bool ckp_handoff_init(struct ckp_handoff *handoff);
void ckp_handoff_free(struct ckp_handoff *handoff);

/** The giver's. The packet is seen after the next publish. @return false if there is no room */
bool ckp_handoff_put(struct ckp_handoff *handoff, const struct ckp_packet *packet);
void ckp_handoff_publish(struct ckp_handoff *handoff);
/** How full it is, 0 to 1. */
double ckp_handoff_fill(const struct ckp_handoff *handoff);
/** Publishes, too. */
void ckp_handoff_close(struct ckp_handoff *handoff);

/**
 * The taker's.
 *
 * @param packets the next ones, in one piece; there may be more behind them
 * @return how many; they are valid until as many are released
 */
uint32_t ckp_handoff_take(struct ckp_handoff *handoff, const struct ckp_packet **packets);
void ckp_handoff_release(struct ckp_handoff *handoff, uint32_t count);

/** Whether all was taken and nothing more will come. */
bool ckp_handoff_is_done(struct ckp_handoff *handoff);

#endif
