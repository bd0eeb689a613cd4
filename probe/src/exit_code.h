/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CKP_EXIT_CODE_H
#define CKP_EXIT_CODE_H

/** Exit codes of the probe. */
enum {
    CKP_EXIT_ALL_DONE = 0,      /* all was read and delivered */
    CKP_EXIT_NOT_ALL_DONE = 1,  /* something was not, or the ledger does not balance */
    CKP_EXIT_WRONG_OPTIONS = 2, /* nothing was done */
};

#endif
