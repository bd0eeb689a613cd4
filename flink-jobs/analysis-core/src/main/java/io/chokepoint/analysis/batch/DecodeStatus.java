// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

/** What became of bytes that should be a segment batch or a run: the one reason why they are refused, or OK. */
public enum DecodeStatus {
    OK,
    /** The marker of the Avro single-object encoding is missing. */
    NOT_SINGLE_OBJECT,
    /** Written with a schema that is not this reader's. */
    UNKNOWN_SCHEMA,
    /** The bytes end inside a value. */
    TRUNCATED,
    /** A variable-length integer exceeds 64 bits, or 32 where an int belongs. */
    BAD_VARINT,
    /** A length or a count is negative, too large, or contradicts the bytes it measures. */
    BAD_LENGTH,
    /** A field is outside the range that its schema documents. */
    BAD_VALUE,
    /** The runs do not hold as many packets as the batch says. */
    COUNT_MISMATCH,
    /** Column ids do not ascend. */
    COLUMN_ORDER,
    /** A column that every run with packets has is absent. */
    MISSING_COLUMN,
    /** A column holds fewer or more values than the run has, or one outside its range. */
    BAD_COLUMN,
    /** Bytes are left over. */
    TRAILING_BYTES
}
