// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.group;

import io.chokepoint.analysis.group.Grouping;
import io.chokepoint.analysis.group.Observation;
import io.chokepoint.job.ValueSerializer;
import io.chokepoint.job.ValueType;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** An observation and the tap that made it. */
public record TapObservation(String tap, Observation observation) {
    /** The window of the tap to which it belongs. */
    public TapWindow window() {
        return new TapWindow(tap, Grouping.windowStart(observation));
    }

    /** For Flink. */
    public static TypeInformation<TapObservation> type() {
        return new ValueType<>(TapObservation.class, new Serializer());
    }

    /** Only crosses the network. */
    public static final class Serializer extends ValueSerializer<TapObservation> {
        private static final long serialVersionUID = 1L;

        @Override
        public void serialize(TapObservation element, DataOutputView target) throws IOException {
            target.writeUTF(element.tap);
            element.observation.writeTo(target);
        }

        @Override
        public TapObservation deserialize(DataInputView source) throws IOException {
            return new TapObservation(source.readUTF(), Observation.readFrom(source));
        }

        @Override
        public TypeSerializerSnapshot<TapObservation> snapshotConfiguration() {
            return new Snapshot();
        }

        /** Remembers the class only. */
        public static final class Snapshot extends SimpleTypeSerializerSnapshot<TapObservation> {
            public Snapshot() {
                super(Serializer::new);
            }
        }
    }
}
