// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/** Where the data of a row goes. Constants are part of the contract and only appended. */
public enum Direction {
    CLIENT_TO_SERVER,
    SERVER_TO_CLIENT
}
