/* SPDX-License-Identifier: Apache-2.0 */
/* A batch stream on a file or pipe: little-endian u32 length + the bytes of one Kafka value.
 * Delivery waits as long as the reader takes, until the probe has been told to end. */
#ifndef CKP_STREAM_SINK_H
#define CKP_STREAM_SINK_H

#include "sink.h"

/** @param stop set once the probe has been told to end
 *
 * Makes the file anew, or takes standard output for "-". @return false with one sentence in `why`
 */
bool ckp_stream_sink_open(struct ckp_sink *sink, const char *path,
                          const volatile sig_atomic_t *stop, struct ckp_counters *counters,
                          char *why, size_t why_size);

/** For another worker: one that writes into the same stream. @return false if there is no memory */
bool ckp_stream_sink_share(struct ckp_sink *sink, const struct ckp_sink *other,
                           struct ckp_counters *counters);

#endif
