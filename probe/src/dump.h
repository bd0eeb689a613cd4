/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --ring-memory asks for: rings of the newest packets, one for each worker, and the answer to
 * commands to dump a flow out of them, each with a line in the audit file. All but the rings
 * belongs to the thread that answers.
 */
#ifndef CKP_DUMP_H
#define CKP_DUMP_H

#include "dump_gate.h"
#include "options.h"
#include "packet_ring.h"

struct ckp_dump;

/** What the table of options cannot say. @return false with one sentence in options->error */
bool ckp_dump_check(struct ckp_options *options);

/**
 * Opens what the options ask for.
 *
 * @param rings that share the memory
 * @return NULL if they do not ask, or with one sentence in `why`, which is empty otherwise
 */
struct ckp_dump *ckp_dump_open(const struct ckp_options *options, uint32_t rings, char *why,
                               size_t why_size);
void ckp_dump_close(struct ckp_dump *dump);

/** @return a worker's ring; NULL for those beyond the rings, or without `dump` */
struct ckp_packet_ring *ckp_dump_ring(const struct ckp_dump *dump, uint32_t worker);

struct ckp_dump_answer {
    enum ckp_dump_status status;
    const char *why;   /* unless OK; a few words */
    void *memory;      /* OK: to be freed, */
    uint8_t *bytes;    /* and in it a capture as pcapng, */
    size_t byte_count; /* in the order of time */
    uint64_t frames;
    int64_t covered_ns; /* how much of the time asked for the rings have held */
};

/**
 * Follows a command, or not, and says so in the audit file; what was not written there is not
 * answered.
 *
 * @param remote address of who asks
 */
struct ckp_dump_answer ckp_dump_follow(struct ckp_dump *dump, const char *text, size_t text_bytes,
                                       const char *signature, const char *remote);

#endif
