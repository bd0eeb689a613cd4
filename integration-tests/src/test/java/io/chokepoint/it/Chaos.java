// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Kills and freezes the processes of a stack in an order that a seed gives, and starts again what has died. Strikes against
 * different services overlap; one against the same service waits until the last one is over, and so do those that follow,
 * but for those that wait for ClickHouse, which may be away for long.
 */
final class Chaos {
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(3);
    private static final Duration LONGEST_ABSENCE = Duration.ofSeconds(4);
    /** Beyond the session of a broker (9 s), that of the JobManager (10 s), and the heartbeat of a TaskManager (10 s). */
    private static final Duration LONGEST_FREEZE = Duration.ofSeconds(14);

    private static final int STUTTERS = 20;
    private static final int MORE_THAN_KILLS_OF_A_ROUND = 3;

    private final Stack stack;
    private final Players players;
    private final Timeline timeline;
    private final Map<Service, ExecutorService> threads = new EnumMap<>(Service.class);
    private final Map<Service, Future<?>> underWay = new EnumMap<>(Service.class);
    private final List<Future<?>> all = new ArrayList<>();
    private final AtomicInteger kills = new AtomicInteger();

    private enum Service {
        PROBE,
        KAFKA,
        FLINK,
        CLICKHOUSE
    }

    /** What is struck. */
    enum Victim {
        PROBE(Service.PROBE, "probe"),
        BROKER(Service.KAFKA, "broker", "broker-2", "broker-3"),
        TASK_MANAGER(Service.FLINK, "taskmanager", "taskmanager-2"),
        JOB_MANAGER(Service.FLINK, "jobmanager"),
        CLICKHOUSE(Service.CLICKHOUSE, "server");

        private final Service service;
        private final List<String> processes;

        Victim(Service service, String... processes) {
            this.service = service;
            this.processes = List.of(processes);
        }

        String process(int which) {
            return processes.get(which % processes.size());
        }
    }

    /** How: {@code SIGKILL}; {@code SIGSTOP} and later {@code SIGCONT}; many short ones of these. */
    enum Blow {
        KILL,
        FREEZE,
        STUTTER
    }

    /**
     * One strike.
     *
     * @param which of the victims of a kind
     * @param pauseMillis after the strike before
     * @param lengthMillis until it is started again or goes on
     * @param patient whether the job runs again before the next strike against Flink
     */
    record Strike(Victim victim, Blow blow, int which, long pauseMillis, long lengthMillis, boolean patient) {}

    Chaos(Stack stack, Players players, Timeline timeline) {
        this.stack = stack;
        this.players = players;
        this.timeline = timeline;
        for (Service service : Service.values()) {
            threads.put(service, Executors.newSingleThreadExecutor());
        }
    }

    /** As many kills as wanted, of every victim in turn, and other blows between them, in an order of the seed. */
    static List<Strike> plan(long seed, int kills) {
        Random random = new Random(seed);
        List<Strike> plan = new ArrayList<>();
        int planned = 0;
        while (planned < kills) {
            List<Strike> round = new ArrayList<>();
            for (Victim victim : Victim.values()) {
                if (planned < kills) {
                    round.add(strike(victim, Blow.KILL, LONGEST_ABSENCE, random));
                    planned++;
                }
            }
            for (int i = 0; i < MORE_THAN_KILLS_OF_A_ROUND; i++) {
                Victim victim = Victim.values()[random.nextInt(Victim.values().length)];
                Blow blow = random.nextInt(3) == 0 ? Blow.STUTTER : Blow.FREEZE;
                round.add(strike(victim, blow, LONGEST_FREEZE, random));
            }
            Collections.shuffle(round, random);
            plan.addAll(round);
        }
        return plan;
    }

    private static Strike strike(Victim victim, Blow blow, Duration longest, Random random) {
        return new Strike(
                victim,
                blow,
                random.nextInt(1 << 16),
                random.nextInt((int) LONGEST_PAUSE.toMillis()),
                random.nextInt((int) longest.toMillis()),
                random.nextInt(4) > 0);
    }

