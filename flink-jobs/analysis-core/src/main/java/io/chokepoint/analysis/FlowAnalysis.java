// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import io.chokepoint.analysis.batch.EndReason;
import io.chokepoint.analysis.batch.FlowHash;
import io.chokepoint.analysis.batch.FlowKey;
import io.chokepoint.analysis.batch.Run;
import io.chokepoint.analysis.group.DelaySeries;
import io.chokepoint.analysis.group.Observation;
import io.chokepoint.analysis.row.Direction;
import io.chokepoint.analysis.row.FlowIdentity;
import io.chokepoint.analysis.row.MinuteRow;
import io.chokepoint.analysis.row.Quality;
import io.chokepoint.analysis.row.Row;
import io.chokepoint.analysis.row.RowField;
import io.chokepoint.analysis.row.RowSink;
import io.chokepoint.analysis.verdict.Sum;
import io.chokepoint.analysis.wire.ClockStep;
import io.chokepoint.analysis.wire.Packet;
import io.chokepoint.analysis.wire.Varint;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The whole analysis of one flow at one tap: two {@link HalfConnection}s, the handshake between them, and the intervals.
 *
 * <p>A row is a pure function of the ordered runs: the flow's own packets, quiet marks and end mark close its intervals,
 * evidence is booked in the interval whose packet proves it, and a row is written once. Runs of a new flow on the same key
 * (port reuse) end the old one.
 */
public final class FlowAnalysis {
    private static final int STATE_VERSION = 1;
    private static final long CLOCK_STEP_NANOS = 1_000_000_000L;
    private static final long SHORTEST_REPEAT_NANOS = 5_000;
    private static final int MIRRORED_PACKETS = 16;
    private static final int MAX_SILENT_ROWS = 3_600;
    private static final long MINUTE_NANOS = 60_000_000_000L;

    private final AnalysisSettings settings;
    private final String tap;

    private boolean started;
    private boolean finished;
    private long session;
    private long flowStartNanos;
    private long nextPacket;
    private long observedUntilNanos; // by the newest run
    private FlowKey key = new FlowKey(0, 0, 0, 0, 0, 0, 0);
    private long vlan = Row.NULL;
    private long tunnelId = Row.NULL;
    private ClockStep clock = new ClockStep();
    private long nowNanos; // of the newest packet
    private long clockShiftNanos; // added to the stamps after a step back
    private long intervalEndNanos;
    private long rowStartNanos;
    private long secondEndNanos; // of the running observation, a multiple since the epoch
    private long lifeStartNanos; // of what was seen: later than the flow's start if its first runs are missing
    private final Handshake handshake = new Handshake();
    private HalfConnection[] halves;
    private MirrorCopies[] copies = newCopies();
    private int packetsSinceCopy = MIRRORED_PACKETS + 1; // of those that tell copies, at most so many
    private int intervalQuality;
    private int lifeQuality;
    private int repeatedPackets; // of the newest run
    private long minute; // since the epoch: the earliest that interval rows still to come may belong to
    private final MinuteSums[] minuteSums = {new MinuteSums(), new MinuteSums()};

    /** An analysis without a flow yet. */
    public FlowAnalysis(AnalysisSettings settings, String tap) {
        this.settings = settings;
        this.tap = tap;
        this.halves = newHalves();
    }

    private HalfConnection[] newHalves() {
        int beyond = settings.layer().bytesBeyondIp();
        return new HalfConnection[] {new HalfConnection(beyond), new HalfConnection(beyond)};
    }

    private static MirrorCopies[] newCopies() {
        return new MirrorCopies[] {new MirrorCopies(), new MirrorCopies()};
    }

