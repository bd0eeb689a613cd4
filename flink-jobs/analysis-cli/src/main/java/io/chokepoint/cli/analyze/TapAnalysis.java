// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.FlowAnalysis;
import io.chokepoint.analysis.RunFate;
import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.batch.RunReader;
import io.chokepoint.analysis.batch.SegmentBatchReader;
import io.chokepoint.analysis.row.RowSink;
import java.util.LinkedHashMap;
import java.util.Map;

/** Folds the batches of one tap into one {@link FlowAnalysis} a flow key, for as long as the flow lives. */
final class TapAnalysis {
    private final AnalysisSettings settings;
    private final String tap;
    private final TapBooks books;
    private final RowSink out;
    private final SegmentBatchReader batch = new SegmentBatchReader();
    private final RunReader runReader = new RunReader();
    private final Run run = new Run();
    private final Map<FlowKey, FlowAnalysis> flows = new LinkedHashMap<>();

    TapAnalysis(AnalysisSettings settings, String tap, TapBooks books, RowSink out) {
        this.settings = settings;
        this.tap = tap;
        this.books = books;
        this.out = row -> {
            books.rowWritten();
            out.accept(row);
        };
    }

    /** Folds in the bytes of one batch. */
    void onBatch(byte[] bytes, int length) {
        DecodeStatus status = batch.read(bytes, 0, length);
        if (status != DecodeStatus.OK) {
            books.batchRejected(status);
            return;
        }
        books.batchConsumed(batch.packets());
        for (int i = 0; i < batch.runs(); i++) {
            onRun(bytes, i);
        }
    }

    private void onRun(byte[] bytes, int index) {
        DecodeStatus status = runReader.read(bytes, batch.runOffset(index), batch.runLength(index), run);
        if (status != DecodeStatus.OK) {
            books.runRejected(status, batch.runPackets(index));
            return;
        }
        FlowKey key = run.key();
        FlowAnalysis flow = flows.get(key);
        if (flow == null) {
            flow = new FlowAnalysis(settings, tap);
            flows.put(key, flow);
        }
        RunFate fate = flow.onRun(run, batch.session(), batch.timestampResolutionNs(), out);
        books.runJudged(fate, run.packets());
        if (flow.isFinished()) {
            flows.remove(key);
        }
    }

    /** Ends the flows whose end mark did not come. */
    void finish() {
        flows.values().forEach(flow -> flow.finish(out));
        flows.clear();
    }
}
