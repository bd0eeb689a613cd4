// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.row;

/**
 * Names a flow at a tap.
 *
 * @param flowId the same at every tap if a SYN or SYN-ACK was seen
 * @param tap name of the tap
 * @param clientHigh first 8 bytes of the client's address as IPv6; IPv4 is {@code ::ffff:a.b.c.d}
 * @param clientLow last 8 bytes of the client's address
 * @param clientPort 0..65535
 * @param serverHigh as {@code clientHigh}
 * @param serverLow as {@code clientLow}
 * @param serverPort 0..65535
 * @param vlan VLAN id or {@link Row#NULL}
 * @param tunnelId tunnel id or {@link Row#NULL}
 * @param clientTenant whose the client is, by {@link Tenants}; empty if that is not told
 * @param serverTenant as {@code clientTenant}
 */
public record FlowIdentity(
        long flowId,
        String tap,
        long clientHigh,
        long clientLow,
        int clientPort,
        long serverHigh,
        long serverLow,
        int serverPort,
        long vlan,
        long tunnelId,
        String clientTenant,
        String serverTenant) {}
