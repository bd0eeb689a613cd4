/* SPDX-License-Identifier: Apache-2.0 */
#include "counters.h"

#define SCOPE_WORKER true
#define SCOPE_SINK   false

const struct ckp_counter_info ckp_counter_info[CKP_COUNTERS] = {
#define CKP_COUNTER(symbol, name, scope, help) [CKP_COUNT_##symbol] = {#name, help, SCOPE_##scope},
#include "counters.def"
#undef CKP_COUNTER
};
