// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.rows;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON values as text on one line (RFC 8259). */
public final class JsonText {
    private static final int FIRST_PRINTABLE = 0x20;

    private JsonText() {}

    /** Appends null, a String, a Boolean, a Number, a Map with String keys, or an Iterable of these. */
    public static void append(StringBuilder out, @Nullable Object value) {
        if (value instanceof String text) {
            appendString(out, text);
        } else if (value instanceof Double number) {
            out.append(NumberText.of(number));
        } else if (value instanceof Map<?, ?> map) {
            appendObject(out, map);
        } else if (value instanceof Iterable<?> items) {
            appendArray(out, items);
        } else {
            out.append(value);
        }
    }

    private static void appendObject(StringBuilder out, Map<?, ?> map) {
        out.append('{');
        String separator = "";
        for (Map.Entry<?, ?> member : map.entrySet()) {
            out.append(separator);
            appendString(out, String.valueOf(member.getKey()));
            out.append(':');
            append(out, member.getValue());
            separator = ",";
        }
        out.append('}');
    }

    private static void appendArray(StringBuilder out, Iterable<?> items) {
        out.append('[');
        String separator = "";
        for (Object item : items) {
            out.append(separator);
            append(out, item);
            separator = ",";
        }
        out.append(']');
    }

    private static void appendString(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < FIRST_PRINTABLE) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
