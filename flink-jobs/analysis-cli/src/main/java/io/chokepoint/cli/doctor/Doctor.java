// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.doctor;

import io.chokepoint.cli.ExitCode;
import io.chokepoint.cli.WrongOption;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** {@code chokepoint doctor}: one line a hop, from the probe to the tables; a hop that fails comes with its remedy. */
public final class Doctor {
    /** What is printed for {@code help doctor}. */
    public static final String USAGE = """
            usage: chokepoint doctor
                   chokepoint doctor probe [OPTION]...
            Looks at each hop, from the probe to the tables, and says how to mend it. Ends with 1 if one is not well.
            Where the services are is taken from CHOKEPOINT_KAFKA, CHOKEPOINT_FLINK and CHOKEPOINT_CLICKHOUSE, else from
            services.env of the run directory, else from the ports of the demo.
            With probe: tells whether a probe with these options, as for chokepoint-probe, would work on this machine, and
            how to mend what would not; it opens the ports for a moment and publishes nothing.
            """;

    private Doctor() {}

    /** Runs the command. */
    public static int run(String... args) throws WrongOption, InterruptedException {
        if (args.length > 0) {
            throw new WrongOption("argument " + args[0] + " is not expected: expected none, or probe and its options");
        }
        Path root = Path.of(System.getProperty("chokepoint.root", "."));
        return run(Hops.of(root, System.getenv()), System.out);
    }

    /** Looks at all hops but those that live in a hop which failed. */
    static int run(List<Hop> hops, PrintStream out) throws InterruptedException {
        Set<String> failed = new HashSet<>();
        for (Hop hop : hops) {
            if (failed.contains(hop.livesIn())) {
                out.printf("-     %-10s needs %s%n", hop.name(), hop.livesIn());
                continue;
            }
            try {
                out.printf("ok    %-10s %s%n", hop.name(), hop.look().look());
            } catch (IOException e) {
                out.printf("FAIL  %-10s %s%n      %-10s %s%n", hop.name(), e.getMessage(), "", hop.remedy());
                failed.add(hop.name());
            }
        }
        return failed.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }

    /**
     * A part of the way from packet to verdict.
     *
     * @param livesIn name of the hop without which it cannot be looked at; empty if there is none
     * @param look finds it well
     * @param remedy what to do if it is not
     */
    record Hop(String name, String livesIn, Look look, String remedy) {}

    /** Looks at one hop. */
    @FunctionalInterface
    interface Look {
        /** What was seen, in a few words; throws if that is not good, the message says why. */
        String look() throws IOException, InterruptedException;
    }
}