    /**
     * Folds the next run in; rows come out in the order of the flow's time. Of a run that begins before where the last one
     * ended, as when a capture is played anew and its runs are cut elsewhere, only what is new counts.
     *
     * @param runSession session of the batch that carried the run
     * @param timestampResolutionNanos smallest step of the packet times
     */
    public RunFate onRun(Run run, long runSession, long timestampResolutionNanos, RowSink out) {
        if (started && (runSession != session || run.flowStartNs() != flowStartNanos)) {
            if (runSession != session) {
                mark(Quality.HOLE); // a probe that was not killed would have told the end
            }
            finish(out);
            reset();
        }
        boolean first = !started;
        if (first) {
            start(run, runSession, timestampResolutionNanos);
        }
        long known = Math.max(0, nextPacket - run.packetsBefore());
        if (finished || isKnown(run, known) || isOldMark(run, first)) {
            repeatedPackets = run.packets();
            return RunFate.REPEATED;
        }
        repeatedPackets = (int) known;
        boolean hole = run.packetsBefore() > nextPacket;
        if (hole) {
            onHole();
        }
        nextPacket = run.packetsBefore() + run.packets();
        observedUntilNanos = run.observedUntilNs();
        Packet packet = new Packet();
        for (int i = repeatedPackets; i < run.packets(); i++) {
            packet.read(run, i);
            onPacket(packet, out);
            if (hole && i == 0) {
                mark(Quality.HOLE); // the hole may reach into this packet's interval
            }
        }
        if (run.endReason() == EndReason.SHED) {
            mark(Quality.SHED);
        }
        if (run.endReason() != EndReason.NONE) {
            finish(out);
            return hole ? RunFate.CONTRIBUTED_AFTER_HOLE : RunFate.CONTRIBUTED;
        }
        observe(run.observedUntilNs() + clockShiftNanos, out);
        if (nowNanos >= rowStartNanos || isKeptByWindow()) {
            closeObserved(run.observedUntilNs() + clockShiftNanos, out);
        }
        if (!finished) {
            turnMinute(nextRowStart(run.observedUntilNs() + clockShiftNanos), out);
        }
        return hole ? RunFate.CONTRIBUTED_AFTER_HOLE : RunFate.CONTRIBUTED;
    }

    /** Whether its first packets, {@code known} of them or more, are all that it tells. */
    private static boolean isKnown(Run run, long known) {
        return known > run.packets() || (known > 0 && known == run.packets() && run.endReason() == EndReason.NONE);
    }

    /** How many packets of the newest run had been folded in before. */
    public int repeatedPackets() {
        return repeatedPackets;
    }

    private boolean isOldMark(Run run, boolean first) {
        return !first
                && run.packets() == 0
                && run.endReason() == EndReason.NONE
                && run.observedUntilNs() <= observedUntilNanos;
    }

    private void start(Run run, long runSession, long timestampResolutionNanos) {
        started = true;
        session = runSession;
        flowStartNanos = run.flowStartNs();
        key = run.key();
        vlan = run.vlanId() == Run.NO_VLAN ? Row.NULL : run.vlanId();
        tunnelId = run.tunnelId() == Run.NO_TUNNEL ? Row.NULL : run.tunnelId();
        clock.declare(timestampResolutionNanos);
        // A run without packets can only move time forward from the flow's first packet.
        nowNanos = run.packets() > 0 && run.packetsBefore() > 0 ? run.timeNs()[0] : flowStartNanos;
        lifeStartNanos = nowNanos;
        rowStartNanos = nowNanos;
        intervalEndNanos = endOfInterval(nowNanos);
        minute = Math.floorDiv(rowStartNanos, MINUTE_NANOS);
        for (HalfConnection half : halves) {
            half.start(flowTime(nowNanos), clock.nanos());
        }
        beginSecond(nowNanos);
    }

    private void reset() {
        started = false;
        finished = false;
        nextPacket = 0;
        clockShiftNanos = 0;
        observedUntilNanos = 0;
        handshake.reset();
        clock = new ClockStep();
        halves = newHalves();
        copies = newCopies();
        packetsSinceCopy = MIRRORED_PACKETS + 1;
        intervalQuality = 0;
        lifeQuality = 0;
    }

    private void onHole() {
        mark(Quality.HOLE);
        halves[0].onHole();
        halves[1].onHole();
    }

    private void mark(Quality quality) {
        intervalQuality |= 1 << quality.ordinal();
    }

