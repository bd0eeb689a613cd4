// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.testkit.sim;

/**
 * How fast the path delivered between the sending of a segment and its ACK
 * (draft-ietf-ccwg-bbr, delivery rate estimation).
 *
 * @param deliveredBytes of the connection so far
 * @param deliveredAtSendBytes the same when the segment left
 * @param bytesPerNano the lower of sending and ACK rate; 0 if it can't be told
 * @param roundTripNs of the segment; 0 if it was sent twice
 * @param applicationLimited whether the sender had nothing more to send at that time
 */
record DeliverySample(
        long deliveredBytes,
        long deliveredAtSendBytes,
        long arrivedBytes,
        double bytesPerNano,
        long roundTripNs,
        boolean applicationLimited) {}
