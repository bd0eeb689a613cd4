// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is simulated: one to several equal flows over one bottleneck. Setters return the scenario itself; what is not set
 * is a fast host, an ample window, a short path and no other traffic.
 */
public final class PathScenario {
    static final long SENDER_WINDOW_BYTES = 64_128;
    static final long MAX_UNSCALED_WINDOW = 65_535;
    /** What Linux lets one offloaded segment hold: its IP packet must stay below 64 KiB. */
    static final int MAX_SUPER_SEGMENT_BYTES = 65_160;

    private static final double BITS_PER_MEGABIT = 1e6;
    private static final long NANOS_PER_MICRO = 1_000;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final int FRAME_BYTES = 1514;

    /** A link beside the bottleneck. */
    record Stage(double bitsPerSecond, long queueBytes) {}

    /** Where the narrowest link lies. */
    enum Narrowest {
        BEFORE_BOTH_TAPS,
        BETWEEN_TAPS,
        BEHIND_BOTH_TAPS
    }

    /** How the queue in front of the bottleneck is served. */
    enum Queueing {
        DROP_TAIL,
        CODEL,
        FAIR
    }

    final String name;
    long seed = 1;
    long startNs = 1_767_225_600_000_000_000L; // 2026-01-01T00:00:00Z
    long durationNs = 10_000 * NANOS_PER_MILLI;
    int flows = 1;
    int hiddenFlows;
    Application hiddenApplication = Application.BULK;
    long betweenFlowsNs = 100 * NANOS_PER_MILLI;
    boolean ownHosts;
    int mss = 1448;
    boolean ipv6;
    CongestionControl.Kind congestionControl = CongestionControl.Kind.RENO;
    boolean ecn;
    long minTimeoutNs = 200 * NANOS_PER_MILLI;
    int superSegmentBytes;
    boolean offloadAtTaps;
    long timestampTickNs = NANOS_PER_MILLI;
    double accessBitsPerSecond = 1_000 * BITS_PER_MEGABIT;

    @Nullable
    Stage upstream;

    double bottleneckBitsPerSecond = 100 * BITS_PER_MEGABIT;
    long queueBytes = 100 * FRAME_BYTES;
    Queueing queueing = Queueing.DROP_TAIL;
    long delayTargetNs;
    long delayIntervalNs;

    @Nullable
    Stage policer;

    @Nullable
    Stage downstream;

    long roundTripNs = 20 * NANOS_PER_MILLI;
    long hostToTapNs = 50 * NANOS_PER_MICRO;
    long jitterNs;
    long hostNoiseNs;
    double lossProbability;
    double reorderProbability;
    long reorderDelayNs = 2 * NANOS_PER_MILLI;
    double crossTrafficBitsPerSecond;
    int crossTrafficBurst = 1;
    long sendBufferBytes = 1L << 40;
    long receiveBufferBytes = 16 << 20;
    long readBytesPerSecond = Long.MAX_VALUE;
    int windowScale = 9;
    boolean serverSends;
    Application application = Application.BULK;
    long slotNs = NANOS_PER_SECOND;
    long binNs = 10 * NANOS_PER_MILLI;

    private PathScenario(String name) {
        this.name = name;
    }

    /** A scenario that shows in its name what it is for. */
    public static PathScenario named(String name) {
        return new PathScenario(name);
    }

    public String name() {
        return name;
    }

    /** Decides everything that is left to chance, the initial sequence numbers too. */
    public PathScenario seed(long newSeed) {
        seed = newSeed;
        return this;
    }

    public PathScenario lasting(long milliseconds) {
        durationNs = milliseconds * NANOS_PER_MILLI;
        return this;
    }

    /** Flows start 100 ms after each other, unless {@link #apart} says otherwise. */
    public PathScenario flows(int count) {
        flows = count;
        return this;
    }

    /** Flows whose packets no tap sees; they start with the others. */
    public PathScenario hiddenFlows(int count, Application newApplication) {
        hiddenFlows = count;
        hiddenApplication = newApplication;
        return this;
    }

    /** Time between the starts of two flows. */
    public PathScenario apart(long microseconds) {
        betweenFlowsNs = microseconds * NANOS_PER_MICRO;
        return this;
    }

    /** Each flow has a sending host with an address of its own. */
    public PathScenario ownHosts() {
        ownHosts = true;
        return this;
    }

    /** Payload of a full segment. */
    public PathScenario segments(int bytes) {
        mss = bytes;
        return this;
    }

    public PathScenario ipv6() {
        ipv6 = true;
        mss = mss == 1448 ? 1428 : mss;
        return this;
    }

    PathScenario congestionControl(CongestionControl.Kind kind) {
        congestionControl = kind;
        return this;
    }

    /** Both hosts agree on explicit congestion notification (RFC 3168). */
    public PathScenario ecn() {
        ecn = true;
        return this;
    }

    /** Least retransmission timeout. */
    public PathScenario minTimeout(long milliseconds) {
        minTimeoutNs = milliseconds * NANOS_PER_MILLI;
        return this;
    }

    /** Hosts hand 64 KiB at once to the interface, and take as much at once from it. */
    public PathScenario offloadingHosts() {
        superSegmentBytes = MAX_SUPER_SEGMENT_BYTES / mss * mss;
        return this;
    }

    /** The taps are on such hosts: they see the 64 KiB as one packet. */
    public PathScenario offloadAtTaps() {
        offloadAtTaps = true;
        return offloadingHosts();
    }

    /** Unit of the TCP timestamps. */
    public PathScenario timestampTick(long microseconds) {
        timestampTickNs = microseconds * NANOS_PER_MICRO;
        return this;
    }