    /** Time within the flow, in ns: 1 at its first packet, so that 0 can mean never and most times are short numbers. */
    private long flowTime(long nanos) {
        return nanos - flowStartNanos + 1;
    }

    private long startOfInterval(long now) {
        return Math.floorDiv(now, settings.intervalNanos()) * settings.intervalNanos();
    }

    private long endOfInterval(long now) {
        return startOfInterval(now) + settings.intervalNanos();
    }

    private void onPacket(Packet packet, RowSink out) {
        if (packet.timeNanos + clockShiftNanos < nowNanos - CLOCK_STEP_NANOS) {
            // What follows goes on from here at its own pace: one wrong stamp must not swallow the rest of the flow.
            mark(Quality.CLOCK_STEP);
            clockShiftNanos = nowNanos - packet.timeNanos;
        }
        long now = Math.max(nowNanos, packet.timeNanos + clockShiftNanos);
        advanceTo(now, out);
        int direction = packet.direction;
        long time = flowTime(now);
        if (copies[direction].isCopy(time, packet, longestCopyNanos(packet))) {
            halves[direction].interval().add(Sum.DUPLICATE_PACKETS, 1);
            mark(Quality.DUPLICATED);
            packetsSinceCopy = isTellable(packet) ? 0 : packetsSinceCopy;
            return;
        }
        if (clock.observe(time)) {
            halves[0].setResolution(clock.nanos());
            halves[1].setResolution(clock.nanos());
        }
        packetsSinceCopy += isTellable(packet) && packetsSinceCopy <= MIRRORED_PACKETS ? 1 : 0;
        if (packet.malformedOptions) {
            mark(Quality.BAD_OPTIONS);
        }
        handshake.onPacket(time, packet, halves);
        halves[direction].onSegment(time, packet);
        if (packet.has(Packet.ACK) && !packet.has(Packet.RST)) {
            halves[1 - direction].onAck(time, packet);
        }
    }

    /**
     * Within which time an equal packet must be a copy, in ns; 0 if it need not be one. A sender counts the IP-ID up for every
     * packet, repeats a SYN after a second (RFC 6298 §2.1) and data no sooner than after a round trip. Equal ACKs are
     * duplicate ACKs, unless other packets of the flow come twice at present.
     */
    private long longestCopyNanos(Packet packet) {
        if (packet.ipId != 0 || packet.has(Packet.SYN)) {
            return MirrorCopies.LONGEST_NANOS;
        }
        if (packet.payloadBytes == 0 && packetsSinceCopy > MIRRORED_PACKETS) {
            return 0;
        }
        long shortest = Math.max(halves[0].shortestRepeatNanos(), halves[1].shortestRepeatNanos());
        return Math.min(MirrorCopies.LONGEST_NANOS, Math.max(shortest, SHORTEST_REPEAT_NANOS));
    }

    /** Whether a packet that comes twice can be told from two equal ones. */
    private static boolean isTellable(Packet packet) {
        return packet.ipId != 0 || packet.payloadBytes > 0;
    }

    /**
     * The tap has seen all of the flow up to {@code time}, past its last packet: the interval of that packet is complete. Silence
     * after it is booked when the next packet comes, or never; only a closed window goes on keeping its sender.
     */
    private void closeObserved(long time, RowSink out) {
        int rows = 0;
        while (time >= intervalEndNanos && rows <= MAX_SILENT_ROWS && (rows == 0 || isKeptByWindow())) {
            closeInterval(intervalEndNanos, out);
            rows++;
        }
    }

    /** Tells of the second that has ended by {@code time}, if it has. */
    private void observe(long time, RowSink out) {
        if (time >= secondEndNanos) {
            tellSecond(out);
            beginSecond(time);
        }
    }

    private void beginSecond(long time) {
        long start = Math.floorDiv(time, DelaySeries.SECOND_NANOS) * DelaySeries.SECOND_NANOS;
        secondEndNanos = start + DelaySeries.SECOND_NANOS;
        halves[0].series().begin(flowTime(start));
        halves[1].series().begin(flowTime(start));
    }

