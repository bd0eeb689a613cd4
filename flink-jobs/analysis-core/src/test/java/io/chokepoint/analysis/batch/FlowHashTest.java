// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.analysis.batch.FlowKey.Endpoint;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FlowHashTest {
    /** domain, address_a, port_a, address_b, port_b, seed, flow_hash, partition_of_32, partition_of_3, client_isn, flow_id. */
    static Stream<List<String>> goldenVectors() throws IOException {
        return Files.readAllLines(Path.of(System.getProperty("chokepoint.root"), "schemas/golden/flow_hash.tsv"))
                .stream()
                .filter(line -> !line.startsWith("#") && !line.startsWith("domain"))
                .map(line -> List.of(line.split("\t")));
    }

    @ParameterizedTest
    @MethodSource("goldenVectors")
    void agreesWithTheGoldenVectors(List<String> vector) throws UnknownHostException {
        FlowKey key = FlowKey.between(
                Integer.parseInt(vector.get(0)),
                endpoint(vector.get(1), vector.get(2)),
                endpoint(vector.get(3), vector.get(4)));

        long hash = FlowHash.of(key, Long.parseUnsignedLong(vector.get(5), 16));

        assertThat(Long.toHexString(hash)).isEqualTo(withoutLeadingZeros(vector.get(6)));
        if (vector.get(5).matches("0+")) { // where state lives is pinned to the same vectors
            assertThat(key.hashCode()).isEqualTo(Long.hashCode(hash));
        }
        assertThat(FlowHash.partition(hash, 32)).isEqualTo(Integer.parseInt(vector.get(7)));
        assertThat(FlowHash.partition(hash, 3)).isEqualTo(Integer.parseInt(vector.get(8)));
        assertThat(Long.toHexString(FlowHash.flowId(key, Integer.parseUnsignedInt(vector.get(9)))))
                .isEqualTo(withoutLeadingZeros(vector.get(10)));
    }

    private static Endpoint endpoint(String address, String port) throws UnknownHostException {
        ByteBuffer bytes = ByteBuffer.wrap(InetAddress.getByName(address).getAddress());
        return bytes.remaining() == 4
                ? new Endpoint(0, FlowKey.ipv4Lower(bytes.getInt()), Integer.parseInt(port))
                : new Endpoint(bytes.getLong(), bytes.getLong(), Integer.parseInt(port));
    }

    private static String withoutLeadingZeros(String hexadecimal) {
        return Long.toHexString(Long.parseUnsignedLong(hexadecimal, 16));
    }
}
