/* SPDX-License-Identifier: Apache-2.0 */
#include "syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* Each returns 0, or errno. */

static int errno_of(long result)
{
    return result < 0 ? errno : 0;
}

static int start_program(void)
{
    return errno_of(execl("/bin/true", "true", NULL));
}

static int start_process(void)
{
    return errno_of(fork());
}

static int mount_something(void)
{
    return errno_of(mount("none", "/nowhere", "tmpfs", 0, NULL));
}

static int become_root(void)
{
    return errno_of(setresuid(0, 0, 0));
}

static int open_raw_socket(void)
{
    return errno_of(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_TCP));
}

static int open_packet_socket(void)
{
    return errno_of(socket(AF_PACKET, SOCK_DGRAM, 0));
}

static int kill_init(void)
{
    return errno_of(kill(1, 0));
}

static int listen_to_others(void)
{
    return errno_of(listen(socket(AF_INET, SOCK_STREAM, 0), 1));
}

static int type_into_terminal(void)
{
    return errno_of(ioctl(0, TIOCSTI, "x"));
}

static int paste_into_terminal(void)
{
    return errno_of(ioctl(0, TIOCLINUX, "\3"));
}

static int type_with_high_bits(void)
{
    return errno_of((int)syscall(SYS_ioctl, 0, 1UL << 32 | TIOCSTI, "x"));
}

static int look_at_input(void)
{
    int waiting;

    return errno_of(ioctl(socket(AF_INET, SOCK_STREAM, 0), FIONREAD, &waiting));
}

static int write_file(void)
{
    return errno_of(open("/dev/null", O_WRONLY));
}

static int create_file(void)
{
    return errno_of(open("/tmp/chokepoint-never", O_RDONLY | O_CREAT, 0600));
}

static int truncate_file(void)
{
    return errno_of(open("/dev/null", O_RDWR | O_TRUNC));
}

static int remove_file(void)
{
    return errno_of(unlink("/tmp/chokepoint-never"));
}

static int read_file(void)
{
    char byte;

    return errno_of(read(open("/dev/zero", O_RDONLY | O_CLOEXEC), &byte, 1));
}

static void *do_nothing(void *unused)
{
    return unused;
}

static int start_thread(void)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, do_nothing, NULL);

    return error ? error : pthread_join(thread, NULL);
}

static int resolve_name(void)
{
    struct addrinfo *found;

    if (getaddrinfo("localhost", "9092", NULL, &found) != 0)
        return EIO;
    freeaddrinfo(found);
    return 0;
}

static int connect_somewhere(void)
{
    return errno_of(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
}

static int talk_to_local_service(void)
{
    return errno_of(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int abort_itself(void)
{
    abort();
}

#define ENDS(number) (-(number)) /* by that signal */

static const struct {
    const char *name;
    int (*call)(void);
    int expected; /* 0, errno, or ENDS() */
} rows[] = {
    {"a program is started", start_program, ENDS(SIGSYS)},
    {"a process is started", start_process, ENDS(SIGSYS)},
    {"something is mounted", mount_something, ENDS(SIGSYS)},
    {"root is taken", become_root, ENDS(SIGSYS)},
    {"a raw socket is made", open_raw_socket, ENDS(SIGSYS)},
    {"a packet socket is made", open_packet_socket, ENDS(SIGSYS)},
    {"another process is signalled", kill_init, ENDS(SIGSYS)},
    {"a service is opened", listen_to_others, ENDS(SIGSYS)},
    {"a terminal is typed into", type_into_terminal, ENDS(SIGSYS)},
    {"a terminal is typed into by another way", paste_into_terminal, ENDS(SIGSYS)},
    {"bits that the kernel does not read hide it", type_with_high_bits, ENDS(SIGSYS)},
    {"another request is made", look_at_input, 0},
    {"a file is opened for writing", write_file, EROFS},
    {"a file is made", create_file, EROFS},
    {"a file is cut", truncate_file, EROFS},
    {"a file is removed", remove_file, EPERM},
    {"a file is read", read_file, 0},
    {"a thread is started", start_thread, 0},
    {"a name is resolved", resolve_name, 0},
    {"a connection is begun", connect_somewhere, 0},
    {"a local service is talked to", talk_to_local_service, EAFNOSUPPORT},
    {"it aborts", abort_itself, ENDS(SIGABRT)},
};

/* In a process of its own, for a filter is for good. Its standard error goes to `sentence`. */
static int result_of(int (*call)(void), char *sentence, size_t size)
{
    char why[256];
    int status, pipe_ends[2];

    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        prctl(PR_SET_DUMPABLE, 0); /* no core files */
        _exit(ckp_syscall_filter_load(why, sizeof why) ? call() : 255);
    }
    close(pipe_ends[1]);
    ssize_t bytes = read(pipe_ends[0], sentence, size - 1);
    sentence[bytes > 0 ? bytes : 0] = '\0';
    close(pipe_ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? ENDS(WTERMSIG(status)) : WEXITSTATUS(status);
}

static void test_what_is_needed_passes_and_nothing_else(void **state)
{
    char sentence[512];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int result = result_of(rows[i].call, sentence, sizeof sentence);
        if (result != rows[i].expected)
            fail_msg("%s: %d instead of %d, %s", rows[i].name, result, rows[i].expected, sentence);
        if (result == ENDS(SIGSYS) && !strstr(sentence, " is none that the probe needs: it ends; "))
            fail_msg("%s: said '%s'", rows[i].name, sentence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_needed_passes_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