    /** Rate and queue of the bottleneck; the queue in packets of 1514 bytes. */
    public PathScenario bottleneck(double megabitsPerSecond, int queuePackets) {
        bottleneckBitsPerSecond = megabitsPerSecond * BITS_PER_MEGABIT;
        queueBytes = queuePackets * (long) FRAME_BYTES;
        return this;
    }

    /** Another link with a queue, between the senders and the tap before the bottleneck. */
    public PathScenario upstream(double megabitsPerSecond, int queuePackets) {
        upstream = new Stage(megabitsPerSecond * BITS_PER_MEGABIT, queuePackets * (long) FRAME_BYTES);
        return this;
    }

    /** Another link with a queue, between the tap behind the bottleneck and the receivers. */
    public PathScenario downstream(double megabitsPerSecond, int queuePackets) {
        downstream = new Stage(megabitsPerSecond * BITS_PER_MEGABIT, queuePackets * (long) FRAME_BYTES);
        return this;
    }

    /** A token bucket in front of the bottleneck that drops what exceeds it; cross traffic passes it by. */
    public PathScenario policer(double megabitsPerSecond, long burstBytes) {
        policer = new Stage(megabitsPerSecond * BITS_PER_MEGABIT, burstBytes);
        return this;
    }

    /** The bottleneck's queue is governed by its delay. */
    public PathScenario coDel(long targetMicroseconds, long intervalMicroseconds) {
        queueing = Queueing.CODEL;
        delayTargetNs = targetMicroseconds * NANOS_PER_MICRO;
        delayIntervalNs = intervalMicroseconds * NANOS_PER_MICRO;
        return this;
    }

    /** The bottleneck serves its flows in turn. */
    public PathScenario fairQueueing() {
        queueing = Queueing.FAIR;
        return this;
    }

    /** Rate at which a host puts packets on the wire. */
    public PathScenario access(double megabitsPerSecond) {
        accessBitsPerSecond = megabitsPerSecond * BITS_PER_MEGABIT;
        return this;
    }

    /** Round trip without any queue. */
    public PathScenario roundTrip(long microseconds) {
        roundTripNs = microseconds * NANOS_PER_MICRO;
        return this;
    }

    /** Delay between each host and the tap at its side. */
    public PathScenario hostToTap(long microseconds) {
        hostToTapNs = microseconds * NANOS_PER_MICRO;
        return this;
    }

    /** Uniform extra delay of each packet on its way, in order. */
    public PathScenario jitter(long microseconds) {
        jitterNs = microseconds * NANOS_PER_MICRO;
        return this;
    }

    /** Mean of the exponential time a host takes for each ACK, to send it and to take it in; in order. */
    public PathScenario hostNoise(long nanoseconds) {
        hostNoiseNs = nanoseconds;
        return this;
    }

    /** Random loss of data packets behind the bottleneck: between the two taps. */
    public PathScenario loss(double probability) {
        lossProbability = probability;
        return this;
    }

    /** Data packets that are overtaken before both taps. */
    public PathScenario reordering(double probability, long microseconds) {
        reorderProbability = probability;
        reorderDelayNs = microseconds * NANOS_PER_MICRO;
        return this;
    }

    /** Poisson packets of 1514 bytes that share the bottleneck. */
    public PathScenario crossTraffic(double megabitsPerSecond) {
        return crossTraffic(megabitsPerSecond, 1);
    }

    /** The same in bursts of geometric length, which come at twice the rate of the bottleneck. */
    public PathScenario crossTraffic(double megabitsPerSecond, int meanBurstPackets) {
        crossTrafficBitsPerSecond = megabitsPerSecond * BITS_PER_MEGABIT;
        crossTrafficBurst = meanBurstPackets;
        return this;
    }

    public PathScenario sendBuffer(long bytes) {
        sendBufferBytes = bytes;
        return this;
    }

    /** Buffer of the receiver and the shift in its SYN. */
    public PathScenario receiveBuffer(long bytes, int newWindowScale) {
        receiveBufferBytes = bytes;
        windowScale = newWindowScale;
        return this;
    }

    /** How fast the receiving application empties the buffer. */
    public PathScenario readingAt(long bytesPerSecond) {
        readBytesPerSecond = bytesPerSecond;
        return this;
    }

    public PathScenario application(Application newApplication) {
        application = newApplication;
        return this;
    }

    /** Whether the side that did not send the SYN sends the data. */
    public PathScenario serverSends() {
        serverSends = true;
        return this;
    }

    /** Length of the slots of {@link Truth} and of the bins of the links' books. */
    PathScenario books(long newSlotNs, long newBinNs) {
        slotNs = newSlotNs;
        binNs = newBinNs;
        return this;
    }

    Narrowest narrowest() {
        double upstreamRate = upstream == null ? Double.MAX_VALUE : upstream.bitsPerSecond();
        double downstreamRate = downstream == null ? Double.MAX_VALUE : downstream.bitsPerSecond();
        if (bottleneckBitsPerSecond <= Math.min(upstreamRate, downstreamRate)) {
            return Narrowest.BETWEEN_TAPS;
        }
        return upstreamRate <= downstreamRate ? Narrowest.BEFORE_BOTH_TAPS : Narrowest.BEHIND_BOTH_TAPS;
    }

    /** Rate and queue of the narrowest link. */
    Stage narrowestStage() {
        Stage between = new Stage(bottleneckBitsPerSecond, queueBytes);
        return Objects.requireNonNull(
                switch (narrowest()) {
                    case BEFORE_BOTH_TAPS -> upstream;
                    case BETWEEN_TAPS -> between;
                    case BEHIND_BOTH_TAPS -> downstream;
                });
    }

    @Override
    public String toString() {
        return name;
    }
}
