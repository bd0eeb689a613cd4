// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.group;

import io.chokepoint.job.ValueSerializer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * What is known of a window beside its observations.
 *
 * @param kept observations in the state
 * @param all observations that came, those thinned out too, repeats not: the version of the rows
 * @param judged observations that had come when the window was judged last
 * @param tellMillis when it will be judged, by the clock of the machine
 * @param cleanMillis when it will be forgotten, by the time of the log
 * @param told names of the groups told of it
 */
record WindowBooks(int kept, long all, long judged, long tellMillis, long cleanMillis, List<Long> told) {
    WindowBooks withOneMore(long tellAt, long cleanAt) {
        return new WindowBooks(kept + 1, all + 1, judged, tellAt, cleanAt, told);
    }

    /** So many are kept; so many had come before and count no more. */
    WindowBooks withKept(int nowKept, int repeated) {
        return new WindowBooks(nowKept, all - repeated, judged, tellMillis, cleanMillis, told);
    }

    WindowBooks asJudged(List<Long> groups) {
        return new WindowBooks(kept, all, all, tellMillis, cleanMillis, groups);
    }

    /** Version 1 of the bytes of the state. */
    static final class Serializer extends ValueSerializer<WindowBooks> {
        private static final long serialVersionUID = 1L;
        private static final int VERSION = 1;

        @Override
        public void serialize(WindowBooks books, DataOutputView target) throws IOException {
            target.writeByte(VERSION);
            target.writeInt(books.kept);
            target.writeLong(books.all);
            target.writeLong(books.judged);
            target.writeLong(books.tellMillis);
            target.writeLong(books.cleanMillis);
            target.writeInt(books.told.size());
            for (long group : books.told) {
                target.writeLong(group);
            }
        }

        @Override
        public WindowBooks deserialize(DataInputView source) throws IOException {
            int version = source.readByte();
            if (version != VERSION) {
                throw new IOException("state of a window has version " + version + ", expected " + VERSION);
            }
            int kept = source.readInt();
            long all = source.readLong();
            long judged = source.readLong();
            long tell = source.readLong();
            long clean = source.readLong();
            List<Long> told = new ArrayList<>();
            for (int left = source.readInt(); left > 0; left--) {
                told.add(source.readLong());
            }
            return new WindowBooks(kept, all, judged, tell, clean, List.copyOf(told));
        }

        @Override
        public TypeSerializerSnapshot<WindowBooks> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only; the bytes tell their version. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<WindowBooks> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }
}
