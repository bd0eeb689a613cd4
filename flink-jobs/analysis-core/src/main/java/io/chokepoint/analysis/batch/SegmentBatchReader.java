// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads one Kafka value: the header of a segment batch, its counters, and where its runs and summaries lie.
 *
 * <p>Runs stay bytes: their columns are not looked at, so that they can travel opaquely to where the flow is analysed.
 * Everything else is checked before {@link #read} says OK, in particular that the bytes end with the batch and that the
 * runs and summaries hold as many packets as the header claims. Bytes that are not a batch are refused with the reason, never with an
 * exception; what the accessors then return means nothing. Reusable, not thread-safe; allocates only for texts it has
 * not just seen.
 */
public final class SegmentBatchReader {
    /** CRC-64-AVRO of the schema in parsing canonical form; follows the marker, little-endian. */
    public static final long FINGERPRINT = 0x124e6f81ae8976bcL;
    /** Bytes before the Avro record: marker and fingerprint. */
    public static final int SINGLE_OBJECT_HEADER_BYTES = 10;
    /** Most runs in a batch. */
    public static final int MAX_RUNS = 16_384;
    /** Most summaries in a batch. */
    public static final int MAX_SUMMARIES = 16_384;
    /** Most counters in a batch. */
    public static final int MAX_COUNTERS = 256;

    private static final int MARKER = 0xc301;
    private static final int MAX_NAME_BYTES = 255;
    private static final int MAX_WORKER = 0xffff;
    private static final int MAX_PARTITIONS = 65_536;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final int SUMMARY_DIRECTION_FIELDS = 9;
    private static final TimestampSource[] SOURCES = TimestampSource.values();

    private final WireCursor cursor = new WireCursor();
    private final CachedText probe = new CachedText();
    private final CachedText tap = new CachedText();
    private final CachedText[] counterNames = new CachedText[MAX_COUNTERS];
    private final long[] counterValues = new long[MAX_COUNTERS];
    private byte[] buffer = {};
    private long session;
    private int worker;
    private int partition;
    private int partitionCount;
    private long hashSeed;
    private long sequence;
    private long packetsBefore;
    private int packets;
    private TimestampSource timestampSource = TimestampSource.UNKNOWN;
    private long timestampResolutionNs;
    private int counters;
    private int runs;
    private int[] runOffset = new int[64];
    private int[] runLength = new int[64];
    private int[] runPackets = new int[64];
    private long summarisedPacketsBefore;
    private int summarisedPackets;
    private int summaries;
    private int[] summaryOffset = new int[64];
    private int[] summaryLength = new int[64];
    private int[] summaryPackets = new int[64];

    /** Reads a whole array. */
    public DecodeStatus read(byte[] value) {
        return read(value, 0, value.length);
    }

    /** Reads a slice; the accessors are valid until the next read and as long as the bytes stay as they are. */
    public DecodeStatus read(byte[] bytes, int offset, int length) {
        buffer = bytes;
        cursor.reset(bytes, offset, offset + length);
        readSingleObjectHeader();
        readBatchHeader();
        readCounters();
        readRuns();
        readSummaries();
        cursor.expectEnd(DecodeStatus.TRAILING_BYTES);
        return cursor.status();
    }

    private void readSingleObjectHeader() {
        if (cursor.remaining() < SINGLE_OBJECT_HEADER_BYTES) {
            cursor.fail(DecodeStatus.NOT_SINGLE_OBJECT);
            return;
        }
        if (((cursor.unsignedByte() << 8) | cursor.unsignedByte()) != MARKER) {
            cursor.fail(DecodeStatus.NOT_SINGLE_OBJECT);
            return;
        }
        if (Long.reverseBytes(cursor.bigEndianLong()) != FINGERPRINT) {
            cursor.fail(DecodeStatus.UNKNOWN_SCHEMA);
        }
    }

    private void readBatchHeader() {
        readName(probe);
        readName(tap);
        session = cursor.zigzag();
        worker = cursor.intBetween(0, MAX_WORKER);
        partition = cursor.intBetween(0, MAX_PARTITIONS - 1);
        partitionCount = cursor.intBetween(1, MAX_PARTITIONS);
        if (partition >= partitionCount) {
            cursor.fail(DecodeStatus.BAD_VALUE);
        }
        hashSeed = cursor.zigzag();
        sequence = cursor.longBetween(0, Long.MAX_VALUE);
        packetsBefore = cursor.longBetween(0, Long.MAX_VALUE);
        packets = cursor.intBetween(0, Integer.MAX_VALUE);
        timestampSource = SOURCES[cursor.intBetween(0, SOURCES.length - 1)];
        timestampResolutionNs = cursor.longBetween(1, NANOS_PER_SECOND);
    }

    private void readName(CachedText name) {
        int bytes = cursor.length();
        if (bytes < 1 || bytes > MAX_NAME_BYTES) {
            cursor.fail(DecodeStatus.BAD_VALUE);
            return;
        }
        name.set(buffer, cursor.at(), bytes);
        cursor.skip(bytes);
    }

    private void readCounters() {
        counters = 0;
        for (int count = cursor.openBlock(); count > 0; count = cursor.openBlock()) {
            int blockEnd = cursor.blockEnd();
            for (int i = 0; i < count && cursor.ok(); i++) {
                readCounter();
            }
            cursor.closeBlock(blockEnd);
        }
    }

    private void readCounter() {
        if (counters == MAX_COUNTERS) {
            cursor.fail(DecodeStatus.BAD_LENGTH);
            return;
        }
        CachedText name = counterNames[counters];
        if (name == null) {
            name = new CachedText();
            counterNames[counters] = name;
        }
        int bytes = cursor.length();
        name.set(buffer, cursor.at(), bytes);
        cursor.skip(bytes);
        counterValues[counters] = cursor.longBetween(0, Long.MAX_VALUE);
        counters++;
    }

    private void readRuns() {
        runs = 0;
        long packetsInRuns = 0;
        for (int count = cursor.openBlock(); count > 0; count = cursor.openBlock()) {
            int blockEnd = cursor.blockEnd();
            for (int i = 0; i < count && cursor.ok(); i++) {
                packetsInRuns += readRun();
            }
            cursor.closeBlock(blockEnd);
        }
        if (packetsInRuns != packets) {
            cursor.fail(DecodeStatus.COUNT_MISMATCH);
        }
    }

    private int readRun() {
        if (runs == MAX_RUNS) {
            return cursor.fail(DecodeStatus.BAD_LENGTH);
        }
        if (runs == runOffset.length) {
            runOffset = Arrays.copyOf(runOffset, 2 * runs);
            runLength = Arrays.copyOf(runLength, 2 * runs);
            runPackets = Arrays.copyOf(runPackets, 2 * runs);
        }
        int start = cursor.at();
        skipRunIdentity();
        int packetsOfRun = cursor.intBetween(0, Run.MAX_PACKETS);
        skipColumns();
        runOffset[runs] = start;
        runLength[runs] = cursor.at() - start;
        runPackets[runs] = packetsOfRun;
        runs++;
        return packetsOfRun;
    }

    /** Passes over what comes before a run's number of packets; {@link RunReader} looks at the values. */
    private void skipRunIdentity() {
        skipPlace();
        cursor.zigzag(); // packets_before
        cursor.zigzag(); // observed_until_ns
        cursor.zigzag(); // end_reason
    }

    private void skipPlace() {
        cursor.zigzag(); // domain
        cursor.skip(cursor.length()); // low_address
        cursor.zigzag(); // low_port
        cursor.skip(cursor.length()); // high_address
        cursor.zigzag(); // high_port
        skipOptional(); // vlan_id
        skipOptional(); // tunnel_id
        cursor.zigzag(); // flow_start_ns
    }

    private void skipOptional() {
        if (cursor.isPresent()) {
            cursor.zigzag();
        }
    }

    private void skipColumns() {
        for (int count = cursor.openBlock(); count > 0; count = cursor.openBlock()) {
            int blockEnd = cursor.blockEnd();
            for (int i = 0; i < count && cursor.ok(); i++) {
                cursor.zigzag(); // id
                cursor.skip(cursor.length()); // data
            }
            cursor.closeBlock(blockEnd);
        }
    }

    private void readSummaries() {
        summarisedPacketsBefore = cursor.longBetween(0, Long.MAX_VALUE);
        summarisedPackets = cursor.intBetween(0, Integer.MAX_VALUE);
        summaries = 0;
        long packetsInSummaries = 0;
        for (int count = cursor.openBlock(); count > 0; count = cursor.openBlock()) {
            int blockEnd = cursor.blockEnd();
            for (int i = 0; i < count && cursor.ok(); i++) {
                packetsInSummaries += readSummary();
            }
            cursor.closeBlock(blockEnd);
        }
        if (packetsInSummaries != summarisedPackets) {
            cursor.fail(DecodeStatus.COUNT_MISMATCH);
        }
    }

    /** {@link SummaryReader} looks at the values. */
    private int readSummary() {
        if (summaries == MAX_SUMMARIES) {
            return cursor.fail(DecodeStatus.BAD_LENGTH);
        }
        if (summaries == summaryOffset.length) {
            summaryOffset = Arrays.copyOf(summaryOffset, 2 * summaries);
            summaryLength = Arrays.copyOf(summaryLength, 2 * summaries);
            summaryPackets = Arrays.copyOf(summaryPackets, 2 * summaries);
        }
        int start = cursor.at();
        skipPlace();
        cursor.zigzag(); // duration_ns
        cursor.zigzag(); // quiet_ns
        cursor.zigzag(); // end_reason
        skipOptional(); // client
        skipOptional(); // client_sequence_number
        cursor.zigzag(); // syns
        skipOptional(); // server_delay_ns
        skipOptional(); // client_delay_ns
        int packetsOfSummary = readSummaryDirection() + readSummaryDirection();
        summaryOffset[summaries] = start;
        summaryLength[summaries] = cursor.at() - start;
        summaryPackets[summaries] = packetsOfSummary;
        summaries++;
        return packetsOfSummary;
    }

    private int readSummaryDirection() {
        int packetsOfDirection = cursor.intBetween(0, Run.MAX_PACKETS);
        for (int i = 1; i < SUMMARY_DIRECTION_FIELDS; i++) {
            cursor.zigzag();
        }
        return packetsOfDirection;
    }

    /** Name of the probe, 1..255 bytes of UTF-8. */
    public String probe() {
        return probe.text();
    }

    /** Name of the tap, 1..255 bytes of UTF-8. */
    public String tap() {
        return tap.text();
    }

    /** What one start of a probe, or one file, is told apart by. */
    public long session() {
        return session;
    }

    /** Receive worker, 0..65535. */
    public int worker() {
        return worker;
    }

    /** Kafka partition, 0..{@link #partitionCount()}-1. */
    public int partition() {
        return partition;
    }

    /** Partitions the probe spreads flows over, 1..65536. */
    public int partitionCount() {
        return partitionCount;
    }

    /** Seed of the flow hash. */
    public long hashSeed() {
        return hashSeed;
    }

    /** Number of this batch among those of its (tap, session, worker, partition), from 0 without a gap. */
    public long sequence() {
        return sequence;
    }

    /** Packets in the runs of all earlier batches of the same (tap, session, worker, partition). */
    public long packetsBefore() {
        return packetsBefore;
    }

    /** Packets in the runs of this batch. */
    public int packets() {
        return packets;
    }

    /** Who stamped the packets. */
    public TimestampSource timestampSource() {
        return timestampSource;
    }

    /** Smallest step of the packet times, 1..10^9 ns. */
    public long timestampResolutionNs() {
        return timestampResolutionNs;
    }

    /** Number of counters, 0..{@link #MAX_COUNTERS}. */
    public int counters() {
        return counters;
    }

    /** Name of a counter, as in the probe's table. */
    public String counterName(int index) {
        return counterNames[index].text();
    }

    /** Value of a counter since the start of the session. */
    public long counterValue(int index) {
        return counterValues[index];
    }

    /** Number of runs, 0..{@link #MAX_RUNS}. */
    public int runs() {
        return runs;
    }

    /** Where the bytes of a run start in the buffer that was read. */
    public int runOffset(int index) {
        return runOffset[index];
    }

    /** How many bytes a run has. */
    public int runLength(int index) {
        return runLength[index];
    }

    /** How many packets a run has, 0..{@link Run#MAX_PACKETS}; known even if its columns turn out to be bad. */
    public int runPackets(int index) {
        return runPackets[index];
    }

    /** Packets in the summaries of all earlier batches of the same (tap, session, worker, partition). */
    public long summarisedPacketsBefore() {
        return summarisedPacketsBefore;
    }

    /** Packets in the summaries of this batch. */
    public int summarisedPackets() {
        return summarisedPackets;
    }

    /** Number of summaries, 0..{@link #MAX_SUMMARIES}. */
    public int summaries() {
        return summaries;
    }

    /** Where the bytes of a summary start in the buffer that was read. */
    public int summaryOffset(int index) {
        return summaryOffset[index];
    }

    /** How many bytes a summary has. */
    public int summaryLength(int index) {
        return summaryLength[index];
    }

    /** How many packets a summary is of; known even if its values turn out to be bad. */
    public int summaryPackets(int index) {
        return summaryPackets[index];
    }

    /** The bytes of a run, for the way to where its flow is analysed. */
    public byte[] copyRun(int index) {
        return Arrays.copyOfRange(buffer, runOffset[index], runOffset[index] + runLength[index]);
    }

    /** Text that is decoded only if its bytes differ from last time; those of a probe hardly ever do. */
    private static final class CachedText {
        private byte[] bytes = {};
        private String text = "";

        void set(byte[] buffer, int offset, int length) {
            if (!Arrays.equals(bytes, 0, bytes.length, buffer, offset, offset + length)) {
                bytes = Arrays.copyOfRange(buffer, offset, offset + length);
                text = new String(bytes, StandardCharsets.UTF_8);
            }
        }

        String text() {
            return text;
        }
    }
}
