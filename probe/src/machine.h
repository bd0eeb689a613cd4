/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of the machine and of its interfaces. */
#ifndef CKP_MACHINE_H
#define CKP_MACHINE_H

#include "facts.h"

/** Fills in what is said of the machine. @param eal arguments of DPDK, for the cores that they name
 */
void ckp_machine_look(struct ckp_facts *facts, const char *eal);

/** Fills in what is known of a port that is not open; its `spec` is given. */
void ckp_machine_look_at_port(struct ckp_port_fact *port);

/** Whether one of the arguments, which have blanks between them, is exactly `name`. */
bool ckp_machine_has_argument(const char *arguments, const char *name);

/** The number behind an argument, as in "-m 256"; 0 if there is none. */
uint64_t ckp_machine_argument_number(const char *arguments, const char *name);

#endif
