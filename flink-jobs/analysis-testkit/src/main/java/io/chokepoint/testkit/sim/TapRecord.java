// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

import io.chokepoint.testkit.Flow;
import io.chokepoint.testkit.Packet;

/** A packet as one line of a capture. */
record TapRecord(Flow flow, Packet packet) {
    long timeNs() {
        return packet.timeNs();
    }
}