    private void tellSecond(RowSink out) {
        for (int direction : order()) {
            HalfConnection half = halves[direction];
            PathModel path = half.path();
            Observation observation = half.series()
                    .observe(
                            flowId(),
                            directionOf(direction),
                            secondEndNanos - DelaySeries.SECOND_NANOS,
                            path.senderSide().lifeMinimum(),
                            path.receiverSide().lifeMinimum(),
                            Math.round(path.capacityBitsPerSecond()));
            if (observation != null) {
                FlowIdentity flow = identity();
                out.observe(observation.between(flow.clientTenant(), flow.serverTenant()));
            }
        }
    }

    /** A packet passes at {@code time}: closes the intervals that end at or before it. */
    private void advanceTo(long time, RowSink out) {
        observe(time, out);
        if (time < intervalEndNanos) {
            nowNanos = Math.max(nowNanos, time);
            return;
        }
        closeInterval(intervalEndNanos, out);
        nowNanos = time;
        int silentRows = 0;
        while (time >= intervalEndNanos && isKeptByWindow() && silentRows++ < MAX_SILENT_ROWS) {
            closeInterval(intervalEndNanos, out);
        }
        if (time >= intervalEndNanos) {
            skipSilence(time, out);
        }
    }

    private boolean isKeptByWindow() {
        return halves[0].isKeptByWindow() || halves[1].isKeptByWindow();
    }

    private void closeInterval(long end, RowSink out) {
        for (int direction : order()) {
            HalfConnection half = halves[direction];
            half.cut(flowTime(end));
            if (half.hasIntervalRow()) {
                Row row = writer(direction)
                        .interval(rowStartNanos, end, intervalQuality)
                        .set(RowField.DOMAIN, key.domain());
                out.accept(row);
                minuteSums[direction].add(row, half.interval());
            }
        }
        halves[0].roll();
        halves[1].roll();
        lifeQuality |= intervalQuality;
        intervalQuality = 0;
        rowStartNanos = end;
        intervalEndNanos = endOfInterval(end);
        turnMinute(rowStartNanos, out);
    }

    /** No interval row will begin before {@code start}: what was added up in minutes that are over is written. */
    private void turnMinute(long start, RowSink out) {
        long current = Math.floorDiv(start, MINUTE_NANOS);
        if (current > minute) {
            writeMinute(out);
            minute = current;
        }
    }

    /** The earliest begin of an interval row to come, of a flow known up to {@code time}: silent intervals have none. */
    private long nextRowStart(long time) {
        boolean isOpen = nowNanos >= rowStartNanos || isKeptByWindow();
        return isOpen ? rowStartNanos : Math.max(rowStartNanos, startOfInterval(time));
    }

    private void writeMinute(RowSink out) {
        if (minuteSums[0].isEmpty() && minuteSums[1].isEmpty()) {
            return;
        }
        FlowIdentity identity = identity();
        for (int half : order()) {
            if (!minuteSums[half].isEmpty()) {
                out.acceptMinute(new MinuteRow(
                        identity,
                        directionOf(half),
                        minute * MINUTE_NANOS,
                        settings.version(),
                        minuteSums[half].take()));
            }
        }
    }

    /** Whole silent intervals get no row: their time is booked in the life of the flow only, in one step. */
    private void skipSilence(long time, RowSink out) {
        long from = intervalEndNanos - settings.intervalNanos();
        long until = startOfInterval(time);
        if (until > from) {
            for (HalfConnection half : halves) {
                half.cut(flowTime(until));
                half.roll();
            }
            rowStartNanos = until;
            intervalEndNanos = until + settings.intervalNanos();
            turnMinute(rowStartNanos, out);
        }
    }

    private RowWriter writer(int direction) {
        return new RowWriter(settings, identity(), directionOf(direction), halves[direction], handshake, clock.nanos());
    }

    private Direction directionOf(int direction) {
        return direction == handshake.clientDirection(key) ? Direction.CLIENT_TO_SERVER : Direction.SERVER_TO_CLIENT;
    }

    /** Client to server first. */
    private int[] order() {
        int client = handshake.clientDirection(key);
        return new int[] {client, 1 - client};
    }

