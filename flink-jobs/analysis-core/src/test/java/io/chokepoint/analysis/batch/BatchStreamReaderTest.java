// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.chokepoint.testkit.BatchEncoder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class BatchStreamReaderTest {
    private static final byte[] FIRST = {1, 2, 3};
    private static final byte[] SECOND = new byte[100_000];

    static {
        Arrays.fill(SECOND, (byte) 7);
    }

    private static final byte[] STREAM = BatchEncoder.stream(List.of(FIRST, SECOND));

    @Test
    void readsOneValueAfterTheOther() throws IOException {
        BatchStreamReader reader = new BatchStreamReader(new ByteArrayInputStream(STREAM));

        assertThat(reader.next()).isEqualTo(BatchStreamReader.Next.VALUE);
        assertThat(valueOf(reader)).isEqualTo(FIRST);
        assertThat(reader.next()).isEqualTo(BatchStreamReader.Next.VALUE);
        assertThat(valueOf(reader)).isEqualTo(SECOND);
        assertThat(reader.next()).isEqualTo(BatchStreamReader.Next.END);
        assertThat(reader.next()).isEqualTo(BatchStreamReader.Next.END);
    }

    @Test
    void aPipeMayDeliverByteByByte() throws IOException {
        BatchStreamReader reader = new BatchStreamReader(new OneByteAtATime(STREAM));

        assertThat(reader.next()).isEqualTo(BatchStreamReader.Next.VALUE);
        assertThat(reader.next()).isEqualTo(BatchStreamReader.Next.VALUE);
        assertThat(valueOf(reader)).isEqualTo(SECOND);
    }

    @Test
    void aStreamCutAnywhereButBetweenValuesSaysSo() throws IOException {
        for (int length = 0; length < 20; length++) {
            BatchStreamReader.Next expected =
                    length == 0 || length == 7 ? BatchStreamReader.Next.END : BatchStreamReader.Next.CUT;

            assertThat(lastOf(Arrays.copyOf(STREAM, length)))
                    .as("%d bytes", length)
                    .isEqualTo(expected);
        }
        assertThat(lastOf(Arrays.copyOf(STREAM, STREAM.length - 1))).isEqualTo(BatchStreamReader.Next.CUT);
    }

    @Test
    void whatIsNoStreamIsNotBelieved() throws IOException {
        assertThat(lastOf(new byte[] {0, 0, 0, 0})).isEqualTo(BatchStreamReader.Next.BAD_LENGTH);
        assertThat(lastOf(new byte[] {1, 0, 0, 1, 9})).isEqualTo(BatchStreamReader.Next.BAD_LENGTH);
        assertThat(lastOf(new byte[] {-1, -1, -1, -1})).isEqualTo(BatchStreamReader.Next.BAD_LENGTH);
        assertThat(lastOf(new byte[] {0, 0, 0, 1, 9})).isEqualTo(BatchStreamReader.Next.CUT);
    }

    private static byte[] valueOf(BatchStreamReader reader) {
        return Arrays.copyOf(reader.buffer(), reader.length());
    }

    private static BatchStreamReader.Next lastOf(byte[] stream) throws IOException {
        BatchStreamReader reader = new BatchStreamReader(new ByteArrayInputStream(stream));
        List<BatchStreamReader.Next> all = new ArrayList<>();
        do {
            all.add(reader.next());
        } while (all.get(all.size() - 1) == BatchStreamReader.Next.VALUE);
        return all.get(all.size() - 1);
    }

    private static final class OneByteAtATime extends InputStream {
        private final InputStream in;

        OneByteAtATime(byte[] bytes) {
            in = new ByteArrayInputStream(bytes);
        }

        @Override
        public int read() throws IOException {
            return in.read();
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
            return in.read(buffer, offset, Math.min(length, 1));
        }
    }
}
