// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.capture;

import io.chokepoint.cli.WrongOption;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/**
 * A probe that has a ring.
 *
 * @param url where its {@code --metrics} are
 * @param key content of its {@code --ring-key}, without the line's end
 */
record Probe(URI url, SecretKey key) {
    private static final String HMAC = "HmacSHA256";
    private static final int KEY_BYTES_MIN = 32;
    private static final int PORT_MAX = 65535;
    private static final Pattern LINE = Pattern.compile("(\\S+)\\s+(\\S+)\\s+(.*\\S)\\s*");

    /** Checks what the options say. */
    static Probe of(String url, String keyFile) throws WrongOption {
        return new Probe(
                url(url, "option --probe is '" + url + "'"),
                key(Path.of(keyFile), "option --key is '" + keyFile + "'"));
    }

    /** Reads a file with a line {@code URL KEYFILE TAP} for each tap; lines that start with {@code #} are comments. */
    static Map<String, Probe> ofFile(String file) throws WrongOption {
        Map<String, Probe> probes = new LinkedHashMap<>();
        Path path = Path.of(file);
        try {
            int number = 0;
            for (String line : Files.readAllLines(path)) {
                number++;
                if (line.isBlank() || line.startsWith("#")) {
                    continue;
                }
                String where = "line " + number + " of " + file;
                Matcher matcher = LINE.matcher(line);
                if (!matcher.matches()) {
                    throw new WrongOption(where + " is not URL KEYFILE TAP");
                }
                Path key = path.resolveSibling(matcher.group(2));
                Probe probe =
                        new Probe(url(matcher.group(1), where + ": " + matcher.group(1)), key(key, where + ": " + key));
                if (probes.put(matcher.group(3), probe) != null) {
                    throw new WrongOption(where + " is the second for tap " + matcher.group(3));
                }
            }
        } catch (IOException e) {
            throw new WrongOption("option --probes is '" + file + "': expected a file that can be read");
        }
        return probes;
    }

    /** Where it is asked for a flow; a path of the URL, as of a proxy before several probes, stays before it. */
    URI dumpUrl() {
        return URI.create(url + "/dump");
    }

    private static URI url(String text, String what) throws WrongOption {
        try {
            URI url = URI.create(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
            boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
            boolean isBare = url.getRawQuery() == null && url.getRawFragment() == null;
            if (isHttp && isBare && url.getHost() != null && url.getPort() <= PORT_MAX) {
                return url;
            }
        } catch (IllegalArgumentException e) {
            // said below
        }
        throw new WrongOption(what + ": expected a URL such as http://127.0.0.1:9465");
    }

    private static SecretKey key(Path file, String what) throws WrongOption {
        byte[] content;
        try {
            content = Files.readAllBytes(file);
        } catch (IOException e) {
            throw new WrongOption(what + ": expected a file that can be read");
        }
        int bytes = content.length;
        while (bytes > 0 && (content[bytes - 1] == '\n' || content[bytes - 1] == '\r')) {
            bytes--;
        }
        if (bytes < KEY_BYTES_MIN) {
            throw new WrongOption(what + ": expected the key of the probe, " + KEY_BYTES_MIN + " bytes or more");
        }
        return new SecretKeySpec(content, 0, bytes, HMAC);
    }
}
