// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.analyze;

import io.chokepoint.analysis.AnalysisSettings;
import io.chokepoint.analysis.RunFate;
import io.chokepoint.analysis.RunFolder;
import io.chokepoint.analysis.SummaryRows;
import io.chokepoint.analysis.TapFlow;
import io.chokepoint.analysis.batch.DecodeStatus;
import io.chokepoint.analysis.batch.SegmentBatchReader;
import io.chokepoint.analysis.batch.SummaryReader;
import io.chokepoint.analysis.group.BottleneckGroup;
import io.chokepoint.analysis.group.Observation;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowSink;
import java.io.IOException;
import java.util.function.Consumer;

/** Folds the batches of one tap into one {@link TapFlow} a flow key, for as long as the flow lives. */
final class TapAnalysis {
    private final TapBooks books;
    private final RowSink out;
    private final SegmentBatchReader batch = new SegmentBatchReader();
    private final RunFolder folder;
    private final SummaryReader summaryReader = new SummaryReader();
    private final AnalysisSettings settings;
    private final String tap;
    private final LiveFlows flows;
    private final TapGroups groups;

    TapAnalysis(
            AnalysisSettings settings,
            String tap,
            TapBooks books,
            Consumer<Row> rows,
            Consumer<BottleneckGroup> groupRows) {
        this.settings = settings;
        this.tap = tap;
        this.folder = new RunFolder(settings);
        this.flows = new LiveFlows(settings, tap);
        this.books = books;
        this.groups = new TapGroups(tap, settings.version(), groupRows);
        this.out = new RowSink() {
            @Override
            public void accept(Row row) {
                books.rowWritten();
                rows.accept(row);
            }

            @Override
            public void observe(Observation observation) {
                groups.observe(observation);
            }
        };
    }

    /** Folds in the bytes of one batch. */
    void onBatch(byte[] bytes, int length) throws IOException {
        DecodeStatus status = batch.read(bytes, 0, length);
        if (status != DecodeStatus.OK) {
            books.batchRejected(status);
            return;
        }
        books.batchConsumed((long) batch.packets() + batch.summarisedPackets());
        for (int i = 0; i < batch.runs(); i++) {
            onRun(bytes, i);
        }
        for (int i = 0; i < batch.summaries(); i++) {
            onSummary(bytes, i);
        }
    }

    private void onSummary(byte[] bytes, int index) {
        DecodeStatus status = summaryReader.read(bytes, batch.summaryOffset(index), batch.summaryLength(index));
        if (status != DecodeStatus.OK) {
            books.runRejected(status, batch.summaryPackets(index));
            return;
        }
        SummaryRows.write(settings, tap, summaryReader.summary(), out);
        books.runJudged(RunFate.CONTRIBUTED, batch.summaryPackets(index), 0);
    }

    private void onRun(byte[] bytes, int index) throws IOException {
        DecodeStatus status = folder.read(bytes, batch.runOffset(index), batch.runLength(index));
        if (status != DecodeStatus.OK) {
            books.runRejected(status, batch.runPackets(index));
            return;
        }
        LiveFlows.Folded folded = flows.fold(folder, batch.session(), batch.timestampResolutionNs(), out);
        books.runJudged(folded.fate(), folder.run().packets(), folded.repeatedPackets());
    }

    /** Ends the flows whose end mark did not come. */
    void finish() throws IOException {
        flows.finish(folder, out);
        groups.finish();
        books.groups(groups.counters());
    }
}