    private long flowId() {
        return handshake.isInitialSequenceKnown()
                ? FlowHash.flowId(key, handshake.clientInitialSequence())
                : midstreamId(key, tap, flowStartNanos);
    }

    private FlowIdentity identity() {
        return identity(settings, flowId(), tap, key, handshake.clientDirection(key) == 0, vlan, tunnelId);
    }

    /** Who the ends are; their tenants are looked up anew for every row, so that no state depends on them. */
    static FlowIdentity identity(
            AnalysisSettings settings,
            long id,
            String tap,
            FlowKey key,
            boolean lowIsClient,
            long vlan,
            long tunnelId) {
        String low = settings.tenants().of(key.lowAddressUpper(), key.lowAddressLower());
        String high = settings.tenants().of(key.highAddressUpper(), key.highAddressLower());
        return new FlowIdentity(
                id,
                tap,
                lowIsClient ? key.lowAddressUpper() : key.highAddressUpper(),
                lowIsClient ? key.lowAddressLower() : key.highAddressLower(),
                lowIsClient ? key.lowPort() : key.highPort(),
                lowIsClient ? key.highAddressUpper() : key.lowAddressUpper(),
                lowIsClient ? key.highAddressLower() : key.lowAddressLower(),
                lowIsClient ? key.highPort() : key.lowPort(),
                vlan,
                tunnelId,
                lowIsClient ? low : high,
                lowIsClient ? high : low);
    }

    /** Without a SYN no name can be the same at every tap: hash of key, tap and start. */
    static long midstreamId(FlowKey key, String tap, long flowStartNanos) {
        long hash = FlowHash.of(key, 0);
        for (byte character : tap.getBytes(StandardCharsets.UTF_8)) {
            hash = FlowHash.next(hash, character);
        }
        return FlowHash.next(hash, flowStartNanos);
    }

    /** Ends the flow with what is known: writes the open interval and the rows of its life. Harmless when repeated. */
    public void finish(RowSink out) {
        if (!started || finished) {
            return;
        }
        finished = true;
        long end = Math.max(nowNanos + 1, rowStartNanos);
        halves[0].finish();
        halves[1].finish();
        tellSecond(out);
        closeInterval(end, out);
        writeMinute(out);
        int written = 0;
        for (int direction : order()) {
            if (halves[direction].total().get(Sum.DATA_PACKETS) > 0) {
                out.accept(writer(direction).flow(lifeStartNanos, end, lifeQuality));
                written++;
            }
        }
        if (written == 0) {
            out.accept(writer(directionWithoutData()).flow(lifeStartNanos, end, lifeQuality));
        }
    }

    /** Of a flow whose data the tap never saw: the direction whose acknowledgments show that there were some. */
    private int directionWithoutData() {
        int[] order = order();
        boolean isSecond = halves[order[0]].total().get(Sum.GOODPUT_BYTES) == 0
                && halves[order[1]].total().get(Sum.GOODPUT_BYTES) > 0;
        return order[isSecond ? 1 : 0];
    }

    /** Whether an end was folded in: the caller may drop its state. */
    public boolean isFinished() {
        return finished;
    }

    /** Up to when the flow is known, ns since the epoch. */
    public long lastPacketNanos() {
        return nowNanos;
    }

    /** Whether both directions are mice: few data packets so far, so that the state is small. */
    public boolean isMouse() {
        return !halves[0].isElephant() && !halves[1].isElephant();
    }

    /** Writes the state; the first number is its version. */
    public void writeTo(DataOutput out) throws IOException {
        Varint.write(out, STATE_VERSION);
        out.writeByte((started ? 1 : 0) | (finished ? 2 : 0));
        if (!started) {
            return;
        }
        out.writeLong(session);
        out.writeLong(flowStartNanos);
        Varint.write(out, nextPacket);
        Varint.write(out, observedUntilNanos - flowStartNanos);
        writeKey(out);
        clock.writeTo(out);
        Varint.write(out, nowNanos - flowStartNanos);
        Varint.write(out, clockShiftNanos);
        Varint.write(out, intervalEndNanos - flowStartNanos);
        Varint.write(out, rowStartNanos - flowStartNanos);
        Varint.write(out, secondEndNanos - flowStartNanos);
        Varint.write(out, lifeStartNanos - flowStartNanos);
        handshake.writeTo(out);
        for (int i = 0; i < 2; i++) {
            halves[i].writeTo(out);
            copies[i].writeTo(out, flowTime(nowNanos));
        }
        Varint.write(out, packetsSinceCopy);
        Varint.write(out, intervalQuality);
        Varint.write(out, lifeQuality);
        Varint.write(out, minute - Math.floorDiv(flowStartNanos, MINUTE_NANOS));
        minuteSums[0].writeTo(out);
        minuteSums[1].writeTo(out);
    }

