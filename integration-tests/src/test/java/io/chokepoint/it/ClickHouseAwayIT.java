// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static io.chokepoint.it.Command.chokepoint;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** ClickHouse dies, the job goes on, then the TaskManager dies, too: when both are back nothing is missing or counted twice. */
class ClickHouseAwayIT {
    private static final String CHECKPOINTS = "\"completed\":([0-9]+)";

    private final HttpClient http = HttpClient.newHttpClient();

    @BeforeAll
    static void build() {
        chokepoint("build", "probe", "cli", "job").run().succeeded();
    }

    @Test
    void rowsOfAnOutageComeLater() throws IOException {
        Path before = Samples.small();
        Path during = Samples.captures().get(0);
        List<Map<String, String>> expected = Rows.of(
                chokepoint("analyze", "--format", "json", before, during).run().succeeded());

        try (Stack stack = Stack.start(1, 1)) {
            long packets = stack.play(before).get("packets_delivered");
            Stack.await("rows before the outage", () -> rows(stack).size(), size -> size > 0);

            stack.service("clickhouse", "kill").run().succeeded();
            packets += stack.play(during).get("packets_delivered");
            // Those that hold the rows which ClickHouse does not take.
            awaitCheckpoints(stack, completed(stack) + 3);
            stack.service("flink", "kill", "taskmanager").run().succeeded();
            stack.service("flink", "start").run().succeeded();
            stack.service("clickhouse", "start").run().succeeded();

            Stack.await("all rows", () -> rows(stack).size(), size -> size >= expected.size());
            assertThat(rows(stack)).isEqualTo(expected);
            long delivered = packets;
            Stack.await(
                    "a ledger of " + delivered + " packets",
                    () -> ledger(stack),
                    lines -> lines.equals(List.of(
                            "{\"fate\":\"consumed\",\"packets\":" + delivered + "}",
                            "{\"fate\":\"contributed\",\"packets\":" + delivered + "}")));
        }
    }

    private static List<Map<String, String>> rows(Stack stack) {
        try {
            return Rows.of(stack.rows());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> ledger(Stack stack) {
        try {
            return stack.ask("SELECT fate, toInt64(sum(packets)) AS packets FROM ledger GROUP BY fate ORDER BY fate");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void awaitCheckpoints(Stack stack, int count) {
        Stack.await(count + " checkpoints", () -> completed(stack), completed -> completed >= count);
    }

    private int completed(Stack stack) {
        URI uri = URI.create(stack.environment().get("CHOKEPOINT_FLINK") + "/jobs/" + stack.job() + "/checkpoints");
        try {
            String body = http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
            Matcher matcher = Pattern.compile(CHECKPOINTS).matcher(body);
            assertThat(matcher.find()).as(body).isTrue();
            return Integer.parseInt(matcher.group(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
