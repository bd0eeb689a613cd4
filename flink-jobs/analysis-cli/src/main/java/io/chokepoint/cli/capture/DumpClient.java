// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.capture;

import io.chokepoint.cli.rows.JsonText;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/** Asks probes for the last seconds of flows. What is signed, and how, says {@code probe/src/dump_gate.h}. */
final class DumpClient {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int NONCE_BYTES = 16;
    private static final int OK = 200;
    private static final int TOO_MANY = 429;
    private static final int TRIES = 30;

    private final SecureRandom random = new SecureRandom();
    private final Clock clock;
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();

    DumpClient(Clock clock) {
        this.clock = clock;
    }

    /**
     * What a probe has answered.
     *
     * @param bytes a capture as pcapng
     * @param frames how many there are in it
     * @param coveredSeconds how much of the time asked for its ring has held
     */
    record Dump(ByteBuffer bytes, long frames, double coveredSeconds) {}

    /** The flow's packets in the last seconds; a probe that is asked too often is asked again a second later. */
    Dump fetch(Probe probe, @Nullable String tap, Flow flow, int seconds) throws IOException, InterruptedException {
        for (int tries = 1; ; tries++) {
            HttpResponse<byte[]> response = post(probe, command(tap, flow, seconds));
            if (response.statusCode() == OK) {
                return dump(response);
            }
            if (response.statusCode() != TOO_MANY || tries == TRIES) {
                String said = new String(response.body(), StandardCharsets.UTF_8)
                        .lines()
                        .findFirst()
                        .orElse("status " + response.statusCode());
                throw new IOException("the probe at " + probe.url() + ", asked for " + flow + ": " + said);
            }
            TimeUnit.SECONDS.sleep(1);
        }
    }

    private byte[] command(@Nullable String tap, Flow flow, int seconds) {
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("client_ip", flow.clientIp());
        members.put("client_port", flow.clientPort());
        members.put("server_ip", flow.serverIp());
        members.put("server_port", flow.serverPort());
        members.put("seconds", seconds);
        if (tap != null) {
            members.put("tap", tap);
        }
        members.put("issued_at_seconds", clock.instant().getEpochSecond());
        members.put("nonce", HexFormat.of().formatHex(nonce));
        StringBuilder text = new StringBuilder();
        JsonText.append(text, members);
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private HttpResponse<byte[]> post(Probe probe, byte[] command) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(probe.dumpUrl())
                .timeout(PATIENCE)
                .header("Chokepoint-Signature", signature(probe.key(), command))
                .POST(HttpRequest.BodyPublishers.ofByteArray(command))
                .build();
        try {
            return http.send(request, HttpResponse.BodyHandlers.ofByteArray());
        } catch (IOException e) {
            throw new IOException("the probe at " + probe.url() + " does not answer", e);
        }
    }

    private static String signature(SecretKey key, byte[] command) {
        try {
            Mac mac = Mac.getInstance(key.getAlgorithm());
            mac.init(key);
            return HexFormat.of().formatHex(mac.doFinal(command));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has " + key.getAlgorithm(), e);
        }
    }

    private static Dump dump(HttpResponse<byte[]> response) throws IOException {
        String frames = response.headers().firstValue("Chokepoint-Frames").orElse("");
        String seconds =
                response.headers().firstValue("Chokepoint-Covered-Seconds").orElse("");
        try {
            return new Dump(ByteBuffer.wrap(response.body()), Long.parseLong(frames), Double.parseDouble(seconds));
        } catch (NumberFormatException e) {
            throw new IOException("what answers at " + response.uri() + " is no probe", e);
        }
    }
}
