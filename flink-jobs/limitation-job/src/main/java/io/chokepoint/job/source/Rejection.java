// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.source;

import io.chokepoint.analysis.batch.DecodeStatus;
import java.util.Locale;

/** Why a record, or a run in it, was refused. */
public enum Rejection {
    /** No value. */
    EMPTY,
    NOT_SINGLE_OBJECT,
    /** Written with a schema that {@code tcp-schemas} does not hold either. */
    UNKNOWN_SCHEMA,
    TRUNCATED,
    BAD_VARINT,
    BAD_LENGTH,
    BAD_VALUE,
    COUNT_MISMATCH,
    COLUMN_ORDER,
    MISSING_COLUMN,
    BAD_COLUMN,
    TRAILING_BYTES,
    /** The writer's schema is known, but the bytes do not follow it or it lacks what this job needs. */
    NOT_CONVERTIBLE,
    /** Another seed of the flow hash: flows would meet in other partitions. */
    HASH_SEED,
    /** Another number of partitions than the topic has. */
    PARTITION_COUNT,
    /** Written to another partition than the batch is of. */
    PARTITION;

    /** The reason why bytes cannot be decoded. */
    public static Rejection of(DecodeStatus status) {
        return valueOf(status.name());
    }

    /** Name of the fate in the ledger. */
    String fate() {
        return "rejected_" + label();
    }

    /** Name in headers and metrics. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
