/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces of the kernel, as it counts and knows them. Opened while that is allowed; asked at any
 * time. */
#ifndef CKP_INTERFACES_H
#define CKP_INTERFACES_H

#include <stdbool.h>
#include <stdint.h>

struct ckp_interfaces;

/** Since the interface was made. */
struct ckp_interface_frames {
    uint64_t received;
    uint64_t dropped;
};

struct ckp_interface_link {
    bool is_known;
    bool is_gone; /* there is no such interface any more; the link is known to be down */
    bool is_up;
    uint64_t bits_per_second; /* 0: unknown */
};

/** @return NULL if the kernel tells of none */
struct ckp_interfaces *ckp_interfaces_open(void);
void ckp_interfaces_close(struct ckp_interfaces *interfaces);

/** @return zeros if there is none of that name, or `interfaces` is NULL */
struct ckp_interface_frames ckp_interfaces_frames(const struct ckp_interfaces *interfaces,
                                                  const char *name);
struct ckp_interface_link ckp_interfaces_link(const struct ckp_interfaces *interfaces,
                                              const char *name);

#endif
