/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <stdlib.h>

bool ckp_merge_init(struct ckp_merge *merge, uint32_t feed_count)
{
    *merge = (struct ckp_merge){.feed_count = feed_count};
    for (uint32_t i = 0; i < feed_count; i++) {
        merge->feeds[i].packets = malloc(CKP_FEED_PACKETS_MAX * sizeof(struct ckp_packet));
        if (!merge->feeds[i].packets) {
            ckp_merge_free(merge);
            return false;
        }
    }
    return true;
}

void ckp_merge_free(struct ckp_merge *merge)
{
    for (uint32_t i = 0; i < merge->feed_count; i++) {
        free(merge->feeds[i].packets);
        merge->feeds[i].packets = NULL;
    }
}

bool ckp_merge_has_room(const struct ckp_merge *merge, uint32_t feed)
{
    return merge->feeds[feed].count < CKP_FEED_PACKETS_MAX;
}

void ckp_merge_push(struct ckp_merge *merge, uint32_t feed, const struct ckp_packet *packet)
{
    struct ckp_feed *ring = &merge->feeds[feed];

    ring->packets[(ring->first + ring->count) % CKP_FEED_PACKETS_MAX] = *packet;
    ring->count++;
}

const struct ckp_packet *ckp_merge_pop(struct ckp_merge *merge, int64_t now_ns)
{
    struct ckp_feed *earliest = NULL;
    int64_t earliest_ns = INT64_MAX;
    bool is_certain = true;

    for (uint32_t i = 0; i < merge->feed_count; i++) {
        struct ckp_feed *feed = &merge->feeds[i];
        if (feed->count == 0) {
            is_certain = false;
            continue;
        }
        int64_t time_ns = feed->packets[feed->first].segment.time_ns;
        if (time_ns < earliest_ns) {
            earliest = feed;
            earliest_ns = time_ns;
        }
    }
    if (!earliest)
        return NULL;
    bool is_full = earliest->count == CKP_FEED_PACKETS_MAX;
    if (!is_certain && !is_full && now_ns - earliest_ns < CKP_MERGE_WAIT_NS)
        return NULL;

    const struct ckp_packet *packet = &earliest->packets[earliest->first];
    earliest->first = (earliest->first + 1) % CKP_FEED_PACKETS_MAX;
    earliest->count--;
    return packet;
}
