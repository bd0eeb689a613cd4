/* SPDX-License-Identifier: Apache-2.0 */
/* DPDK's environment: its start, and a thread for each worker. */
#ifndef CKP_EAL_H
#define CKP_EAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Starts DPDK with the arguments that the user gave, split at spaces, and the devices. Unless these
 * arguments name cores each worker's thread may run on all that the process may.
 *
 * @param specs each a device name with arguments, as "net_pcap0,rx_iface_in=eth0", or a PCI address
 * @return false with one sentence in `why`
 */
bool ckp_eal_start(const char *const *specs, size_t count, const char *given, uint32_t workers,
                   char *why, size_t why_size);
void ckp_eal_stop(void);

/** Runs `work` in the thread of a worker; that of worker 0 is the caller's own and cannot be meant.
 */
void ckp_eal_launch(uint32_t worker, int (*work)(void *), void *argument);

/** Waits until all that was launched has returned. */
void ckp_eal_join(void);

#endif
