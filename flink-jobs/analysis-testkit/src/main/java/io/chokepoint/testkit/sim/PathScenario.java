// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

/**
 * What is simulated: one to several equal flows over one bottleneck. Setters return the scenario itself; what is not set
 * is a fast host, an ample window, a short path and no other traffic.
 */
public final class PathScenario {
    static final long SENDER_WINDOW_BYTES = 64_128;
    static final long MAX_UNSCALED_WINDOW = 65_535;

    private static final double BITS_PER_MEGABIT = 1e6;
    private static final long NANOS_PER_MICRO = 1_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    final String name;
    long seed = 1;
    long startNs = 1_767_225_600_000_000_000L; // 2026-01-01T00:00:00Z
    long durationNs = 10_000 * NANOS_PER_MILLI;
    int flows = 1;
    int mss = 1448;
    double accessBitsPerSecond = 1_000 * BITS_PER_MEGABIT;
    double bottleneckBitsPerSecond = 100 * BITS_PER_MEGABIT;
    long queueBytes = 100 * 1514;
    long roundTripNs = 20 * NANOS_PER_MILLI;
    long jitterNs;
    double lossProbability;
    double reorderProbability;
    long reorderDelayNs = 2 * NANOS_PER_MILLI;
    double crossTrafficBitsPerSecond;
    long sendBufferBytes = 1L << 40;
    long receiveBufferBytes = 16 << 20;
    long readBytesPerSecond = Long.MAX_VALUE;
    int windowScale = 9;
    boolean serverSends;
    Application application = Application.BULK;

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

    /** Flows start 100 ms after each other. */
    public PathScenario flows(int count) {
        flows = count;
        return this;
    }

    /** Rate and queue of the bottleneck; the queue in packets of 1514 bytes. */
    public PathScenario bottleneck(double megabitsPerSecond, int queuePackets) {
        bottleneckBitsPerSecond = megabitsPerSecond * BITS_PER_MEGABIT;
        queueBytes = queuePackets * 1514L;
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

    /** Uniform extra delay of each packet on its way, in order. */
    public PathScenario jitter(long microseconds) {
        jitterNs = microseconds * NANOS_PER_MICRO;
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
        crossTrafficBitsPerSecond = megabitsPerSecond * BITS_PER_MEGABIT;
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

    @Override
    public String toString() {
        return name;
    }
}
