// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The demo as a newcomer runs it, on free ports in a directory of its own. */
class DemoIT {
    @Test
    void theDemoPrintsVerdictsFailsWithoutThemAndLeavesNothingBehind() throws IOException {
        Path run = Files.createTempDirectory("chokepoint-it-");
        Map<String, String> environment =
                new HashMap<>(Map.of("CHOKEPOINT_RUN", run.toString(), "CHOKEPOINT_PORTS", "free"));
        try {
            List<String> out = demo("start", Samples.small())
                    .environment(environment)
                    .run()
                    .succeeded();
            assertThat(out)
                    .contains("tap " + Samples.tap(Samples.small()))
                    .anyMatch(line -> line.startsWith("    advice: "))
                    .anyMatch(line -> line.startsWith("Web UI of Flink:     http://127.0.0.1:"));

            Command.chokepoint("doctor").environment(environment).run().succeeded();
            truncate(environment);
            demo("check")
                    .environment(environment)
                    .run()
                    .failed(
                            1,
                            "demo: ClickHouse has no verdict of tap " + Samples.tap(Samples.small()) + ", though "
                                    + Capinfos.frames(Samples.small()) + " packets were delivered");
        } finally {
            demo("stop").environment(environment).run().succeeded();
            Command.of("rm", "-rf", run).run();
        }

        assertThat(Command.of("pgrep", "-f", run).run().out())
                .as("processes left behind")
                .isEmpty();
    }

    private static Command demo(Object... arguments) {
        return Command.of(Command.ROOT.resolve("demo"), arguments);
    }

    private static void truncate(Map<String, String> environment) {
        Command.shell("""
                        . "$CHOKEPOINT_RUN/services.env"
                        curl -sS --fail-with-body "$CHOKEPOINT_CLICKHOUSE/?database=$CHOKEPOINT_CLICKHOUSE_DATABASE" \\
                            -H "X-ClickHouse-User: $CHOKEPOINT_CLICKHOUSE_ADMIN_USER" \\
                            -H "X-ClickHouse-Key: $CHOKEPOINT_CLICKHOUSE_ADMIN_PASSWORD" -d 'TRUNCATE TABLE flows_stored'
                        """).environment(environment).run().succeeded();
    }
}
