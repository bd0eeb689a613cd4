// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/**
 * The sentences of advice. A row stores the rule and one whole number; {@code {a}} stands for it. The views hold the same
 * sentences. Constants are part of the contract and only appended.
 */
public enum AdviceRule {
    NONE(""),
    APPLICATION_IDLE("The network is not the limit: the sender waits for its own application."),
    APPLICATION_WAITS("The network is not the limit: the sender waits for its peer's requests; pipeline them."),
    APPLICATION_SMALL_WRITES("Write larger blocks: segments leave short of the maximum size."),
    SEND_BUFFER("Raise the sender's socket buffer (SO_SNDBUF, tcp_wmem) to at least {a} KB."),
    RECEIVER_WINDOW("Raise the receiver's socket buffer (SO_RCVBUF, tcp_rmem) to at least {a} KB."),
    RECEIVER_WINDOW_SCALING(
            "Let window scaling through (RFC 7323): without it the window ends at 64 KB, {a} KB are needed."),
    SLOW_READER("The receiving application reads too slowly: look at its CPU, disk and locks."),
    UNSHARED_BOTTLENECK("The link is used up by this flow: only a faster link than {a} kbit/s helps."),
    SHARED_BOTTLENECK(
            "The link is full of several flows: add capacity, move traffic, or give this flow a share by QoS."),
    SHARED_DEEP_BUFFER("The queue holds {a} ms: shorten it with active queue management (CoDel, PIE)."),
    BOTTLENECK("The path is full: look for other traffic on it; if there is none, only a faster link helps."),
    TRANSPORT_SLOW_START(
            "The transfer ends before it has filled the path: reuse connections or raise the initial window."),
    TRANSPORT_LOSS("Losses without a queue keep the window small: look for faulty links, optics or policers."),
    TRANSPORT_GROWTH("The window grows too slowly for this path: use CUBIC or BBR on the sender."),
    TRANSPORT_REORDERING("Reordering on the path slows the sender: pin flows to one path (per-flow ECMP).");

    private final String template;

    AdviceRule(String template) {
        this.template = template;
    }

    /** The sentence with its placeholder. */
    public String template() {
        return template;
    }

    /** The sentence of a row. */
    public static String text(Row row) {
        if (row.isNull(RowField.ADVICE_RULE)) {
            return "";
        }
        return values()[(int) row.get(RowField.ADVICE_RULE)].template.replace(
                "{a}", Long.toString(row.get(RowField.ADVICE_A)));
    }
}
