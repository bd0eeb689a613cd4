/* SPDX-License-Identifier: Apache-2.0 */
/* /metrics, /healthz, /readyz and, if there are rings, /dump over HTTP, from a thread of its own
 * that takes nothing from the one that receives frames. */
#ifndef CKP_HEALTH_H
#define CKP_HEALTH_H

#include "dump.h"
#include "metrics.h"

#include <stddef.h>

struct ckp_health;

/** Whether that is ADDRESS:PORT, in numbers. */
bool ckp_health_is_address(const char *text);

/** Whether nobody but this machine can reach that address. */
bool ckp_health_is_loopback(const char *text);

/**
 * @param vitals of each worker
 * @param address ADDRESS:PORT, an IPv6 address in brackets; port 0 takes any that is free
 * @param identity but for session and resolution: they follow
 * @param dump what /dump answers from, or NULL
 * @return NULL with one sentence in `why`
 */
struct ckp_health *ckp_health_open(const char *address, const struct ckp_metrics_identity *identity,
                                   struct ckp_vitals *vitals, uint32_t worker_count,
                                   const struct ckp_tap_vitals *tap, struct ckp_dump *dump,
                                   char *why, size_t why_size);
void ckp_health_close(struct ckp_health *health);

/** What is told as 0 until then. */
void ckp_health_tell_source(struct ckp_health *health, uint64_t session,
                            int64_t timestamp_resolution_ns);

/** What the kernel knows of its clock, now. */
struct ckp_clock_status ckp_health_clock(void);

/** The port that was taken. */
unsigned ckp_health_port(const struct ckp_health *health);

#endif
