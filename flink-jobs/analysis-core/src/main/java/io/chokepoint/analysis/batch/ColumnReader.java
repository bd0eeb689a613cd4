// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import java.util.Arrays;

/**
 * Decodes the columns of one run, in the order in which they need each other.
 *
 * <p>Most predictors are <i>per direction</i>: the loops keep one predictor for each and choose by mask, because the
 * direction of the next packet is a coin toss for the branch predictor. Values are checked by or-ing them up and
 * looking once, after the loop.
 */
final class ColumnReader {
    static final int MAX_ID = 0xffff;

    private static final int TIME_NS = 1;
    private static final int DIRECTION = 2;
    private static final int SEQUENCE_NUMBER = 3;
    private static final int ACKNOWLEDGMENT_NUMBER = 4;
    private static final int PAYLOAD_BYTES = 5;
    private static final int HEADER_BYTES = 6;
    private static final int TCP_FLAGS = 7;
    private static final int WINDOW_FIELD = 8;
    private static final int IP_ID = 9;
    private static final int TIME_TO_LIVE = 10;
    private static final int TRAFFIC_CLASS = 11;
    private static final int OPTIONS_PRESENT = 12;
    private static final int TIMESTAMP_VALUE = 13;
    private static final int TIMESTAMP_ECHO = 14;
    private static final int MAXIMUM_SEGMENT_SIZE = 15;
    private static final int WINDOW_SCALE = 16;
    private static final int SACK_BLOCKS = 17;
    private static final int KNOWN_IDS = 17;

    private static final int MAX_8_BIT = 0xff;
    private static final int MAX_16_BIT = 0xffff;
    private static final int MAX_PAYLOAD_BYTES = (1 << 30) - 1; // with the headers it still fits an int
    private static final int IP_ID_BEFORE_FIRST = 0xffff;

    private final WireCursor cursor = new WireCursor();
    private final int[] from = new int[KNOWN_IDS + 1];
    private final int[] length = new int[KNOWN_IDS + 1];
    private byte[] buffer = {};
    private int present; // bit id is set if the column is there
    private DecodeStatus status = DecodeStatus.OK;

    /** Forgets all columns. */
    void reset(byte[] bytes) {
        buffer = bytes;
        present = 0;
        status = DecodeStatus.OK;
    }

    /** Notes where a column lies; false if its id is unknown. */
    boolean add(int id, int offset, int bytes) {
        if (id > KNOWN_IDS) {
            return false;
        }
        from[id] = offset;
        length[id] = bytes;
        present |= 1 << id;
        return true;
    }

    /** Decodes all columns that were added. */
    DecodeStatus decode(Run run) {
        readTimes(run);
        readDirections(run);
        readPayload(run);
        readRuns(TCP_FLAGS, run, run.tcpFlags, MAX_8_BIT);
        readSequenceNumbers(run);
        readDifferences(ACKNOWLEDGMENT_NUMBER, run, run.acknowledgmentNumber);
        readRuns(HEADER_BYTES, run, run.headerBytes, MAX_16_BIT);
        readWindows(run);
        readIpIds(run);
        readRuns(TIME_TO_LIVE, run, run.timeToLive, MAX_8_BIT);
        readRuns(TRAFFIC_CLASS, run, run.trafficClass, MAX_8_BIT);
        readRuns(OPTIONS_PRESENT, run, run.optionsPresent, MAX_16_BIT);
        readOptions(run);
        return status;
    }

    private void open(int id) {
        boolean isPresent = ((present >>> id) & 1) != 0;
        cursor.reset(buffer, from[id], isPresent ? from[id] + length[id] : from[id]);
    }

    /** Ends a column whose data must have been used up exactly. */
    private void close(int id, boolean inRange) {
        cursor.expectEnd(DecodeStatus.BAD_COLUMN);
        if ((cursor.ok() && inRange) || status != DecodeStatus.OK) {
            return;
        }
        boolean isPresent = ((present >>> id) & 1) != 0;
        status = isPresent ? DecodeStatus.BAD_COLUMN : DecodeStatus.MISSING_COLUMN;
    }

    private void readTimes(Run run) {
        open(TIME_NS);
        long timeNs = 0;
        for (int i = 0; i < run.packets; i++) {
            timeNs += cursor.zigzag();
            run.timeNs[i] = timeNs;
        }
        close(TIME_NS, true);
    }

