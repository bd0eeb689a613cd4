// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import com.clickhouse.client.api.query.GenericRecord;
import java.io.IOException;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Brings the tables of a database forward to the newest migration.
 *
 * <p>What was applied is remembered with its checksum. A statement is applied before it is remembered and may run twice,
 * so a migration that was interrupted is finished by the next one, and two at once do each other no harm.
 */
final class Tables {
    private static final String REMEMBER = """
            CREATE TABLE IF NOT EXISTS schema_migrations
            (
                version UInt32 COMMENT 'Number of the migration.',
                name String COMMENT 'Its file.',
                checksum FixedString(64) COMMENT 'SHA-256 of the file, hexadecimal.',
                applied_at DateTime('UTC') DEFAULT now() COMMENT 'When it was applied. Unit: instant.'
            )
            ENGINE = ReplacingMergeTree
            ORDER BY version
            COMMENT 'Migrations that were applied, by chokepoint migrate.'\
            """;

    private final ClickHouse.Access access;
    private final @Nullable Cluster cluster;
    private final PrintStream out;

    /** @param cluster what to make the tables on; null for the one server */
    Tables(ClickHouse.Access access, @Nullable Cluster cluster, PrintStream out) {
        this.access = access;
        this.cluster = cluster;
        this.out = out;
    }

    /** Prints what {@link #migrate} would run on a server without any tables. */
    void print(List<Migration> migrations) {
        if (cluster != null) {
            out.println(cluster.databaseStatement() + ";");
        }
        for (Migration migration : migrations) {
            statements(migration).forEach(statement -> out.println(statement.strip() + ";\n"));
        }
    }

    private List<String> statements(Migration migration) {
        return cluster == null ? List.of(migration.statement()) : cluster.statements(migration.statement());
    }

    /** Applies what is missing; refuses a database that is not a state this release has been in. */
    void migrate(List<Migration> migrations) throws IOException, InterruptedException {
        createDatabase();
        try (ClickHouse database = ClickHouse.of(access)) {
            database.execute(REMEMBER);
            Map<Integer, String> applied = applied(database);
            check(migrations, applied, access.database());
            List<Migration> missing = migrations.stream()
                    .filter(migration -> !applied.containsKey(migration.version()))
                    .toList();
            for (Migration migration : missing) {
                apply(database, migration);
            }
            out.println("tables: " + access.database() + " is at version " + newest(migrations) + ", "
                    + (missing.isEmpty() ? "nothing to do" : missing.size() + " migrations applied"));
        }
    }

    private void createDatabase() throws IOException, InterruptedException {
        try (ClickHouse server = ClickHouse.withoutDatabase(access)) {
            String exists = "SELECT 1 AS found FROM system.databases WHERE name = '" + access.database() + "'";
            if (server.rows(exists).isEmpty()) {
                // Atomic: the default engine of some servers cannot swap tables.
                server.execute(
                        cluster != null
                                ? cluster.databaseStatement()
                                : "CREATE DATABASE IF NOT EXISTS " + access.database() + " ENGINE = Atomic");
            }
        }
    }

    private static Map<Integer, String> applied(ClickHouse database) throws IOException {
        Map<Integer, String> checksums = new HashMap<>();
        for (GenericRecord row : database.rows("SELECT version, checksum FROM schema_migrations FINAL")) {
            checksums.put(row.getInteger("version"), row.getString("checksum"));
        }
        return checksums;
    }

    private static int newest(List<Migration> migrations) {
        return migrations.stream().mapToInt(Migration::version).max().orElse(0);
    }

    /**
     * Refuses a database in which something was applied that {@code migrations} do not have as it was. What they have beyond
     * it is applied in the order of the numbers, also below the newest: what was made side by side arrives in any order.
     */
    static void check(List<Migration> migrations, Map<Integer, String> applied, String database) throws IOException {
        Map<Integer, Migration> known = new HashMap<>();
        migrations.forEach(migration -> known.put(migration.version(), migration));
        for (Map.Entry<Integer, String> entry :
                new TreeMap<>(applied).descendingMap().entrySet()) {
            Migration migration = known.get(entry.getKey());
            if (migration == null) {
                throw new IOException("database " + database + " is at version " + entry.getKey()
                        + ", which this release does not know (its newest is " + newest(migrations)
                        + "): expected the release that migrated it, or a newer one");
            }
            if (!migration.checksum().equals(entry.getValue())) {
                throw new IOException(migration.name() + " was changed after it was applied to database " + database
                        + ": expected the change as a new migration");
            }
        }
    }

    private void apply(ClickHouse database, Migration migration) throws IOException, InterruptedException {
        try {
            for (String statement : statements(migration)) {
                database.execute(statement);
            }
            database.execute("INSERT INTO schema_migrations (version, name, checksum) VALUES (" + migration.version()
                    + ", '" + migration.name() + "', '" + migration.checksum() + "')");
        } catch (IOException e) {
            throw new IOException(migration.name() + " failed: " + e.getMessage(), e);
        }
        out.println("tables: applied " + migration.name());
    }
}
