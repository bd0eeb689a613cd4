/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter of a probe that goes on running. A thread of its own reads --filter-file anew at each
 * SIGHUP and swaps the filter in; receivers take the newest at each turn of their loops and say so,
 * and a filter is freed once none holds it. No receiver waits, and each burst is filtered by one
 * filter.
 */
#ifndef CKP_FILTER_WATCH_H
#define CKP_FILTER_WATCH_H

#include "filter.h"
#include "vitals.h"

struct ckp_filter_watch;

/** Blocks SIGHUP in this thread and all that it starts: to be called before there are others. */
void ckp_filter_watch_block_signal(void);

/** @param path of the file, or NULL: there is nothing to read anew
 * @param filter the first one, or NULL; from now on the watch's
 * @return NULL if there is no memory */
struct ckp_filter_watch *ckp_filter_watch_new(const char *path, struct ckp_filter *filter,
                                              uint32_t receiver_count);

/** To be called once privileges are given up: the thread has none either.
 * @param vitals where it is told how reading went; @return false if there can be no thread */
bool ckp_filter_watch_start(struct ckp_filter_watch *watch, struct ckp_tap_vitals *vitals);

/** A receiver's, at each turn. @param watch or NULL @return the filter until its next call, or NULL
 */
const struct ckp_filter *ckp_filter_watch_hold(struct ckp_filter_watch *watch, uint32_t receiver);

/** Ends the thread. Once no receiver runs any more. */
void ckp_filter_watch_free(struct ckp_filter_watch *watch);

#endif
