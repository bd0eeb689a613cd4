// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.cli.migrate;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The statements of a migration for a cluster of ClickHouse, made of those for one server, so that there is one copy of each table.
 *
 * <p>A table {@code X} becomes {@code X_local} on each replica, replicated, and {@code X} in front of all shards: jobs and views go
 * on using {@code X}. All rows with one key are in one shard, as rows are replaced there; those of a flow at all taps too.
 * What runs by the clock is made on one server only, whose answer is that of all.
 */
final class Cluster {
    private static final Pattern TABLE = Pattern.compile("(?m)^CREATE TABLE IF NOT EXISTS (\\w+)( AS (\\w+))?$");
    private static final Pattern ENGINE = Pattern.compile("(?m)^ENGINE = ReplacingMergeTree(?:\\((\\w+)\\))?$");
    private static final Pattern VIEW = Pattern.compile("(?m)^CREATE OR REPLACE VIEW (\\w+)$");
    private static final Pattern ALTER = Pattern.compile("(?m)^ALTER TABLE (\\w+)$");
    private static final Pattern SHARDED_BY = Pattern.compile("(?m)^    (path_id|flow_id|tap|row) ");

    private final String name;
    private final String database;

    /** Both names are of letters, digits and _. */
    Cluster(String name, String database) {
        this.name = name;
        this.database = database;
    }

    /** What creates the database. */
    String databaseStatement() {
        return "CREATE DATABASE IF NOT EXISTS " + database + " ON CLUSTER " + name + " ENGINE = Atomic";
    }

    /** What a migration runs here, in this order. */
    List<String> statements(String statement) {
        Matcher table = TABLE.matcher(statement);
        Matcher engine = ENGINE.matcher(statement);
        if (table.find() && engine.find()) {
            return table(statement, table, engine);
        }
        Matcher alter = ALTER.matcher(statement);
        if (alter.find()) { // the rows first: what stands in front asks them for all of its columns
            return List.of(
                    alter.replaceFirst("ALTER TABLE $1_local ON CLUSTER " + name),
                    alter.replaceFirst("ALTER TABLE $1 ON CLUSTER " + name));
        }
        Matcher view = VIEW.matcher(statement);
        return List.of(view.replaceFirst("CREATE OR REPLACE VIEW $1 ON CLUSTER " + name));
    }

    private List<String> table(String statement, Matcher table, Matcher engine) {
        String distributed = table.group(1);
        String local = distributed + "_local";
        String like = table.group(3) == null ? "" : " AS " + table.group(3) + "_local";
        String version = engine.group(1) == null ? "" : ", " + engine.group(1);
        String replicated = "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}'"
                + version + ")";
        Matcher column = SHARDED_BY.matcher(statement);
        String shardedBy = column.find() ? column.group(1) : "flow_id"; // of a table like another one
        List<String> statements = new ArrayList<>();
        statements.add(ENGINE.matcher(table.replaceFirst(
                        Matcher.quoteReplacement("CREATE TABLE IF NOT EXISTS " + local + " ON CLUSTER " + name + like)))
                .replaceFirst(Matcher.quoteReplacement(replicated)));
        statements.add("CREATE TABLE IF NOT EXISTS " + distributed + " ON CLUSTER " + name + " AS " + local
                + "\nENGINE = Distributed(" + name + ", " + database + ", " + local + ", cityHash64(" + shardedBy
                + "))");
        return statements;
    }
}
