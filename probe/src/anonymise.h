/* SPDX-License-Identifier: Apache-2.0 */
/* Crypto-PAn: addresses -> other addresses, one to one under a secret key, such that two addresses
 * share exactly as many leading bits as before (Xu et al., Prefix-Preserving IP Address
 * Anonymization, ICNP 2002). */
#ifndef CKP_ANONYMISE_H
#define CKP_ANONYMISE_H

#include "flow_key.h"

#define CKP_ANONYMISE_KEY_BYTES 32u /* a key of AES-128, then what addresses are padded with */

struct ckp_anonymiser;

/** @return NULL if there is no memory or no AES */
struct ckp_anonymiser *ckp_anonymiser_new(const uint8_t key[CKP_ANONYMISE_KEY_BYTES]);

/**
 * Reads the key from a file that only its owner may open: 32 bytes, or 64 hexadecimal digits.
 *
 * @return NULL with a sentence in `why`, which never quotes the file
 */
struct ckp_anonymiser *ckp_anonymiser_open(const char *path, char *why, size_t why_size);

/** NULL is allowed. */
void ckp_anonymiser_free(struct ckp_anonymiser *anonymiser);

/** A ckp_anonymise_fn; `self` is an anonymiser. */
void ckp_anonymise(void *self, struct ckp_address addresses[2], bool is_ipv6);

/** A number that tells nothing of `number` without the key; different ones stay different but for
 * chance. */
uint64_t ckp_anonymise_number(struct ckp_anonymiser *anonymiser, uint64_t number);

#endif
