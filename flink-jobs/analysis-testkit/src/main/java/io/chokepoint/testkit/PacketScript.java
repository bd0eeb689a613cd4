// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A flow as text: one packet a line, in the order in which a tap sees them.
 *
 * <pre>{@code
 * # What the script shows, in one sentence.
 * flow A 10.0.0.1:40000 B 10.0.0.2:443 [domain N] [vlan N] [tunnel N]      the default without the options; [2001:db8::1]:443
 * start 2026-01-01T00:00:00Z                                               the default; or ns since the epoch
 * isn A 4294967000                                                         initial sequence number, default 0
 * mss 1448                                                                 how +BYTES is cut, default 1460
 * timestamps                                                               from here on packets carry TS val @ ecr @
 * +0.000 A > B S  0:0(0)        win 65535 <mss 1460,wscale 7,sackOK>
 * +0.010 B > A S. 0:0(0) ack 1  win 65535 <mss 1460,nop,wscale 7>
 * +0.010 A > B P. 1:1001(1000) ack 1 win 512 <TS val 7 ecr 9,sack 1:5 9:11> id 7 ttl 63 tc 2
 * repeat 3 {
 * +0.000 A > B .  +2920 ack @
 * +0.010 B > A .  0:0(0) ack @
 * }
 * extension 8                                                              from here on IP headers are so much longer
 * next connection                                                          on the same ports: all but the clock starts anew
 * end FIN +1.5                                                             a bare end mark so many seconds later
 * expect …                                                                 kept as text, for those who judge
 * }</pre>
 *
 * <p>A time is relative to the packet before it and may be negative. Sequence numbers count from the sender's ISN, so
 * payload starts at 1; {@code ack} and {@code sack} count from the receiver's. {@code +BYTES} sends on where the sender
 * is, and {@code 0:0(0)} without SYN stands for an empty packet there. {@code ack @} acknowledges all that the peer has
 * sent, {@code ack @-1460} all but so much; {@code TS val @} is the time in ms, {@code ecr @} the last value seen from the
 * peer. Window, TTL and traffic class stay as they were for the sender; IP ids count up from 1. A connection that another
 * one follows ends as REPLACED with its last packet.
 */
public final class PacketScript {
    private static final Pattern FLOW = Pattern.compile("flow A (?<a>\\S+) B (?<b>\\S+)(?: domain (?<domain>\\d+))?"
            + "(?: vlan (?<vlan>\\d+))?(?: tunnel (?<tunnel>\\d+))?");
    private static final Pattern SETTING = Pattern.compile("(start|isn A|isn B|mss|extension) (\\S+)|timestamps");
    private static final Pattern REPEAT = Pattern.compile("repeat (\\d+) \\{");
    private static final Pattern END = Pattern.compile("end ([A-Z_]+)(?: \\+(\\d+(?:\\.\\d+)?))?");
    private static final Pattern COMMENT = Pattern.compile("\\s*#.*$");

    private final ScriptPlayer player = new ScriptPlayer();
    private final List<String> expectations = new ArrayList<>();
    private final List<Integer> firstPackets = new ArrayList<>(List.of(0));
    private final List<String> lines;
    private String endReason = "CAPTURE_END";
    private long endAfterNs;

    private PacketScript(List<String> lines) {
        this.lines = lines;
    }

    /** Plays a script; what is not a script is refused with the number of its first bad line. */
    public static PacketScript parse(String text) {
        PacketScript script = new PacketScript(text.lines()
                .map(line -> COMMENT.matcher(line).replaceFirst("").strip())
                .toList());
        script.play(0, script.lines.size());
        return script;
    }

