// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.group;

import io.chokepoint.analysis.group.GroupWindow;
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
 * @param tellMillis when it will be judged, by the clock of the machine
 * @param cleanMillis when it will be forgotten, by the time of the log
 */
record WindowBooks(GroupWindow window, long tellMillis, long cleanMillis) {
    WindowBooks withOneMore(long tellAt, long cleanAt) {
        return new WindowBooks(window.withOneMore(), tellAt, cleanAt);
    }

    WindowBooks with(GroupWindow next) {
        return new WindowBooks(next, tellMillis, cleanMillis);
    }

    /** Version 2 of the bytes of the state; reads version 1, too. */
    static final class Serializer extends ValueSerializer<WindowBooks> {
        private static final long serialVersionUID = 1L;
        private static final int VERSION = 2;

        @Override
        public void serialize(WindowBooks books, DataOutputView target) throws IOException {
            target.writeByte(VERSION);
            target.writeInt(books.window.stored());
            target.writeBoolean(books.window.isWaiting());
            target.writeLong(books.window.version());
            target.writeLong(books.tellMillis);
            target.writeLong(books.cleanMillis);
            target.writeInt(books.window.told().size());
            for (long group : books.window.told()) {
                target.writeLong(group);
            }
        }

        @Override
        public WindowBooks deserialize(DataInputView source) throws IOException {
            int form = source.readByte();
            if (form < 1 || form > VERSION) {
                throw new IOException("state of a window has version " + form + ", expected up to " + VERSION);
            }
            int stored = source.readInt();
            boolean isWaiting;
            long version = 0; // version 1 counted observations: its rows are of lower versions than those to come
            if (form == 1) {
                long all = source.readLong();
                long judged = source.readLong();
                isWaiting = all != judged;
            } else {
                isWaiting = source.readBoolean();
                version = source.readLong();
            }
            long tell = source.readLong();
            long clean = source.readLong();
            List<Long> told = new ArrayList<>();
            for (int left = source.readInt(); left > 0; left--) {
                told.add(source.readLong());
            }
            return new WindowBooks(new GroupWindow(stored, isWaiting, version, List.copyOf(told)), tell, clean);
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
