// SPDX-License-Identifier: Apache-2.0
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;

/** {@code KafkaReady BOOTSTRAP SECONDS}: returns once a broker answers with its metadata, fails when the time is over. */
final class KafkaReady {
    public static void main(String[] args) throws InterruptedException {
        String timeoutMillis = Integer.toString(Integer.parseInt(args[1]) * 1000);
        try (Admin admin = Admin.create(Map.of(
                "bootstrap.servers", args[0],
                "default.api.timeout.ms", timeoutMillis,
                "request.timeout.ms", "1000",
                "reconnect.backoff.max.ms", "100"))) {
            admin.describeCluster().nodes().get();
        } catch (ExecutionException e) {
            System.err.println("no broker answers at " + args[0] + ": " + e.getCause().getMessage());
            System.exit(1);
        }
    }
}
