// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What Avro's C library made of the golden JSON, Avro's Java library makes of it too. */
class GoldenBatchTest {
    private static final Schema SCHEMA = Schemas.parse(Schemas.CURRENT);
    private static final int SINGLE_OBJECT_HEADER_BYTES = 10;

    static List<Path> cases() {
        return Schemas.find("golden", path -> path.toString().endsWith(".json"));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theJsonGivesTheBytes(Path json) throws IOException {
        assertThat(singleObject(recordOf(json))).isEqualTo(Files.readAllBytes(bytesOf(json)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theBytesGiveTheJson(Path json) throws IOException {
        byte[] bytes = Files.readAllBytes(bytesOf(json));
        int length = bytes.length - SINGLE_OBJECT_HEADER_BYTES;

        GenericRecord read = new GenericDatumReader<GenericRecord>(SCHEMA)
                .read(null, DecoderFactory.get().binaryDecoder(bytes, SINGLE_OBJECT_HEADER_BYTES, length, null));

        assertThat(read).isEqualTo(recordOf(json));
    }

    @Test
    void everyGoldenBatchHasBoth() {
        assertThat(cases())
                .hasSizeGreaterThanOrEqualTo(5)
                .allSatisfy(json -> assertThat(bytesOf(json)).exists());
    }

    private static Path bytesOf(Path json) {
        return json.resolveSibling(json.getFileName().toString().replace(".json", ".avro"));
    }

    private static GenericRecord recordOf(Path json) throws IOException {
        return new GenericDatumReader<GenericRecord>(SCHEMA)
                .read(null, DecoderFactory.get().jsonDecoder(SCHEMA, Schemas.text(json)));
    }

    private static byte[] singleObject(GenericRecord batch) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(new byte[] {(byte) 0xc3, 0x01});
        long fingerprint = SchemaNormalization.parsingFingerprint64(SCHEMA);
        out.writeBytes(ByteBuffer.allocate(Long.BYTES)
                .putLong(Long.reverseBytes(fingerprint))
                .array());
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(SCHEMA).write(batch, encoder);
        return out.toByteArray();
    }
}
