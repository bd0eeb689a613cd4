// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commands shown in the documentation say what the documentation shows. After a change on purpose, {@code mvn -pl
 * integration-tests -am verify -Dtest=none -Dsurefire.failIfNoSpecifiedTests=false -Dit.test=DocumentationIT
 * -Dchokepoint.write=true} writes it anew.
 */
class DocumentationIT {
    private static final Pattern SHOWN = Pattern.compile("```\n\\$ (\\./chokepoint .*)\n([^`]*)```");

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/reading-a-verdict.md"})
    void commandsSayWhatIsShown(String page) throws IOException {
        Path file = Command.ROOT.resolve(page);
        String shown = Files.readString(file);
        Matcher matcher = SHOWN.matcher(shown);
        String real = matcher.replaceAll(DocumentationIT::runAgain);
        if (Boolean.getBoolean("chokepoint.write")) {
            Files.writeString(file, real);
            return;
        }

        assertThat(real).isNotEqualTo(matcher.replaceAll("")).isEqualTo(shown);
    }

    private static String runAgain(MatchResult block) {
        List<String> out = Command.shell(block.group(1)).run().succeeded();
        return Matcher.quoteReplacement("```\n$ " + block.group(1) + "\n" + String.join("\n", out) + "\n```");
    }
}
