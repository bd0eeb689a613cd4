/* SPDX-License-Identifier: Apache-2.0 */
/* What a file is, and how fine its time stamps are, told from its first bytes. libpcap converts
 * stamps but does not say what they were converted from. */
#ifndef CKP_CAPTURE_FORMAT_H
#define CKP_CAPTURE_FORMAT_H

#include <stdint.h>
#include <stdio.h>

enum ckp_capture_format {
    CKP_FORMAT_PCAP,
    CKP_FORMAT_PCAPNG,
    CKP_FORMAT_EMPTY,
    CKP_FORMAT_GZIP,
    CKP_FORMAT_ZSTD,
    CKP_FORMAT_UNKNOWN,
};

/** Looks at a stream that has just been opened and puts back what it has read. */
enum ckp_capture_format ckp_capture_format_peek(FILE *stream, int64_t *resolution_ns);

#endif
