// SPDX-License-Identifier: Apache-2.0
/*
 * A ClickHouse server made of libchdb.so: clickhouse-local's main, told to open its HTTP and TCP listeners and to stay.
 *
 *   clickhouse_server --config-file=FILE --path=DIR --listen_host=ADDRESS --http_port=N --tcp_port=N ...
 *
 * All arguments are clickhouse-local's own. It stays by inserting, into nothing, from a pipe that nobody writes to.
 * SIGTERM or SIGINT closes the pipe: the insert ends, the engine flushes and the process exits with 0. The signals are
 * waited for by a thread and not handled, so it also ends when it is PID 1 of a container, where unhandled signals are
 * ignored.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_ENGINE 1 /* the engine refused or failed; its message is on stderr */
#define EXIT_SYSTEM 2

/* The one entry of libchdb.so that knows SYSTEM START LISTEN; the library ships without its header. */
struct chdb_result;
struct chdb_result *chdb_query_cmdline(int argc, char **argv);
const char *chdb_result_error(struct chdb_result *result);

struct hold {
    int read_fd;
    int write_fd;
    sigset_t signals;
    atomic_bool released;
};

static void fail(const char *what, int error) {
    fprintf(stderr, "clickhouse_server: %s: %s\n", what, strerror(error));
    _exit(EXIT_SYSTEM);
}

static void *release_on_signal(void *argument) {
    struct hold *hold = argument;
    int signal_number;

    sigwait(&hold->signals, &signal_number);
    fprintf(stderr, "clickhouse_server: stopping on signal %d\n", signal_number);
    hold->released = true;
    close(hold->write_fd);
    return NULL;
}

/* Must run before the engine starts its threads, which then inherit the blocked signals. */
static void hold_until_signal(struct hold *hold) {
    int fds[2];
    pthread_t thread;
    int error;

    if (pipe(fds) != 0)
        fail("pipe", errno);
    hold->read_fd = fds[0];
    hold->write_fd = fds[1];

    sigemptyset(&hold->signals);
    sigaddset(&hold->signals, SIGTERM);
    sigaddset(&hold->signals, SIGINT);
    error = pthread_sigmask(SIG_BLOCK, &hold->signals, NULL);
    if (error == 0)
        error = pthread_create(&thread, NULL, release_on_signal, hold);
    if (error != 0)
        fail("signal thread", error);
    pthread_detach(thread);
}

int main(int argc, char **argv) {
    static struct hold hold;
    char query[256];
    char **arguments = calloc((size_t)argc + 2, sizeof *arguments);
    struct chdb_result *result;
    const char *message;

    if (arguments == NULL)
        fail("arguments", ENOMEM);
    hold_until_signal(&hold);

    /* INFILE and not SELECT FROM file(), which takes a grant to read every file: this session's user has no password. */
    snprintf(query, sizeof query,
             "--query=SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP; "
             "INSERT INTO FUNCTION null('line String') FROM INFILE '/dev/fd/%d' "
             "SETTINGS max_execution_time = 0 FORMAT LineAsString",
             hold.read_fd);
    memcpy(arguments, argv, (size_t)argc * sizeof *arguments);
    arguments[argc] = query;

    result = chdb_query_cmdline(argc + 1, arguments);
    message = result != NULL ? chdb_result_error(result) : "the engine gave no result";
    if (message != NULL && *message != '\0') {
        fprintf(stderr, "clickhouse_server: %s\n", message);
        _exit(EXIT_ENGINE);
    }
    if (!hold.released) {
        fputs("clickhouse_server: the engine ended unasked\n", stderr);
        _exit(EXIT_ENGINE);
    }
    fputs("clickhouse_server: stopped\n", stderr);
    /* The engine is down and its data are flushed; its static destructors would only race with its last threads. */
    _exit(EXIT_SUCCESS);
}
