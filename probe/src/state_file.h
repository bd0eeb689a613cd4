/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of a live probe in memory that outlives its process: a file, of which one process at
 * a time has the lock. It counts there as it would anywhere, so that packets pay nothing, and
 * whoever starts next finds the numbers of one that was killed as they were at its last store.
 */
#ifndef CKP_STATE_FILE_H
#define CKP_STATE_FILE_H

#include "killed_session.h"

#include <stddef.h>

struct ckp_state_file;

/** What the process before has left. */
enum ckp_state {
    CKP_STATE_SETTLED,    /* nothing to tell of, or no process before */
    CKP_STATE_KILLED,     /* a session that had no end */
    CKP_STATE_UNREADABLE, /* of another version of the probe, or damaged */
};

/**
 * Takes the file for this process, or makes it, and changes nothing in it. It has to be a regular
 * one that is this user's alone, and empty if it was not made by a probe.
 *
 * @return NULL with a clause in `why` such as "is in use by another probe"
 */
struct ckp_state_file *ckp_state_file_open(const char *path, char *why, size_t why_size);
void ckp_state_file_close(struct ckp_state_file *file);

/** @param killed to be freed if the result is CKP_STATE_KILLED; names are ckp_is_name()
 * @param why a clause if it is CKP_STATE_UNREADABLE */
enum ckp_state ckp_state_file_read(const struct ckp_state_file *file,
                                   struct ckp_killed_session *killed, char *why, size_t why_size);

/** Counters for so many workers, all zero; where they are does not change. NULL: no memory. */
struct ckp_counters *ckp_state_file_counters(struct ckp_state_file *file, uint32_t worker,
                                             uint32_t worker_count);

/** From now on the file is of this session: its counters, as they are and as they will be, and its
 * totals, all zero. Needs all its system calls. @return false with a clause in `why`; then the
 * counters are in memory as before, and whoever opens the file finds nothing to tell */
bool ckp_state_file_begin(struct ckp_state_file *file, const struct ckp_session_facts *facts,
                          char *why, size_t why_size);

/** Of the partitions of a worker. NULL: the file has not begun. */
struct ckp_partition_totals *ckp_state_file_totals(const struct ckp_state_file *file,
                                                   uint32_t worker);

/** The session has ended and told all: there is nothing left to tell for the next one. Harmless
 * before it has begun. */
void ckp_state_file_settle(struct ckp_state_file *file);

#endif
