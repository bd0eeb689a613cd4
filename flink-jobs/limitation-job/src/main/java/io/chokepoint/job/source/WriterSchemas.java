// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.source;

import io.chokepoint.analysis.batch.SegmentBatchReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;

/**
 * Batches of probes that are older or newer than this job: looks the writer's schema up by its fingerprint and lays the
 * record anew in the job's own schema, by Avro's rules of resolution. Slow, and only as long as such probes run.
 */
public final class WriterSchemas implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final int FINGERPRINT_AT = 2;
    private static final short MARKER = (short) 0xc301;

    static {
        // A length in bad bytes must not allocate gigabytes: no record of the topic has more than a megabyte.
        System.setProperty("org.apache.avro.limits.bytes.maxLength", "1048576");
        System.setProperty("org.apache.avro.limits.string.maxLength", "1048576");
        System.setProperty("org.apache.avro.limits.collectionItems.maxLength", "1048576");
    }

    private final Directory directory;
    private transient @Nullable Map<Long, GenericDatumReader<GenericRecord>> readers;
    private transient @Nullable Schema own;

    /** Where schemas are found by their fingerprint. */
    public interface Directory extends Serializable, AutoCloseable {
        /** The schema, if anybody has published it so far; throws if that cannot be told at present. */
        Optional<Schema> find(long fingerprint);

        @Override
        void close();
    }

    /** {@code bytes} as the job reads them, or null and the {@code reason}. */
    static final class Conversion {
        private final byte @Nullable [] bytes;
        private final Rejection reason;

        private Conversion(byte @Nullable [] bytes, Rejection reason) {
            this.bytes = bytes;
            this.reason = reason;
        }

        byte @Nullable [] bytes() {
            return bytes;
        }

        Rejection reason() {
            return reason;
        }
    }

    public WriterSchemas(Directory directory) {
        this.directory = directory;
    }

    /**
     * Of a value that starts with the marker and a fingerprint other than the job's own. Throws what the directory throws:
     * a record must not be refused because a broker was away.
     */
    Conversion convert(byte[] value) {
        long fingerprint = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong(FINGERPRINT_AT);
        GenericDatumReader<GenericRecord> reader = reader(fingerprint);
        if (reader == null) {
            return new Conversion(null, Rejection.UNKNOWN_SCHEMA);
        }
        try {
            int header = SegmentBatchReader.SINGLE_OBJECT_HEADER_BYTES;
            GenericRecord batch =
                    reader.read(null, DecoderFactory.get().binaryDecoder(value, header, value.length - header, null));
            return new Conversion(encode(batch), Rejection.NOT_CONVERTIBLE);
        } catch (IOException | RuntimeException e) {
            // Bytes from outside: the library answers bad ones with exceptions of many kinds.
            return new Conversion(null, Rejection.NOT_CONVERTIBLE);
        }
    }

    private @Nullable GenericDatumReader<GenericRecord> reader(long fingerprint) {
        if (readers == null) {
            readers = new HashMap<>();
        }
        GenericDatumReader<GenericRecord> known = readers.get(fingerprint);
        if (known != null) {
            return known;
        }
        Optional<Schema> writer = directory.find(fingerprint);
        if (writer.isEmpty()) {
            return null;
        }
        GenericDatumReader<GenericRecord> reader = new GenericDatumReader<>(writer.get(), own());
        readers.put(fingerprint, reader);
        return reader;
    }

    private byte[] encode(GenericRecord batch) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(ByteBuffer.allocate(SegmentBatchReader.SINGLE_OBJECT_HEADER_BYTES)
                .putShort(MARKER)
                .putLong(Long.reverseBytes(SegmentBatchReader.FINGERPRINT))
                .array());
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(own()).write(batch, encoder);
        encoder.flush();
        return out.toByteArray();
    }

    private Schema own() {
        if (own == null) {
            own = ownSchema();
        }
        return own;
    }

    /** The schema that this job is made for. */
    static Schema ownSchema() {
        try (InputStream in = WriterSchemas.class.getResourceAsStream("segment_batch.avsc")) {
            if (in == null) {
                throw new IllegalStateException("segment_batch.avsc is not in the jar");
            }
            return new Schema.Parser().parse(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void close() {
        directory.close();
    }
}
