// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job.group;

import io.chokepoint.analysis.group.Observation;
import io.chokepoint.job.ValueSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Observations in the state of a window, which lives for minutes. */
final class ObservationSerializer extends ValueSerializer<Observation> {
    private static final long serialVersionUID = 1L;

    @Override
    public void serialize(Observation observation, DataOutputView target) throws IOException {
        observation.writeTo(target);
    }

    @Override
    public Observation deserialize(DataInputView source) throws IOException {
        return Observation.readFrom(source);
    }

    @Override
    public TypeSerializerSnapshot<Observation> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Remembers the class only. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Observation> {
        public Snapshot() {
            super(ObservationSerializer::new);
        }
    }
}
