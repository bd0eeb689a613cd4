// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.capture;

import java.util.Arrays;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A flow as rows name it. Addresses are numbers, not names: the probe reads them, nobody is asked. */
record Flow(String clientIp, int clientPort, String serverIp, int serverPort) {
    private static final String OCTET = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
    private static final Pattern IPV4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");
    private static final Pattern IPV6_GROUPS = Pattern.compile("[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*");
    private static final int IPV6_GROUP_COUNT = 8;
    private static final Pattern ENDPOINT = Pattern.compile("(?:\\[([^]]+)]|([^:]+)):(\\d{1,5})");
    private static final int PORT_MAX = 0xffff;

    /** Reads {@code CLIENT:PORT>SERVER:PORT}, IPv6 in brackets; null if it is none. */
    static @Nullable Flow parse(String text) {
        String[] ends = text.split(">", -1);
        if (ends.length != 2) {
            return null;
        }
        Matcher client = ENDPOINT.matcher(ends[0].strip());
        Matcher server = ENDPOINT.matcher(ends[1].strip());
        if (!client.matches() || !server.matches()) {
            return null;
        }
        return of(address(client), client.group(3), address(server), server.group(3));
    }

    private static String address(Matcher endpoint) {
        String bracketed = endpoint.group(1);
        return bracketed == null ? endpoint.group(2) : bracketed;
    }

    /** Reads the columns of a row, as labels of an alert have them; null if they name no flow. */
    static @Nullable Flow ofLabels(Map<String, String> labels) {
        String clientIp = labels.get("client_ip");
        String clientPort = labels.get("client_port");
        String serverIp = labels.get("server_ip");
        String serverPort = labels.get("server_port");
        if (clientIp == null || clientPort == null || serverIp == null || serverPort == null) {
            return null;
        }
        return of(clientIp, clientPort, serverIp, serverPort);
    }

    private static @Nullable Flow of(String clientIp, String clientPort, String serverIp, String serverPort) {
        boolean areIpv4 = isIpv4(clientIp) && isIpv4(serverIp);
        boolean areIpv6 = isIpv6(clientIp) && isIpv6(serverIp);
        if ((!areIpv4 && !areIpv6) || !isPort(clientPort) || !isPort(serverPort)) {
            return null;
        }
        return new Flow(clientIp, Integer.parseInt(clientPort), serverIp, Integer.parseInt(serverPort));
    }

    private static boolean isIpv4(String text) {
        return IPV4.matcher(text).matches();
    }

    /** As inet_pton(3) of the probe reads it: eight groups, :: for one or more, the last two maybe as IPv4. */
    private static boolean isIpv6(String text) {
        int last = text.lastIndexOf(':') + 1;
        String groups = isIpv4(text.substring(last)) ? text.substring(0, last) + "0:0" : text;
        String[] halves = groups.split("::", -1);
        if (halves.length == 1) {
            return IPV6_GROUPS.matcher(groups).matches() && count(groups) == IPV6_GROUP_COUNT;
        }
        return halves.length == 2
                && Arrays.stream(halves)
                        .allMatch(half ->
                                half.isEmpty() || IPV6_GROUPS.matcher(half).matches())
                && count(halves[0]) + count(halves[1]) < IPV6_GROUP_COUNT;
    }

    private static int count(String groups) {
        return groups.isEmpty() ? 0 : groups.split(":", -1).length;
    }

    private static boolean isPort(String text) {
        return text.matches("\\d{1,5}") && Integer.parseInt(text) <= PORT_MAX;
    }

    /** The flow as part of the name of a file. */
    String fileText() {
        return (clientIp + "-" + clientPort + "_" + serverIp + "-" + serverPort).replace(':', '.');
    }

    @Override
    public String toString() {
        return endpoint(clientIp, clientPort) + ">" + endpoint(serverIp, serverPort);
    }

    private static String endpoint(String ip, int port) {
        return (ip.contains(":") ? "[" + ip + "]" : ip) + ":" + port;
    }
}
