/* SPDX-License-Identifier: Apache-2.0 */
/* The counters over DPDK's telemetry socket, as /chokepoint/stats, if --eal lets DPDK open one. */
#ifndef CKP_TELEMETRY_H
#define CKP_TELEMETRY_H

#include "vitals.h"

/** From now on requests are answered from the vitals of each worker, by a thread of DPDK's. */
void ckp_telemetry_start(const struct ckp_vitals *vitals, uint32_t worker_count);

/** From now on there is nothing to tell. DPDK's thread goes on. */
void ckp_telemetry_stop(void);

#endif
