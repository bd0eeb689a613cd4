// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MigrationTest {
    private static final Migration FIRST = new Migration(1, "V001__a.sql", "CREATE a", "c1");
    private static final Migration SECOND = new Migration(2, "V002__b.sql", "CREATE b", "c2");

    @TempDir
    private Path directory;

    @Test
    void filesComeInTheOrderOfTheirNumbers() throws IOException {
        write("V002__views.sql", "SELECT 2");
        write("V001__tables.sql", "SELECT 1");
        write("README.md", "not a migration");

        List<Migration> migrations = Migration.readAll(directory);

        assertThat(migrations).extracting(Migration::name).containsExactly("V001__tables.sql", "V002__views.sql");
        assertThat(migrations.get(0).checksum())
                .as("sha256sum of the file")
                .isEqualTo("e004ebd5b5532a4b85984a62f8ad48a81aa3460c1ca07701f386135d72cdecf5");
    }

    @Test
    void numbersMayLeaveGaps() throws IOException {
        write("V001__tables.sql", "SELECT 1");
        write("V010__views.sql", "SELECT 10");

        assertThat(Migration.readAll(directory)).extracting(Migration::version).containsExactly(1, 10);
    }

    @Test
    void aNumberThatComesTwiceIsRefused() throws IOException {
        write("V003__tables.sql", "SELECT 1");
        write("V003__views.sql", "SELECT 3");

        assertThatThrownBy(() -> Migration.readAll(directory))
                .hasMessageEndingWith(" has two migrations V003: expected a number for each");
    }

    @Test
    void anotherNameIsRefused() throws IOException {
        write("V1__tables.sql", "SELECT 1");

        assertThatThrownBy(() -> Migration.readAll(directory)).hasMessageContaining("V1__tables.sql: expected a name");
    }

    @Test
    void theShippedMigrationsAreEachOneStatement() throws IOException {
        List<Migration> migrations =
                Migration.readAll(Path.of(System.getProperty("chokepoint.root"), "schemas/clickhouse"));

        assertThat(migrations).isNotEmpty();
        assertThat(migrations)
                .allSatisfy(migration -> assertThat(migration.statement())
                        .as(migration.name())
                        .startsWith("-- SPDX-License-Identifier: Apache-2.0\n")
                        .doesNotContain(";\n")
                        .containsAnyOf("CREATE TABLE IF NOT EXISTS ", "CREATE OR REPLACE VIEW ", " IF NOT EXISTS "));
    }

    /** Rows with one key replace each other only where they meet: what spreads a table over shards is part of its key. */
    @Test
    void aClusterKeepsRowsWithOneKeyInOneShard() throws IOException {
        Pattern sharded = Pattern.compile("cityHash64\\((\\w+)\\)");
        Pattern key = Pattern.compile("(?m)^ORDER BY (.*)$");
        List<String> spread = new ArrayList<>();
        for (Migration migration :
                Migration.readAll(Path.of(System.getProperty("chokepoint.root"), "schemas/clickhouse"))) {
            List<String> statements = new Cluster("main", "db").statements(migration.statement());
            Matcher order = key.matcher(migration.statement());
            if (statements.size() == 2 && order.find()) {
                Matcher shard = sharded.matcher(statements.get(1));
                assertThat(shard.find()).as(migration.name()).isTrue();
                assertThat(order.group(1).split("\\W+")).as(migration.name()).contains(shard.group(1));
                spread.add(migration.name());
            }
        }
        assertThat(spread).hasSizeGreaterThan(5);
    }

    @Test
    void whatWasAppliedMayBeABeginning() {
        assertThatCode(() -> Tables.check(List.of(FIRST, SECOND), Map.of(), "db"))
                .doesNotThrowAnyException();
        assertThatCode(() -> Tables.check(List.of(FIRST, SECOND), Map.of(1, "c1"), "db"))
                .doesNotThrowAnyException();
    }

    @Test
    void aFileThatChangedAfterItWasAppliedIsRefused() {
        assertThatThrownBy(() -> Tables.check(List.of(FIRST, SECOND), Map.of(1, "other"), "db"))
                .isInstanceOf(IOException.class)
                .hasMessage("V001__a.sql was changed after it was applied to database db: expected the change as a new"
                        + " migration");
    }

    @Test
    void aNewerDatabaseIsRefused() {
        assertThatThrownBy(() -> Tables.check(List.of(FIRST, SECOND), Map.of(1, "c1", 2, "c2", 3, "c3"), "db"))
                .hasMessage(
                        "database db is at version 3, which this release does not know (its newest is 2): expected the"
                                + " release that migrated it, or a newer one");
    }

    @Test
    void aNumberThatArrivesBelowTheNewestIsNoFault() {
        assertThatCode(() -> Tables.check(List.of(FIRST, SECOND), Map.of(2, "c2"), "db"))
                .doesNotThrowAnyException();
    }

    @Test
    void aNumberOfAnotherReleaseInAGapIsRefused() {
        Migration third = new Migration(3, "V003__c.sql", "CREATE c", "c3");

        assertThatThrownBy(() -> Tables.check(List.of(FIRST, third), Map.of(1, "c1", 2, "c2"), "db"))
                .hasMessageStartingWith(
                        "database db is at version 2, which this release does not know (its newest is 3)");
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(directory.resolve(name), text);
    }
}
