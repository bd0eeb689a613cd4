// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import io.chokepoint.cli.ExitCode;
import io.chokepoint.cli.WrongOption;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code chokepoint migrate}: creates topics and tables, or brings them to this release. Running it again is harmless. */
public final class Migrate {
    /** What is printed for {@code help migrate}. */
    public static final String USAGE = """
            usage: chokepoint migrate [OPTION]...
            Creates the topics and the tables, or brings them to this version. Running it again does no harm.

              --kafka HOST:PORT,...     brokers (CHOKEPOINT_KAFKA, default 127.0.0.1:19092)
              --partitions N            partitions of new topics for segments; the number of one that is there never changes
              --replication N           copies of new topics (default: the brokers' choice)
              --clickhouse URL          HTTP interface (CHOKEPOINT_CLICKHOUSE, default http://127.0.0.1:18123)
              --database NAME           database, created if missing (CHOKEPOINT_CLICKHOUSE_DATABASE, default chokepoint)
              --user NAME               who may create tables (CHOKEPOINT_CLICKHOUSE_ADMIN_USER, default chokepoint_admin)
              --password-file FILE      password (else CHOKEPOINT_CLICKHOUSE_PASSWORD or CHOKEPOINT_CLICKHOUSE_ADMIN_PASSWORD)
              --cluster NAME            make replicated tables, sharded by flow, on this cluster of the server
              --only topics|tables|sql  leave the other alone; sql: print the statements of the tables and run nothing
              --schemas DIRECTORY       folder with clickhouse/ and kafka/ (default: that of the sources)
            """;

    private static final Set<String> OPTIONS = Set.of(
            "--kafka",
            "--partitions",
            "--replication",
            "--clickhouse",
            "--database",
            "--user",
            "--password-file",
            "--cluster",
            "--only",
            "--schemas");
    private static final Set<String> PARTITIONED_BY_FLOW = Set.of("tcp-segments", "tcp-segments-replay");
    private static final int MAX_PARTITIONS = 65_536;
    private static final int MAX_REPLICATION = 15;

    private Migrate() {}

    /** Runs the command. */
    public static int run(String... args) throws WrongOption, IOException, InterruptedException {
        return run(Settings.processEnvironment(), System.out, args);
    }

    static int run(Map<String, String> environment, PrintStream out, String... args)
            throws WrongOption, IOException, InterruptedException {
        Settings settings = Settings.parse(OPTIONS, environment, args);
        if (!settings.arguments().isEmpty()) {
            throw new WrongOption("argument " + settings.arguments().get(0) + " is not expected");
        }
        Path schemas = schemas(settings);
        List<TopicSpec> topics = topics(schemas, settings);
        List<Migration> migrations = Migration.readAll(schemas.resolve("clickhouse"));
        ClickHouse.Access access = settings.access("ADMIN", "chokepoint_admin");
        String brokers = settings.get("--kafka", "CHOKEPOINT_KAFKA", "127.0.0.1:19092");
        Integer replication = settings.integer("--replication", 1, MAX_REPLICATION);
        String only = settings.get("--only", "", "");

        if (!Set.of("", "topics", "tables", "sql").contains(only)) {
            throw new WrongOption("option --only is '" + only + "': expected topics, tables or sql");
        }
        Tables tables = new Tables(access, cluster(settings, access.database()), out);
        if (only.equals("sql")) {
            tables.print(migrations);
            return ExitCode.OK;
        }
        if (!only.equals("tables")) {
            Topics.migrate(brokers, topics, replication, settings.get("--partitions") != null, out);
        }
        if (!only.equals("topics")) {
            tables.migrate(migrations);
        }
        return ExitCode.OK;
    }

    private static @Nullable Cluster cluster(Settings settings, String database) throws WrongOption {
        String name = settings.get("--cluster");
        if (name != null && !name.matches("[A-Za-z_][A-Za-z0-9_]*")) {
            throw new WrongOption("option --cluster is '" + name + "': expected letters, digits and _");
        }
        return name == null ? null : new Cluster(name, database);
    }

    private static Path schemas(Settings settings) throws WrongOption {
        String given = settings.get("--schemas");
        Path schemas = Path.of(given != null ? given : System.getProperty("chokepoint.root", ".") + "/schemas");
        if (!Files.isDirectory(schemas.resolve("clickhouse"))) {
            throw new WrongOption(
                    "option --schemas is '" + schemas + "': expected a folder with clickhouse/ and kafka/");
        }
        return schemas;
    }

    private static List<TopicSpec> topics(Path schemas, Settings settings) throws WrongOption, IOException {
        Integer partitions = settings.integer("--partitions", 1, MAX_PARTITIONS);
        return TopicSpec.readAll(schemas.resolve("kafka/topics.properties")).stream()
                .map(topic -> partitions != null && PARTITIONED_BY_FLOW.contains(topic.name())
                        ? topic.withPartitions(partitions)
                        : topic)
                .toList();
    }
}
