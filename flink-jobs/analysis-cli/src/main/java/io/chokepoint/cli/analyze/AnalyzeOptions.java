// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.AnalysisSettings.Layer;
import io.chokepoint.analysis.row.Tenants;
import io.chokepoint.cli.WrongOption;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What {@code analyze} was asked for.
 *
 * @param taps the taps, in the order of the command line
 * @param filter libpcap filter for all of them, or null
 * @param tunnels which of IP packets within each other is judged
 * @param settings what changes rows
 * @param format how rows are written
 */
public record AnalyzeOptions(
        List<Tap> taps, @Nullable String filter, Tunnels tunnels, AnalysisSettings settings, Format format) {
    /** Which of IP packets within each other is judged; named as by the probe. */
    public enum Tunnels {
        INNER,
        OUTER
    }

    /** How rows are written. */
    public enum Format {
        TABLE,
        JSON,
        CSV
    }

    /** What the launcher prints for {@code help analyze}; the tests hold it to the options. */
    public static final String USAGE = """
            usage: chokepoint analyze [OPTION]... FILE...
            Tells for each flow in the captures what limits its throughput.

            FILE is a capture (pcap, pcapng; .gz and .zst too) and one tap, named after the file; - is standard input.
              --tap NAME FILE...          the files that follow are one tap, in the order of their time
              --filter EXPRESSION         judge only what this libpcap filter lets through
              --tunnels inner|outer       of IP packets within each other, which is judged (default inner)
              --interval DURATION         length of an interval: 500ms, 1s, 1m (default 1s)
              --layer ip|l2|wire          layer on which rates are counted (default l2)
              --tenants FILE              lines PREFIX,TENANT: whose clients and servers are, by the longest prefix
              --format table|json|csv     table for people; JSON one object a line; CSV (default table)
            """;

    private static final Pattern DURATION = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)(ns|us|ms|s|m|h)");
    private static final BigDecimal MIN_INTERVAL_NANOS = BigDecimal.valueOf(1_000_000L);
    private static final BigDecimal MAX_INTERVAL_NANOS = BigDecimal.valueOf(24 * 3_600_000_000_000L);

    /** Reads a command line. */
    public static AnalyzeOptions parse(String... args) throws WrongOption {
        Parser parser = new Parser(Arrays.asList(args).iterator());
        parser.readAll();
        return parser.options();
    }

    /** Collects options and files in the order in which they come. */
    private static final class Parser {
        private final Iterator<String> args;
        private final List<Tap> taps = new ArrayList<>();
        private @Nullable Tap openTap;
        private @Nullable String filter;
        private Tunnels tunnels = Tunnels.INNER;
        private long intervalNanos = AnalysisSettings.DEFAULT.intervalNanos();
        private Layer layer = AnalysisSettings.DEFAULT.layer();
        private Tenants tenants = Tenants.NONE;
        private Format format = Format.TABLE;

        Parser(Iterator<String> args) {
            this.args = args;
        }

        void readAll() throws WrongOption {
            boolean optionsEnded = false;
            while (args.hasNext()) {
                String arg = args.next();
                if (optionsEnded || !arg.startsWith("-") || arg.equals(Tap.STANDARD_INPUT)) {
                    addFile(arg);
                } else if (arg.equals("--")) {
                    optionsEnded = true;
                } else {
                    readOption(arg);
                }
            }
        }

        private void readOption(String arg) throws WrongOption {
            int equals = arg.indexOf('=');
            String name = equals < 0 ? arg : arg.substring(0, equals);
            @Nullable String attached = equals < 0 ? null : arg.substring(equals + 1);
            switch (name) {
                case "--tap" -> openTap(value(name, attached, "a name"));
                case "--filter" -> filter = value(name, attached, "a libpcap filter");
                case "--tunnels" ->
                    tunnels = constant(name, value(name, attached, names(Tunnels.values())), Tunnels.values());
                case "--interval" -> intervalNanos = intervalNanos(value(name, attached, "a duration such as 1s"));
                case "--layer" -> layer = constant(name, value(name, attached, names(Layer.values())), Layer.values());
                case "--tenants" -> tenants = tenants(value(name, attached, "a file"));
                case "--format" ->
                    format = constant(name, value(name, attached, names(Format.values())), Format.values());
                default ->
                    throw new WrongOption("option " + name
                            + " is not known: expected --tap, --filter, --tunnels, --interval, --layer, --tenants or"
                            + " --format");
            }
        }

        private String value(String option, @Nullable String attached, String expected) throws WrongOption {
            if (attached != null) {
                return attached;
            }
            if (!args.hasNext()) {
                throw new WrongOption("option " + option + " has no value: expected " + expected);
            }
            return args.next();
        }

        private void openTap(String name) throws WrongOption {
            if (name.isEmpty() || name.length() > 255) {
                throw new WrongOption("option --tap is '" + name + "': expected a name of 1 to 255 characters");
            }
            closeTap();
            openTap = new Tap(name, new ArrayList<>());
        }

        private void closeTap() throws WrongOption {
            if (openTap != null && openTap.files().isEmpty()) {
                throw new WrongOption("option --tap " + openTap.name() + " has no file: expected one or more after it");
            }
            if (openTap != null) {
                taps.add(openTap);
            }
        }

        private void addFile(String file) {
            if (openTap == null) {
                taps.add(Tap.ofFile(file));
            } else {
                openTap.files().add(file);
            }
        }

        AnalyzeOptions options() throws WrongOption {
            closeTap();
            if (taps.isEmpty()) {
                throw new WrongOption("no capture is given: expected one or more files, or - for standard input");
            }
            refuseRepeatedNames();
            refuseRepeatedStandardInput();
            int version = AnalysisSettings.DEFAULT.version();
            AnalysisSettings settings = new AnalysisSettings(intervalNanos, layer, version, tenants);
            return new AnalyzeOptions(taps, filter, tunnels, settings, format);
        }

        private void refuseRepeatedNames() throws WrongOption {
            Map<String, Tap> byName = new HashMap<>();
            for (Tap tap : taps) {
                Tap other = byName.put(tap.name(), tap);
                if (other != null) {
                    throw new WrongOption("two taps are called " + tap.name() + " (" + other.filesText() + " and "
                            + tap.filesText() + "): expected different names, give them by --tap NAME FILE...");
                }
            }
        }

        private void refuseRepeatedStandardInput() throws WrongOption {
            long times = taps.stream()
                    .flatMap(tap -> tap.files().stream())
                    .filter(Tap.STANDARD_INPUT::equals)
                    .count();
            if (times > 1) {
                throw new WrongOption("standard input is given " + times + " times: expected - at most once");
            }
        }
    }

    private static Tenants tenants(String file) throws WrongOption {
        String option = "option --tenants is '" + file + "': expected ";
        try {
            return Tenants.parse(Files.readAllLines(Path.of(file)));
        } catch (IllegalArgumentException e) {
            throw new WrongOption(option + "a list of tenants: " + e.getMessage());
        } catch (IOException e) {
            throw new WrongOption(option + "a file that can be read, of UTF-8");
        }
    }

    private static long intervalNanos(String text) throws WrongOption {
        Matcher matcher = DURATION.matcher(text);
        if (matcher.matches()) {
            BigDecimal nanos = new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(nanosOf(matcher.group(2))));
            if (nanos.compareTo(MIN_INTERVAL_NANOS) >= 0
                    && nanos.compareTo(MAX_INTERVAL_NANOS) <= 0
                    && nanos.stripTrailingZeros().scale() <= 0) {
                return nanos.longValueExact();
            }
        }
        throw new WrongOption(
                "option --interval is '" + text + "': expected a duration from 1ms to 24h, such as 500ms, 1s or 1m");
    }

    private static long nanosOf(String unit) {
        return switch (unit) {
            case "ns" -> 1L;
            case "us" -> 1_000L;
            case "ms" -> 1_000_000L;
            case "s" -> 1_000_000_000L;
            case "m" -> 60_000_000_000L;
            default -> 3_600_000_000_000L;
        };
    }

    private static <E extends Enum<E>> E constant(String option, String text, E[] constants) throws WrongOption {
        for (E constant : constants) {
            if (text.equals(constant.name().toLowerCase(Locale.ROOT))) {
                return constant;
            }
        }
        throw new WrongOption("option " + option + " is '" + text + "': expected " + names(constants));
    }

    private static String names(Enum<?>[] constants) {
        List<String> names = Arrays.stream(constants)
                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                .toList();
        int last = names.size() - 1;
        return names.subList(0, last).stream().collect(Collectors.joining(", ")) + " or " + names.get(last);
    }
}