    /** Plays a script of the corpus: {@code schemas/golden/scripts/NAME.pkt}. */
    public static PacketScript load(String name) {
        try (InputStream in = PacketScript.class.getResourceAsStream("/scripts/" + name + ".pkt")) {
            if (in == null) {
                throw new IllegalArgumentException("no script " + name);
            }
            return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The names of all scripts of a folder, in order. */
    public static List<String> names(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".pkt"))
                    .map(name -> name.substring(0, name.length() - ".pkt".length()))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The endpoints. */
    public Flow flow() {
        return player.flow();
    }

    /** The packets in the order of the script. */
    public List<Packet> packets() {
        return player.packets();
    }

    /** What follows {@code expect}, line by line. */
    public List<String> expectations() {
        return List.copyOf(expectations);
    }

    /** The packets of each connection; there is one unless the script says otherwise. */
    public List<List<Packet>> connections() {
        List<Packet> packets = packets();
        List<List<Packet>> connections = new ArrayList<>();
        for (int i = 0; i < firstPackets.size(); i++) {
            int end = i + 1 < firstPackets.size() ? firstPackets.get(i + 1) : packets.size();
            connections.add(packets.subList(firstPackets.get(i), end));
        }
        return connections;
    }

    /** The runs of all connections, each with its end mark. */
    public List<RunSpec> runs(RunCutter cutter) {
        List<List<Packet>> connections = connections();
        List<RunSpec> runs = new ArrayList<>();
        for (int i = 0; i + 1 < connections.size(); i++) {
            runs.addAll(cutter.cutAndEnd(flow(), connections.get(i), "REPLACED", 0));
        }
        runs.addAll(cutter.cutAndEnd(flow(), connections.get(connections.size() - 1), endReason, endAfterNs));
        return runs;
    }

    private void play(int from, int to) {
        for (int i = from; i < to; i++) {
            try {
                i = playLine(i, to);
            } catch (BadLine e) {
                throw e;
            } catch (IllegalArgumentException e) {
                throw new BadLine("line %d: %s: %s".formatted(i + 1, lines.get(i), e.getMessage()), e);
            }
        }
    }

    /** Plays what starts at a line and returns the last line of it. */
    private int playLine(int index, int to) {
        String line = lines.get(index);
        Matcher repeat = REPEAT.matcher(line);
        if (repeat.matches()) {
            int close = closingBrace(index, to);
            for (int i = Integer.parseInt(repeat.group(1)); i > 0; i--) {
                play(index + 1, close);
            }
            return close;
        }
        if (!line.isEmpty() && !playSetting(line) && !playEnd(line)) {
            player.play(PacketLine.parse(line));
        }
        return index;
    }

    private int closingBrace(int open, int to) {
        int depth = 0;
        for (int i = open; i < to; i++) {
            if (REPEAT.matcher(lines.get(i)).matches()) {
                depth++;
            } else if (lines.get(i).equals("}") && --depth == 0) {
                return i;
            }
        }
        throw new IllegalArgumentException("has no closing brace");
    }

    private boolean playSetting(String line) {
        Matcher flow = FLOW.matcher(line);
        if (flow.matches()) {
            player.flow(ScriptPlayer.flow(flow));
            return true;
        }
        if (line.equals("next connection")) {
            firstPackets.add(player.packets().size());
            player.startAnew();
            return true;
        }
        Matcher setting = SETTING.matcher(line);
        if (!setting.matches()) {
            return false;
        }
        if (setting.group(1) == null) {
            player.stampAll();
            return true;
        }
        String value = setting.group(2);
        switch (setting.group(1)) {
            case "start" -> player.startAt(instantNs(value));
            case "mss" -> player.cutAt(Integer.parseInt(value));
            case "extension" -> player.extendHeaders(Integer.parseInt(value));
            case "isn A" -> player.initialSequenceNumber(true, Integer.parseUnsignedInt(value));
            default -> player.initialSequenceNumber(false, Integer.parseUnsignedInt(value));
        }
        return true;
    }

    private boolean playEnd(String line) {
        if (line.startsWith("expect ")) {
            expectations.add(line.substring("expect ".length()));
            return true;
        }
        Matcher end = END.matcher(line);
        if (!end.matches()) {
            return false;
        }
        endReason = end.group(1);
        endAfterNs = end.group(2) == null ? 0 : secondsToNs(end.group(2));
        return true;
    }

    private static long instantNs(String text) {
        if (text.matches("\\d+")) {
            return Long.parseLong(text);
        }
        Instant instant = Instant.parse(text);
        return Math.addExact(Math.multiplyExact(instant.getEpochSecond(), 1_000_000_000L), instant.getNano());
    }

    static long secondsToNs(String seconds) {
        return new BigDecimal(seconds).movePointRight(9).longValueExact();
    }

    /** Names the line; not to be wrapped again by the loops around it. */
    private static final class BadLine extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        BadLine(String message, IllegalArgumentException cause) {
            super(message, cause);
        }
    }
}
