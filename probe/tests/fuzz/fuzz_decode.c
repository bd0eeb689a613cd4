/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are a frame with one fate. First byte: link layer, 128 to look into no tunnel; second:
 * what the original length exceeds the captured one by. */
#include "decode.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ckp_packet packet;

    if (size < 2)
        return 0;
    size_t count = size - 2;
    uint8_t *bytes = malloc(count); /* exactly as large, so that a read beyond is seen */
    if (!bytes)
        return 0;
    memcpy(bytes, data + 2, count);
    struct ckp_frame frame = {
        .bytes = bytes, .captured_bytes = count, .original_bytes = count + data[1], .time_ns = 1};
    enum ckp_decode_status status =
        ckp_decode(&packet, (enum ckp_link)((data[0] & 0x7f) % (CKP_LINK_NULL + 1)), &frame,
                   data[0] & 0x80 ? CKP_TUNNELS_OUTER : CKP_TUNNELS_INNER);
    if (status == CKP_DECODE_OK && packet.segment.header_bytes < 40)
        abort();
    free(bytes);
    return 0;
}
