/* SPDX-License-Identifier: Apache-2.0 */
/* Facts to lines for people: each ok, advice (warn), a failure (FAIL) or not to be told (-), and
 * how to mend it. */
#ifndef CKP_DOCTOR_H
#define CKP_DOCTOR_H

#include "facts.h"

/** One line a fact, with its remedy below if it needs one. @return whether nothing has failed */
bool ckp_doctor_print(const struct ckp_facts *facts, FILE *out);

#endif