    private void writeKey(DataOutput out) throws IOException {
        Varint.write(out, key.domain());
        writeAddress(out, key.lowAddressUpper(), key.lowAddressLower());
        out.writeShort(key.lowPort());
        writeAddress(out, key.highAddressUpper(), key.highAddressLower());
        out.writeShort(key.highPort());
        Varint.write(out, vlan == Row.NULL ? -1 : vlan);
        Varint.write(out, tunnelId == Row.NULL ? -1 : tunnelId);
    }

    /** The upper half of an IPv4 address is zero: one byte. */
    private static void writeAddress(DataOutput out, long upper, long lower) throws IOException {
        Varint.write(out, upper);
        out.writeLong(lower);
    }

    /** Reads what {@link #writeTo} wrote, of this version or an older released one. */
    public static FlowAnalysis readFrom(DataInput in, AnalysisSettings settings, String tap) throws IOException {
        return readFrom(Varint.read(in), in, settings, tap);
    }

    /** The same behind the version. */
    static FlowAnalysis readFrom(long version, DataInput in, AnalysisSettings settings, String tap) throws IOException {
        FlowAnalysis analysis = new FlowAnalysis(settings, tap);
        try {
            analysis.read(version, in);
        } catch (RuntimeException e) {
            throw new IOException("analysis state that is not of version " + STATE_VERSION, e);
        }
        return analysis;
    }

    private void read(long version, DataInput in) throws IOException {
        if (version != STATE_VERSION) {
            throw new IOException(
                    "analysis state of version " + version + ", this program knows up to " + STATE_VERSION);
        }
        int bits = in.readByte();
        started = (bits & 1) != 0;
        finished = (bits & 2) != 0;
        if (!started) {
            return;
        }
        session = in.readLong();
        flowStartNanos = in.readLong();
        nextPacket = Varint.read(in);
        observedUntilNanos = flowStartNanos + Varint.read(in);
        readKey(in);
        clock.readFrom(in);
        nowNanos = flowStartNanos + Varint.read(in);
        clockShiftNanos = Varint.read(in);
        intervalEndNanos = flowStartNanos + Varint.read(in);
        rowStartNanos = flowStartNanos + Varint.read(in);
        secondEndNanos = flowStartNanos + Varint.read(in);
        lifeStartNanos = flowStartNanos + Varint.read(in);
        handshake.readFrom(in);
        for (int i = 0; i < 2; i++) {
            halves[i].readFrom(in);
            copies[i].readFrom(in, flowTime(nowNanos));
        }
        packetsSinceCopy = Varint.readInt(in);
        intervalQuality = Varint.readInt(in);
        lifeQuality = Varint.readInt(in);
        minute = Math.floorDiv(flowStartNanos, MINUTE_NANOS) + Varint.read(in);
        minuteSums[0].readFrom(in);
        minuteSums[1].readFrom(in);
    }

    private void readKey(DataInput in) throws IOException {
        key = new FlowKey(
                Varint.readInt(in),
                Varint.read(in),
                in.readLong(),
                in.readUnsignedShort(),
                Varint.read(in),
                in.readLong(),
                in.readUnsignedShort());
        long storedVlan = Varint.read(in);
        long storedTunnel = Varint.read(in);
        vlan = storedVlan < 0 ? Row.NULL : storedVlan;
        tunnelId = storedTunnel < 0 ? Row.NULL : storedTunnel;
    }
}
