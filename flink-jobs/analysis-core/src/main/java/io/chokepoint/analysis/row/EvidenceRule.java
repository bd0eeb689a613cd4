// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/**
 * The sentences of evidence. A row stores the rule and three whole numbers; {@code {a}}, {@code {b}} and {@code {c}} stand
 * for them. The views hold the same sentences. Constants are part of the contract and only appended.
 */
public enum EvidenceRule {
    NONE(""),
    APPLICATION("idle or out of data for {a} % of the time with {b} KB of window left, at most {c} KB in flight"),
    SEND_BUFFER("for {a} % of the time bursts of {b} segments left on one ACK while only {c} KB were in flight"),
    RECEIVER_WINDOW("the window of {b} KB was full for {a} % of the time, lowest round trip {c} us"),
    UNSHARED_BOTTLENECK("own rate {b} % of the capacity from {c} proven gaps, path full for {a} % of the time"),
    SHARED_BOTTLENECK(
            "queue stood for {a} % of the time, {b} us above the lowest round trip, own rate {c} % of the capacity"),
    BOTTLENECK("path full for {a} % of the time, queue {b} us above the lowest round trip, {c} proven gaps"),
    TRANSPORT("no queue and window left for {a} % of the time, at most {b} KB in flight, {c} loss events"),
    MIXED("no cause holds half of the time: the largest has {a} %, the next {b} %"),
    UNKNOWN("nothing can be said for {a} % of the time"),
    SHORT_TRANSFER("{a} data packets, a verdict needs {b}");

    private final String template;

    EvidenceRule(String template) {
        this.template = template;
    }

    /** The sentence with its placeholders. */
    public String template() {
        return template;
    }

    /** The sentence of a row. */
    public static String text(Row row) {
        if (row.isNull(RowField.EVIDENCE_RULE)) {
            return "";
        }
        return values()[(int) row.get(RowField.EVIDENCE_RULE)]
                .template
                .replace("{a}", Long.toString(row.get(RowField.EVIDENCE_A)))
                .replace("{b}", Long.toString(row.get(RowField.EVIDENCE_B)))
                .replace("{c}", Long.toString(row.get(RowField.EVIDENCE_C)));
    }
}
