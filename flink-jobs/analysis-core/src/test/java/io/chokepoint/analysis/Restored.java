// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Carries state through bytes, as a restart does. */
public final class Restored {
    /** Writes state. */
    @FunctionalInterface
    public interface Writer {
        void writeTo(DataOutput out) throws IOException;
    }

    /** Reads state into an object. */
    @FunctionalInterface
    public interface Reader<T> {
        void readInto(T object, DataInput in) throws IOException;
    }

    /** Makes an object of state. */
    @FunctionalInterface
    public interface Factory<T> {
        T readFrom(DataInput in) throws IOException;
    }

    private Restored() {}

    /** Returns {@code fresh} after it has read the state; it must read every byte of it. */
    public static <T> T from(Writer original, T fresh, Reader<T> reader) {
        return from(original, in -> {
            reader.readInto(fresh, in);
            return fresh;
        });
    }

    /** Returns what is made of the state; every byte of it must be read. */
    public static <T> T from(Writer original, Factory<T> factory) {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes(original)));
        try {
            T restored = factory.readFrom(in);
            assertThat(in.available()).as("bytes of state left unread").isZero();
            return restored;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is written. */
    public static byte[] bytes(Writer original) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            original.writeTo(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