    /** Carries a plan out; returns when all is up again. */
    void strikeAll(List<Strike> plan) throws InterruptedException, ExecutionException {
        for (Strike strike : plan) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(strike.pauseMillis()));
            submit(strike.victim().service, () -> carryOut(strike));
        }
        for (Future<?> strike : all) {
            strike.get();
        }
    }

    /** ClickHouse is away for so long, while the rest goes on; begins at once. */
    void clickHouseAway(Duration absence) throws InterruptedException, ExecutionException {
        submit(Service.CLICKHOUSE, () -> {
            long pid = stack.pid("clickhouse", "server");
            timeline.tell("killed ClickHouse %d, for %d s", pid, absence.toSeconds());
            kill(pid);
            pause(absence.toMillis());
            return startAgain(Service.CLICKHOUSE);
        });
    }

    /** Processes that were killed. */
    int kills() {
        return kills.get();
    }

    private void submit(Service service, Callable<Void> strike) throws InterruptedException, ExecutionException {
        Future<?> last = underWay.get(service);
        if (last != null && service != Service.CLICKHOUSE) {
            last.get();
        }
        Future<?> next = threads.get(service).submit(strike);
        underWay.put(service, next);
        all.add(next);
    }

    private Void carryOut(Strike strike) throws IOException {
        Victim victim = strike.victim();
        String name = victim.process(strike.which());
        long pid;
        if (victim == Victim.PROBE) {
            pid = Stack.await("a probe", () -> players.probe(strike.which()), probe -> probe != null)
                    .pid();
        } else {
            pid = stack.pid(victim.service.name().toLowerCase(Locale.ROOT), name);
        }
        switch (strike.blow()) {
            case KILL -> {
                timeline.tell("killed %s %d", label(victim, name), pid);
                kill(pid);
                pause(strike.lengthMillis());
            }
            case FREEZE -> {
                timeline.tell("froze %s %d for %.1f s", label(victim, name), pid, strike.lengthMillis() / 1e3);
                freeze(pid, strike.lengthMillis());
            }
            case STUTTER -> {
                timeline.tell("%s %d stutters for %.1f s", label(victim, name), pid, strike.lengthMillis() / 1e3);
                for (int i = 0; i < STUTTERS; i++) {
                    freeze(pid, strike.lengthMillis() / STUTTERS);
                    pause(strike.lengthMillis() / STUTTERS / 4);
                }
            }
        }
        if (victim == Victim.PROBE) {
            return null; // its player starts it again
        }
        startAgain(victim.service);
        if (victim.service == Service.FLINK && strike.patient()) {
            awaitJob();
        }
        return null;
    }

    private static String label(Victim victim, String name) {
        return switch (victim) {
            case PROBE, BROKER -> name;
            case TASK_MANAGER -> name.replace("taskmanager", "TaskManager");
            case JOB_MANAGER -> "JobManager";
            case CLICKHOUSE -> "ClickHouse";
        };
    }

    private void kill(long pid) {
        signal("KILL", pid);
        kills.incrementAndGet();
    }

    private static void freeze(long pid, long millis) {
        signal("STOP", pid);
        try {
            pause(millis);
        } finally {
            signal("CONT", pid);
        }
    }

    /** Says so if it was gone already: then something has ended by itself. */
    private static void signal(String name, long pid) {
        Command.of("kill", "-" + name, pid).run();
    }

    private static void pause(long millis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    /** Also what has ended by itself, as a supervisor would. */
    private Void startAgain(Service service) {
        String name = service.name().toLowerCase(Locale.ROOT);
        String last = stack.service(name, "start").run().succeeded().get(0);
        if (!last.contains("already running")) {
            timeline.tell("%s", last.replace("services/", ""));
        }
        return null;
    }

    /** The job runs with all its tasks. */
    private void awaitJob() {
        Stack.await(
                "a running job",
                () -> stack.ofTheJob(""),
                job -> job.contains("\"state\":\"RUNNING\"") && !job.matches(".*\"tasks\":\\{[^}]*\"RUNNING\":0.*"));
        timeline.tell("the job runs");
    }

    /** Starts whatever does not run, and ends the threads. */
    void over() {
        for (Service service : List.of(Service.KAFKA, Service.CLICKHOUSE, Service.FLINK)) {
            startAgain(service);
        }
        threads.values().forEach(ExecutorService::shutdownNow);
    }
}
