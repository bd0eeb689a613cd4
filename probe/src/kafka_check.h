/* SPDX-License-Identifier: Apache-2.0 */
/* Whether Kafka would take the batches of a probe: asked, never written to. */
#ifndef CKP_KAFKA_CHECK_H
#define CKP_KAFKA_CHECK_H

#include "facts.h"
#include "kafka_sink.h"

/** Asks for brokers, topics and their settings, for a few seconds; makes no topic. */
void ckp_kafka_check(struct ckp_kafka_fact *fact, const struct ckp_kafka_config *config);

#endif