    private void readDirections(Run run) {
        open(DIRECTION);
        int bits = 0;
        for (int i = 0; i < run.packets; i++) {
            if ((i & 7) == 0) {
                bits = cursor.unsignedByte();
            }
            run.direction[i] = (byte) (bits & 1);
            bits >>>= 1;
        }
        close(DIRECTION, bits == 0);
    }

    private void readPayload(Run run) {
        open(PAYLOAD_BYTES);
        long seen = 0;
        for (int i = 0; i < run.packets; i++) {
            long bytes = cursor.varint();
            seen |= bytes;
            run.payloadBytes[i] = (int) bytes;
        }
        close(PAYLOAD_BYTES, (seen & ~(long) MAX_PAYLOAD_BYTES) == 0);
    }

    /** Predicts that a direction goes on where its last packet ended: SYN and FIN take one number each. */
    private void readSequenceNumbers(Run run) {
        open(SEQUENCE_NUMBER);
        int next0 = 0;
        int next1 = 0;
        long seen = 0;
        for (int i = 0; i < run.packets; i++) {
            long raw = cursor.varint();
            seen |= raw;
            int mask = -run.direction[i];
            int sequenceNumber = signed(raw) + ((next0 & ~mask) | (next1 & mask));
            run.sequenceNumber[i] = sequenceNumber;
            int flags = run.tcpFlags[i];
            int next = sequenceNumber + run.payloadBytes[i] + ((flags >>> 1) & 1) + (flags & 1);
            next0 = (next0 & mask) | (next & ~mask);
            next1 = (next1 & ~mask) | (next & mask);
        }
        close(SEQUENCE_NUMBER, fitsInt(seen));
    }

    private void readDifferences(int id, Run run, int[] values) {
        open(id);
        int last0 = 0;
        int last1 = 0;
        long seen = 0;
        for (int i = 0; i < run.packets; i++) {
            long raw = cursor.varint();
            seen |= raw;
            int difference = signed(raw);
            int mask = -run.direction[i];
            last0 += difference & ~mask;
            last1 += difference & mask;
            values[i] = (last0 & ~mask) | (last1 & mask);
        }
        close(id, fitsInt(seen));
    }

    private void readWindows(Run run) {
        readDifferences(WINDOW_FIELD, run, run.windowField);
        requireAtMost(MAX_16_BIT, run.windowField, run.packets);
    }

    private void requireAtMost(int mostAllOnes, int[] values, int count) {
        int seen = 0;
        for (int i = 0; i < count; i++) {
            seen |= values[i];
        }
        if ((seen & ~mostAllOnes) != 0 && status == DecodeStatus.OK) {
            status = DecodeStatus.BAD_COLUMN;
        }
    }

    /** Differences as pairs (difference, how often). */
    private void readRuns(int id, Run run, int[] values, int mostAllOnes) {
        open(id);
        int last0 = 0;
        int last1 = 0;
        int seen = 0;
        for (int i = 0; i < run.packets; ) {
            int difference = readInt();
            int stop = i + readRepeats(run.packets - i);
            if (difference == 0 && last0 == last1) { // most of these columns, most of the time
                seen |= last0;
                Arrays.fill(values, i, stop, last0);
                i = stop;
                continue;
            }
            for (; i < stop; i++) {
                int mask = -run.direction[i];
                last0 += difference & ~mask;
                last1 += difference & mask;
                int value = (last0 & ~mask) | (last1 & mask);
                seen |= value;
                values[i] = value;
            }
        }
        close(id, (seen & ~mostAllOnes) == 0);
    }

    private void readIpIds(Run run) {
        run.hasIpId = ((present >>> IP_ID) & 1) != 0;
        if (!run.hasIpId) {
            Arrays.fill(run.ipId, 0, run.packets, 0);
            return;
        }
        open(IP_ID);
        int last0 = IP_ID_BEFORE_FIRST;
        int last1 = IP_ID_BEFORE_FIRST;
        for (int i = 0; i < run.packets; ) {
            int step = readInt() + 1;
            int stop = i + readRepeats(run.packets - i);
            for (; i < stop; i++) {
                int mask = -run.direction[i];
                last0 += step & ~mask;
                last1 += step & mask;
                run.ipId[i] = ((last0 & ~mask) | (last1 & mask)) & MAX_16_BIT;
            }
        }
        close(IP_ID, true);
    }

