// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Traffic for as long as it is wanted: captures through two probes at a time, each a tap of its own name. A probe that dies
 * or cannot deliver is started again with its capture from the first frame, as whoever plays a capture would do.
 */
final class Players {
    private static final int AT_ONCE = 2;
    private static final int SLICES = 100;
    private static final Duration SLICE = Duration.ofMillis(50);

    private final Stack stack;
    private final Timeline timeline;
    private final List<Path> captures;
    private final ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    private final List<Future<?>> players = new ArrayList<>();
    private final Map<Integer, Tap> taps = new LinkedHashMap<>();
    private final Map<String, Played> played = new LinkedHashMap<>();
    private int next;
    private volatile boolean stopping;

    /**
     * A capture that was played to its end.
     *
     * @param attempts how many probes it took
     * @param packets that the last of them delivered
     */
    record Played(Path capture, int attempts, long packets) {}

    Players(Stack stack, Timeline timeline, List<Path> captures) {
        this.stack = stack;
        this.timeline = timeline;
        this.captures = captures;
    }

    /** Starts the traffic. */
    Players start() {
        for (int i = 0; i < AT_ONCE; i++) {
            int player = i;
            players.add(threads.submit(() -> playAll(player)));
        }
        return this;
    }

    /** One of the probes that run; null if none does at the moment. */
    synchronized ProcessHandle probe(int which) {
        List<ProcessHandle> alive = taps.values().stream()
                .map(Tap::process)
                .filter(ProcessHandle::isAlive)
                .toList();
        return alive.isEmpty() ? null : alive.get(which % alive.size());
    }

    /** Lets what is under way come to its end; what was played, by its tap. */
    Map<String, Played> stop() throws InterruptedException, ExecutionException {
        stopping = true;
        for (Future<?> player : players) {
            player.get();
        }
        threads.shutdown();
        return played;
    }

    /** Ends all at once. */
    void abort() throws InterruptedException {
        threads.shutdownNow();
        threads.awaitTermination(1, TimeUnit.MINUTES);
    }

    private Void playAll(int player) throws IOException {
        while (!stopping && !Thread.currentThread().isInterrupted()) {
            int number = takeNumber();
            int round = number / captures.size();
            String name = Samples.tap(captures.get(number % captures.size())) + "-" + round;
            // Flows of their own: one flow at more and more taps is no network.
            Path capture = Capture.read(captures.get(number % captures.size()))
                    .betweenOthers(round)
                    .write(stack.directory().resolve(name + ".pcap"));
            int attempts = 0;
            Map<String, Long> books = Map.of();
            while (books.isEmpty()) {
                attempts++;
                books = play(player, name, capture);
            }
            remember(name, new Played(capture, attempts, books.get("packets_delivered")));
        }
        return null;
    }

    /** The books of the probe; none if it was killed or could not deliver. */
    private Map<String, Long> play(int player, String name, Path capture) throws IOException {
        try (Tap tap = new Tap(stack, name, capture)) {
            register(player, tap);
            try {
                for (int slice = 1; slice <= SLICES; slice++) {
                    tap.feed((double) slice / SLICES);
                    LockSupport.parkNanos(SLICE.toNanos());
                    if (Thread.interrupted()) {
                        throw new AssertionError("aborted");
                    }
                }
            } catch (IOException e) {
                timeline.tell("the probe of %s is gone, its capture is played again", name);
                return Map.of();
            }
            Map<String, Long> books = tap.end();
            if (books.isEmpty()) {
                timeline.tell("the capture of %s is played again: %s", name, tap.said());
            }
            return books;
        }
    }

    private synchronized int takeNumber() {
        return next++;
    }

    private synchronized void register(int player, Tap tap) {
        taps.put(player, tap);
    }

    private synchronized void remember(String name, Played capture) {
        played.put(name, capture);
    }
}
