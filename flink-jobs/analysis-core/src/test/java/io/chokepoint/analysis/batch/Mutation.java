// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import java.io.ByteArrayOutputStream;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;

/** Damages bytes: each edit replaces some of them by others, which are biased to what a decoder trips over. */
record Mutation(List<Edit> edits) {
    /**
     * Replaces bytes.
     *
     * @param where modulo the length of the bytes
     */
    record Edit(int where, int removed, byte[] inserted) {}

    static Arbitrary<Mutation> any() {
        Arbitrary<byte[]> inserted = Arbitraries.of(
                bytes(),
                bytes(0),
                bytes(1),
                bytes(0x7f),
                bytes(0x80),
                bytes(0xff),
                bytes(0x80, 0x00),
                bytes(0xfe, 0xff, 0xff, 0xff, 0x0f), // int 2^31-1
                bytes(0xff, 0xff, 0xff, 0xff, 0x0f), // int -2^31
                bytes(0x80, 0x80, 0x80, 0x80, 0x10), // 2^31 in zigzag
                bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), // long -2^63
                bytes(0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), // long 2^63-1
                bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff));
        Arbitrary<Edit> edits = Combinators.combine(
                        Arbitraries.integers().between(0, 1 << 20),
                        Arbitraries.of(0, 1, 1, 1, 2, 5),
                        Arbitraries.oneOf(
                                inserted,
                                Arbitraries.bytes().array(byte[].class).ofSize(1)))
                .as(Edit::new);
        return edits.list().ofMinSize(1).ofMaxSize(3).map(Mutation::new).withoutEdgeCases();
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    byte[] applyTo(byte[] original) {
        byte[] bytes = original;
        for (Edit edit : edits) {
            int where = edit.where() % (bytes.length + 1);
            int after = Math.min(bytes.length, where + edit.removed());
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.write(bytes, 0, where);
            out.writeBytes(edit.inserted());
            out.write(bytes, after, bytes.length - after);
            bytes = out.toByteArray();
        }
        return bytes;
    }
}
