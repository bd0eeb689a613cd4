/* SPDX-License-Identifier: Apache-2.0 */
/* libpcap's filter expressions on frames, whatever they come from. */
#ifndef CKP_FILTER_H
#define CKP_FILTER_H

#include "decode.h"

struct ckp_filter;

/** @param datalink libpcap's DLT_ number; @return NULL with libpcap's complaint in `why` */
struct ckp_filter *ckp_filter_new(const char *expression, int datalink, char *why, size_t why_size);

/** The same for a port. */
struct ckp_filter *ckp_filter_new_ethernet(const char *expression, char *why, size_t why_size);

void ckp_filter_free(struct ckp_filter *filter);

/** The expression in a file: its lines, joined, without comments from # to the end of a line.
 * @return from malloc(), or NULL with one sentence in `why`, also if there is no expression */
char *ckp_filter_file_read(const char *path, char *why, size_t why_size);

/** Whether the filter leaves the frame in; a NULL filter leaves all in. */
bool ckp_filter_passes(const struct ckp_filter *filter, const struct ckp_frame *frame);

#endif
