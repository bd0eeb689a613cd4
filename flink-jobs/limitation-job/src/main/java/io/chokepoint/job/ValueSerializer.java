// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.job;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Serializer of an immutable value, written by hand: what is left to say is how the value becomes bytes and back. All
 * instances of a class are equal.
 */
public abstract class ValueSerializer<T> extends TypeSerializer<T> {
    private static final long serialVersionUID = 1L;

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public TypeSerializer<T> duplicate() {
        return this;
    }

    /** Never asked for: nothing is read into an existing value. */
    @Override
    public T createInstance() {
        throw new UnsupportedOperationException("values are immutable");
    }

    @Override
    public T copy(T from) {
        return from;
    }

    @Override
    public T copy(T from, T reuse) {
        return from;
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        serialize(deserialize(source), target);
    }

    @Override
    public T deserialize(T reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public int getLength() {
        return -1;
    }

    /** Serializers are equal if they are of one class: subclasses have no fields that change bytes. */
    @Override
    @SuppressWarnings("EqualsGetClass")
    public boolean equals(Object other) {
        return other != null && getClass() == other.getClass();
    }

    @Override
    public int hashCode() {
        return getClass().hashCode();
    }
}
