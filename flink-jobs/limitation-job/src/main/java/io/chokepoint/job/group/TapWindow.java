// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.group;

import io.chokepoint.job.ValueSerializer;
import io.chokepoint.job.ValueType;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * A window of a tap: the key of the groups.
 *
 * @param startNanos begin of the window, ns since the epoch
 */
public record TapWindow(String tap, long startNanos) {
    /** The same on every machine: it decides where the state lives. */
    @Override
    public int hashCode() {
        return 31 * tap.hashCode() + Long.hashCode(startNanos);
    }

    /** For Flink. */
    public static TypeInformation<TapWindow> type() {
        return new ValueType<>(TapWindow.class, new Serializer());
    }

    /** The key of savepoints: these bytes never change. */
    public static final class Serializer extends ValueSerializer<TapWindow> {
        private static final long serialVersionUID = 1L;

        @Override
        public void serialize(TapWindow key, DataOutputView target) throws IOException {
            target.writeUTF(key.tap);
            target.writeLong(key.startNanos);
        }

        @Override
        public TapWindow deserialize(DataInputView source) throws IOException {
            return new TapWindow(source.readUTF(), source.readLong());
        }

        @Override
        public TypeSerializerSnapshot<TapWindow> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<TapWindow> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }
}
