/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are a frame with one fate. First byte: link layer, 128 to look into no tunnel; second:
 * what the original length exceeds the captured one by. A packet is also put into a ring. */
#include "packet_ring.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ckp_packet_ring *ring;
    struct ckp_packet packet;

    if (!ring)
        ring = ckp_packet_ring_new(&(struct ckp_ring_config){.memory_bytes = 4096, .snap_bytes = 128});
    if (!ring || size < 2)
        return 0;
    size_t count = size - 2;
    uint8_t *bytes = malloc(count); /* exactly as large, so that a read beyond is seen */
    if (!bytes)
        return 0;
    memcpy(bytes, data + 2, count);
    struct ckp_frame frame = {
        .bytes = bytes, .captured_bytes = count, .original_bytes = count + data[1], .time_ns = 1};
    enum ckp_link link = (enum ckp_link)((data[0] & 0x7f) % (CKP_LINK_NULL + 1));
    enum ckp_decode_status status =
        ckp_decode(&packet, link, &frame,
                   data[0] & 0x80 ? CKP_TUNNELS_OUTER : CKP_TUNNELS_INNER);
    if (status == CKP_DECODE_OK) {
        if (packet.segment.header_bytes < 40 || packet.payload_at < packet.segment.header_bytes)
            abort();
        ckp_packet_ring_put(ring, link, &frame, &packet);
    }
    free(bytes);
    return 0;
}
