/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Blocks of pcapng (draft-ietf-opsawg-pcapng), in the byte order of this machine: a section
 * says which that is. */
#ifndef CKP_PCAPNG_H
#define CKP_PCAPNG_H

#include "packet_ring.h"

/** Of a section or an interface whose texts have CKP_PCAPNG_TEXT_MAX bytes: longer ones are cut. */
#define CKP_PCAPNG_TEXT_MAX       255u
#define CKP_PCAPNG_HEAD_BYTES_MAX 320u

/** Each writes one block and returns the byte after. */
uint8_t *ckp_pcapng_write_section(uint8_t *out, const char *application);
uint8_t *ckp_pcapng_write_interface(uint8_t *out, enum ckp_link link, uint32_t snap_bytes,
                                    const char *name);
uint8_t *ckp_pcapng_write_frame(uint8_t *out, uint32_t interface,
                                const struct ckp_ring_frame *frame);

/** How many bytes that will be. */
size_t ckp_pcapng_frame_bytes(const struct ckp_ring_frame *frame);

/** Of a block that was written: how many bytes it has, and the time of its frame. */
size_t ckp_pcapng_block_bytes(const uint8_t *block);
int64_t ckp_pcapng_block_time_ns(const uint8_t *block);

#endif
