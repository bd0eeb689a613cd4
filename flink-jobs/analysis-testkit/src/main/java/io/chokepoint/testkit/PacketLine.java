// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One packet line of a {@link PacketScript}, numbers still relative; null is what the line leaves open.
 *
 * @param gapNs time since the packet before
 * @param sequence first payload byte relative to the sender's ISN, null for {@code +BYTES}
 * @param bytes payload
 * @param ack relative to the receiver's ISN, or to what it has sent if {@code ackIsRelative}
 */
record PacketLine(
        long gapNs,
        boolean fromA,
        int flags,
        @Nullable Long sequence,
        int bytes,
        @Nullable Long ack,
        boolean ackIsRelative,
        Overrides overrides) {

    /** What a sender otherwise keeps or counts by itself. */
    record Overrides(
            @Nullable Integer window,
            @Nullable Integer ipId,
            @Nullable Integer timeToLive,
            @Nullable Integer trafficClass,
            @Nullable Options options) {}

    /** Options with relative numbers; null timestamps in a stamped packet mean {@code @}. */
    record Options(
            boolean stamped,
            @Nullable Long timestampValue,
            @Nullable Long timestampEcho,
            @Nullable Integer mss,
            @Nullable Integer windowScale,
            boolean sackPermitted,
            List<long[]> sackBlocks) {}

    private static final String FLAGS = "FSRP.UEW"; // by bit, least significant first
    private static final Pattern LINE =
            Pattern.compile("(?<gap>[+-]\\d+(?:\\.\\d{1,9})?)\\s+(?<from>[AB]) > (?<to>[AB])"
                    + "\\s+(?<flags>[FSRP.UEW]+)"
                    + "\\s+(?:(?<first>\\d+):(?<end>\\d+)\\((?<length>\\d+)\\)|\\+(?<more>\\d+))"
                    + "(?:\\s+ack (?<ack>\\d+|@(?:-\\d+)?))?"
                    + "(?:\\s+win (?<window>\\d+))?"
                    + "(?:\\s+<(?<options>[^>]*)>)?"
                    + "(?:\\s+id (?<id>\\d+))?"
                    + "(?:\\s+ttl (?<ttl>\\d+))?"
                    + "(?:\\s+tc (?<tc>\\d+))?");
    private static final Pattern TIMESTAMPS = Pattern.compile("TS val (\\d+|@) ecr (\\d+|@)");
    private static final Pattern OTHER_OPTION = Pattern.compile("(mss|wscale) (\\d+)|sackOK|nop|eol");
    private static final Pattern SACK = Pattern.compile("sack( \\d+:\\d+)+");
    private static final Pattern EDGES = Pattern.compile("(\\d+):(\\d+)");

    static PacketLine parse(String line) {
        Matcher m = LINE.matcher(line);
        if (!m.matches() || m.group("from").equals(m.group("to"))) {
            throw new IllegalArgumentException(
                    "expected '+SECONDS A > B FLAGS FIRST:END(BYTES) [ack N] [win N] [<options>]'"
                            + " with +BYTES for FIRST:END(BYTES)");
        }
        String ack = m.group("ack");
        boolean ackIsRelative = ack != null && ack.startsWith("@");
        String ackNumber = ackIsRelative ? "0" + ack.substring(1) : ack;
        return new PacketLine(
                PacketScript.secondsToNs(m.group("gap")),
                m.group("from").equals("A"),
                flags(m.group("flags")),
                m.group("first") == null ? null : Long.valueOf(m.group("first")),
                bytes(m),
                ackNumber == null ? null : Long.valueOf(ackNumber.replaceFirst("^0-", "-")),
                ackIsRelative,
                new Overrides(
                        intOrNull(m.group("window")),
                        intOrNull(m.group("id")),
                        intOrNull(m.group("ttl")),
                        intOrNull(m.group("tc")),
                        m.group("options") == null ? null : options(m.group("options"))));
    }

    private static int bytes(Matcher m) {
        if (m.group("more") != null) {
            return Integer.parseInt(m.group("more"));
        }
        int length = Integer.parseInt(m.group("length"));
        if (Long.parseLong(m.group("end")) - Long.parseLong(m.group("first")) != length) {
            throw new IllegalArgumentException("END - FIRST is not BYTES");
        }
        return length;
    }

    private static int flags(String letters) {
        int flags = 0;
        for (int i = 0; i < letters.length(); i++) {
            flags |= 1 << FLAGS.indexOf(letters.charAt(i));
        }
        return flags;
    }

    private static Options options(String text) {
        Options options = new Options(false, null, null, null, null, false, List.of());
        for (String option : text.isBlank() ? new String[0] : text.split(",")) {
            options = with(options, option.strip());
        }
        return options;
    }

    private static Options with(Options o, String option) {
        Matcher stamps = TIMESTAMPS.matcher(option);
        if (stamps.matches()) {
            Long value = stampOrNull(stamps.group(1));
            Long echo = stampOrNull(stamps.group(2));
            return new Options(true, value, echo, o.mss, o.windowScale, o.sackPermitted, o.sackBlocks);
        }
        if (SACK.matcher(option).matches()) {
            List<long[]> blocks = sackBlocks(option);
            return new Options(
                    o.stamped, o.timestampValue, o.timestampEcho, o.mss, o.windowScale, o.sackPermitted, blocks);
        }
        Matcher other = OTHER_OPTION.matcher(option);
        if (!other.matches()) {
            throw new IllegalArgumentException("unknown option '" + option + "'");
        }
        boolean isMss = "mss".equals(other.group(1));
        boolean isScale = "wscale".equals(other.group(1));
        return new Options(
                o.stamped,
                o.timestampValue,
                o.timestampEcho,
                isMss ? intOrNull(other.group(2)) : o.mss,
                isScale ? intOrNull(other.group(2)) : o.windowScale,
                o.sackPermitted || option.equals("sackOK"),
                o.sackBlocks);
    }

    private static List<long[]> sackBlocks(String option) {
        return EDGES.matcher(option)
                .results()
                .map(edges -> new long[] {Long.parseLong(edges.group(1)), Long.parseLong(edges.group(2))})
                .toList();
    }

    private static @Nullable Integer intOrNull(@Nullable String digits) {
        return digits == null ? null : Integer.valueOf(digits);
    }

    private static @Nullable Long stampOrNull(String digits) {
        return digits.equals("@") ? null : Long.valueOf(digits);
    }
}
