// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.CaptureFile;
import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Writes captures of simulated paths with their truth, a folder a case: {@code SimulatedDataset OUT [PATTERN]} writes
 * those whose name holds a match of the pattern. The same bytes each time.
 */
public final class SimulatedDataset {
    private static final int MAX_RECORDS = 150_000;
    private static final int FAILED = 1;
    private static final int WRONG_USAGE = 2;

    private SimulatedDataset() {}

    /** A case is not what its label claims. */
    static final class WrongLabel extends RuntimeException {
        private static final long serialVersionUID = 1L;

        WrongLabel(String message) {
            super(message);
        }
    }

    /** Entry of the command line. */
    public static void main(String[] args) throws IOException {
        if (args.length < 1 || args.length > 2) {
            System.err.println("usage: SimulatedDataset OUT [PATTERN]");
            System.exit(WRONG_USAGE);
        }
        Pattern pattern = Pattern.compile(args.length == 2 ? args[1] : "");
        int numWrong = 0;
        for (SimulatedCase each : SimulatedCases.all()) {
            if (pattern.matcher(each.name()).find()) {
                try {
                    System.out.println(write(each, Path.of(args[0]).resolve(each.name())));
                } catch (WrongLabel e) {
                    System.err.println(e.getMessage());
                    numWrong++;
                }
            }
        }
        if (numWrong > 0) {
            System.exit(FAILED);
        }
    }

    /** Simulates a case, holds it to its label and writes it; returns a line that says what became of it. */
    static String write(SimulatedCase simulated, Path folder) throws IOException {
        PathScenario scenario = simulated.scenario();
        Simulation simulation = PathSimulator.simulate(scenario);
        Figures figures = new Figures(scenario, simulation);
        List<String> complaints = simulated.complaints(figures);
        if (!complaints.isEmpty()) {
            throw new WrongLabel(simulated.name() + ": " + String.join("; ", complaints));
        }
        boolean joins = scenario.offloadAtTaps;
        List<TapRecord> before = records(
                simulated,
                simulation.flows().stream().map(SimulatedFlow::before).toList(),
                joins ? TapCapture.Joining.BEFORE_SENDING : TapCapture.Joining.NONE,
                simulation);
        List<TapRecord> after = records(
                simulated,
                simulation.flows().stream().map(SimulatedFlow::after).toList(),
                joins ? TapCapture.Joining.AFTER_RECEIVING : TapCapture.Joining.NONE,
                simulation);
        Files.createDirectories(folder);
        Map<String, String> captures = new LinkedHashMap<>();
        captures.put("before", simulated.name() + "-before.pcap");
        captures.put("after", simulated.name() + "-after.pcap");
        writeCapture(folder.resolve(simulated.name() + "-before.pcap"), before);
        writeCapture(folder.resolve(simulated.name() + "-after.pcap"), after);
        new TruthFiles(simulated, simulation, figures).write(folder, captures);
        return String.format(
                Locale.ROOT,
                "%s: %d and %d packets, link busy %.3f, application %.2f, send buffer %.2f, window %.2f, network %.2f",
                simulated.name(),
                before.size(),
                after.size(),
                figures.linkBusyShare(),
                figures.waitShare(Truth.Wait.APPLICATION),
                figures.waitShare(Truth.Wait.SEND_BUFFER),
                figures.waitShare(Truth.Wait.RECEIVER_WINDOW),
                figures.waitShare(Truth.Wait.CONGESTION_WINDOW));
    }

    private static List<TapRecord> records(
            SimulatedCase simulated, List<List<Packet>> packets, TapCapture.Joining joining, Simulation simulation) {
        List<Flow> flows = simulation.flows().stream().map(SimulatedFlow::flow).toList();
        List<TapRecord> records =
                new TapCapture(simulated.scenario(), joining).records(flows, packets, simulated.quality());
        if (records.size() > MAX_RECORDS) {
            throw new WrongLabel(
                    simulated.name() + ": " + records.size() + " packets: expected at most " + MAX_RECORDS);
        }
        return records;
    }

    static void writeCapture(Path file, List<TapRecord> records) throws IOException {
        CaptureFile capture = new CaptureFile();
        records.forEach(each -> capture.add(each.flow(), each.packet()));
        capture.write(file);
    }
}
