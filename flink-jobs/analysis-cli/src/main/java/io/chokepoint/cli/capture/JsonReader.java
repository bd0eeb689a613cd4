// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.capture;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON (RFC 8259) that comes from a program: null, Boolean, Double, String, List and Map. Depth is bounded, for the
 * text may be a stranger's.
 */
final class JsonReader {
    private static final int DEPTH_MAX = 64;
    private static final int HEX_DIGITS = 4;
    private static final int FIRST_PRINTABLE = 0x20;

    private final String text;
    private int at;

    private JsonReader(String text) {
        this.text = text;
    }

    /** The value that the whole text is. */
    static @Nullable Object read(String text) throws IOException {
        JsonReader reader = new JsonReader(text);
        Object value = reader.value(0);
        reader.skipBlanks();
        if (reader.at < text.length()) {
            throw reader.unexpected();
        }
        return value;
    }

    private @Nullable Object value(int depth) throws IOException {
        skipBlanks();
        if (depth > DEPTH_MAX) {
            throw unexpected();
        }
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, @Nullable Object> object(int depth) throws IOException {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        at++;
        skipBlanks();
        if (takes('}')) {
            return members;
        }
        do {
            skipBlanks();
            String name = string();
            skipBlanks();
            expect(':');
            members.put(name, value(depth + 1));
            skipBlanks();
        } while (takes(','));
        expect('}');
        return members;
    }

    private List<@Nullable Object> array(int depth) throws IOException {
        List<@Nullable Object> items = new ArrayList<>();
        at++;
        skipBlanks();
        if (takes(']')) {
            return items;
        }
        do {
            items.add(value(depth + 1));
            skipBlanks();
        } while (takes(','));
        expect(']');
        return items;
    }

    private String string() throws IOException {
        StringBuilder out = new StringBuilder();
        expect('"');
        while (peek() != '"') {
            char c = text.charAt(at);
            if (c < FIRST_PRINTABLE) {
                throw unexpected();
            }
            at++;
            out.append(c == '\\' ? escaped() : c);
        }
        at++;
        return out.toString();
    }

    private char escaped() throws IOException {
        char c = peek();
        at++;
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> codeUnit();
            default -> throw unexpected();
        };
    }

    private char codeUnit() throws IOException {
        int value = 0;
        for (int i = 0; i < HEX_DIGITS; i++) {
            int digit = Character.digit(peek(), 16);
            if (digit < 0) {
                throw unexpected();
            }
            value = value << 4 | digit;
            at++;
        }
        return (char) value;
    }

    private <T extends @Nullable Object> T word(String word, T value) throws IOException {
        if (!text.startsWith(word, at)) {
            throw unexpected();
        }
        at += word.length();
        return value;
    }

    private Double number() throws IOException {
        int start = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(start, at);
        if (!number.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?")) {
            throw unexpected();
        }
        return Double.valueOf(number);
    }

    private void skipBlanks() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean takes(char c) {
        boolean isThere = at < text.length() && text.charAt(at) == c;
        if (isThere) {
            at++;
        }
        return isThere;
    }

    private void expect(char c) throws IOException {
        if (!takes(c)) {
            throw unexpected();
        }
    }

    private char peek() throws IOException {
        if (at >= text.length()) {
            throw unexpected();
        }
        return text.charAt(at);
    }

    private IOException unexpected() {
        return new IOException(
                "no JSON: " + (at < text.length() ? "character " + (at + 1) : "the end") + " is not what was expected");
    }
}