    /** A zigzag integer of 32 bits. */
    private int readInt() {
        long raw = cursor.varint();
        return fitsInt(raw) ? signed(raw) : cursor.fail(DecodeStatus.BAD_COLUMN);
    }

    /** How often a value repeats: at least once, and after a failure for all the rest, so that the loop ends. */
    private int readRepeats(int most) {
        long repeats = cursor.varint();
        if (repeats < 1 || repeats > most) {
            cursor.fail(DecodeStatus.BAD_COLUMN);
            return most;
        }
        return (int) repeats;
    }

    private void readOptions(Run run) {
        int seen = 0;
        int common = Run.OPTION_TIMESTAMPS;
        for (int i = 0; i < run.packets; i++) {
            seen |= run.optionsPresent[i];
            common &= run.optionsPresent[i];
        }
        if (common != 0) {
            readDifferences(TIMESTAMP_VALUE, run, run.timestampValue);
            readDifferences(TIMESTAMP_ECHO, run, run.timestampEcho);
        } else {
            readTimestamps(TIMESTAMP_VALUE, run, run.timestampValue);
            readTimestamps(TIMESTAMP_ECHO, run, run.timestampEcho);
        }
        readOption(MAXIMUM_SEGMENT_SIZE, run, run.maximumSegmentSize, seen & Run.OPTION_MSS);
        readOption(WINDOW_SCALE, run, run.windowScale, seen & Run.OPTION_WINDOW_SCALE);
        readSackBlocks(run, seen & Run.OPTION_SACK_BLOCKS);
    }

    /** Timestamps of a run in which some packets have none. */
    private void readTimestamps(int id, Run run, int[] values) {
        open(id);
        int last0 = 0;
        int last1 = 0;
        long seen = 0;
        for (int i = 0; i < run.packets; i++) {
            if ((run.optionsPresent[i] & Run.OPTION_TIMESTAMPS) == 0) {
                values[i] = 0;
                continue;
            }
            long raw = cursor.varint();
            seen |= raw;
            int difference = signed(raw);
            int mask = -run.direction[i];
            last0 += difference & ~mask;
            last1 += difference & mask;
            values[i] = (last0 & ~mask) | (last1 & mask);
        }
        close(id, fitsInt(seen));
    }

    /** The values of an option of SYNs; {@code option} is its bit, or 0 if no packet has it. */
    private void readOption(int id, Run run, int[] values, int option) {
        open(id);
        Arrays.fill(values, 0, run.packets, id == WINDOW_SCALE ? Run.NO_WINDOW_SCALE : 0);
        long seen = 0;
        for (int i = 0; i < run.packets && option != 0; i++) {
            if ((run.optionsPresent[i] & option) != 0) {
                long value = cursor.varint();
                seen |= value;
                values[i] = (int) value;
            }
        }
        close(id, (seen & ~(id == WINDOW_SCALE ? (long) MAX_8_BIT : MAX_16_BIT)) == 0);
    }

    private void readSackBlocks(Run run, int option) {
        open(SACK_BLOCKS);
        int next = 0;
        Arrays.fill(run.sackOffset, 0, run.packets, 0);
        for (int i = 0; i < run.packets && option != 0; i++) {
            run.sackOffset[i] = next;
            if ((run.optionsPresent[i] & option) != 0) {
                next = readSackBlocksOfPacket(run, i, next);
            }
        }
        run.sackOffset[run.packets] = next;
        close(SACK_BLOCKS, true);
    }

    private int readSackBlocksOfPacket(Run run, int packet, int firstIndex) {
        long count = cursor.varint();
        if (count < 0 || count > Run.MAX_SACK_BLOCKS) {
            cursor.fail(DecodeStatus.BAD_COLUMN);
            return firstIndex;
        }
        int stop = firstIndex + (int) count;
        for (int i = firstIndex; i < stop; i++) {
            run.sackLeft[i] = run.acknowledgmentNumber[packet] + readInt();
            run.sackRight[i] = run.sackLeft[i] + readInt();
        }
        return stop;
    }

    private static boolean fitsInt(long raw) {
        return raw >>> Integer.SIZE == 0;
    }

    /** Zigzag of 32 bits; {@link #fitsInt} tells whether that was all. */
    private static int signed(long raw) {
        int low = (int) raw;
        return (low >>> 1) ^ -(low & 1);
    }
}
