/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of what is allowed, not of what is forbidden: frames are written by strangers, and whoever
 * takes over the decoder by one should find no program to start, no file to write and no raw
 * socket. Kafka has to be reached again after an outage, so that names are resolved (files are
 * read, sockets of the net are made) and threads are started.
 */
#include "syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Whatever their arguments. */
static const int allowed[] = {
    /* what is open */
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(preadv),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(pwritev),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(fcntl),
    SCMP_SYS(dup),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(eventfd2),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    /* files that are looked at; opening is below */
    SCMP_SYS(fstat),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(fstatfs),
    SCMP_SYS(statfs),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getcwd),
    SCMP_SYS(getdents64),
    /* the net; making sockets is below */
    SCMP_SYS(connect),
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(bind),
    SCMP_SYS(shutdown),
    SCMP_SYS(getsockname),
    SCMP_SYS(getpeername),
    SCMP_SYS(getsockopt),
    SCMP_SYS(setsockopt),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(recvmmsg),
    /* memory */
    SCMP_SYS(brk),
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(mlock),
    SCMP_SYS(munlock),
    SCMP_SYS(mincore),
    SCMP_SYS(mbind),
    SCMP_SYS(get_mempolicy),
    SCMP_SYS(set_mempolicy),
    /* threads; starting them is below */
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(gettid),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(getcpu),
    SCMP_SYS(membarrier),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    /* signals */
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    /* time */
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime),
    SCMP_SYS(timerfd_gettime),
    /* the machine */
    SCMP_SYS(getrandom),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    /* giving up: see ckp_privileges_drop_capabilities() */
    SCMP_SYS(capset),
};

/* What libraries try, and do without: DPDK cleans up files that only root could remove, libxdp the
 * program of an interface. */
static const int refused[] = {
    SCMP_SYS(unlink),      SCMP_SYS(unlinkat), SCMP_SYS(rmdir),     SCMP_SYS(flock),
    SCMP_SYS(setpriority), SCMP_SYS(shmdt),    SCMP_SYS(ftruncate), SCMP_SYS(bpf),
};

/* SCMP_ACT_TRAP in a thread that takes signals. */
static void on_refused(int signal_number, siginfo_t *info, void *context)
{
    char text[128];
    int bytes = snprintf(text, sizeof text,
                         "chokepoint-probe: system call %d is none that the probe needs: it ends; "
                         "--no-seccomp lets all pass\n",
                         info->si_syscall);

    (void)context;
    if (write(STDERR_FILENO, text, (size_t)bytes) == bytes)
        raise(signal_number); /* the handler is gone: this ends the process */
    raise(signal_number);
}

static bool allow_all_of(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
    bool is_done = true;

    for (size_t i = 0; i < count; i++) /* one that this architecture has not is no failure */
        is_done &= calls[i] < 0 || seccomp_rule_add(filter, action, calls[i], 0) == 0;
    return is_done;
}

/* Files are opened to be read; who wants to write is told so, as by a disk that is read-only. */
static bool add_open(scmp_filter_ctx filter, int call, unsigned flags_argument)
{
    const uint64_t writing = O_ACCMODE | O_CREAT | O_TRUNC;
    bool is_done =
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                         SCMP_CMP(flags_argument, SCMP_CMP_MASKED_EQ, writing, O_RDONLY)) == 0;

    for (uint64_t flag = 1; flag <= O_TRUNC; flag <<= 1)
        if (writing & flag)
            is_done &=
                seccomp_rule_add(filter, SCMP_ACT_ERRNO(EROFS), call, 1,
                                 SCMP_CMP(flags_argument, SCMP_CMP_MASKED_EQ, flag, flag)) == 0;
    return is_done;
}

/* A service of this machine may start programs for who talks to it by a local socket. Who resolves
 * a name by one (nscd, systemd-resolved, sssd) is told that there are none, and goes on to files
 * and name servers. */
static bool add_socket(scmp_filter_ctx filter)
{
    static const uint64_t families[] = {AF_INET, AF_INET6, AF_NETLINK};
    static const uint64_t types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW};
    const uint64_t type_bits = 0xf; /* beside SOCK_CLOEXEC and SOCK_NONBLOCK */
    bool is_done = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
                                    SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0)) == 0;

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        for (size_t j = 0; j < sizeof types / sizeof types[0]; j++)
            if (types[j] != SOCK_RAW || families[i] == AF_NETLINK)
                is_done &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2,
                                            SCMP_A0(SCMP_CMP_EQ, families[i], 0),
                                            SCMP_A1(SCMP_CMP_MASKED_EQ, type_bits, types[j])) == 0;
    return is_done;
}

/* All but two, with which a terminal takes input as if its user had typed it: whoever of two values
 * is neither differs in a bit that they share, or in all its other bits from both. Of the request
 * the kernel reads 32 bits. */
static bool add_ioctl(scmp_filter_ctx filter)
{
    const uint32_t request = UINT32_MAX;
    const uint32_t neither = ~(uint32_t)(TIOCSTI | TIOCLINUX);
    const uint32_t shared = (uint32_t)(TIOCSTI & TIOCLINUX) | neither;
    bool is_done = true;

    for (uint32_t bit = 1; bit != 0; bit <<= 1)
        if (shared & bit)
            is_done &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                                        SCMP_A1(SCMP_CMP_MASKED_EQ, bit, neither & bit)) == 0;
    for (uint32_t value = TIOCSTI & shared; value <= (TIOCSTI | ~shared); value++)
        if ((value & shared) == (TIOCSTI & shared) && value != TIOCSTI && value != TIOCLINUX)
            is_done &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                                        SCMP_A1(SCMP_CMP_MASKED_EQ, request, value)) == 0;
    return is_done;
}

/* The flags of clone3() lie where no filter can look; without it the C library takes clone(). */
static bool add_threads(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                            SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
                            SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME, 0)) == 0;
}

static bool add_rules(scmp_filter_ctx filter)
{
    const uint64_t self = (uint64_t)getpid();

    return allow_all_of(filter, SCMP_ACT_ALLOW, allowed, sizeof allowed / sizeof allowed[0]) &&
           allow_all_of(filter, SCMP_ACT_ERRNO(EPERM), refused,
                        sizeof refused / sizeof refused[0]) &&
           add_open(filter, SCMP_SYS(open), 1) && add_open(filter, SCMP_SYS(openat), 2) &&
           add_socket(filter) && add_ioctl(filter) && add_threads(filter) &&
           /* abort(), and the signal that ends a process whose call was refused */
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                            SCMP_A0(SCMP_CMP_EQ, self, 0)) == 0 &&
           /* limits are looked at, not set */
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1,
                            SCMP_A2(SCMP_CMP_EQ, 0, 0)) == 0;
}

bool ckp_syscall_filter_load(char *why, size_t why_size)
{
    const struct sigaction action = {
        .sa_sigaction = on_refused,
        .sa_flags = (int)(SA_SIGINFO | SA_RESETHAND | SA_NODEFER),
    };
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    int error = -ENOMEM;

    sigaction(SIGSYS, &action, NULL);
    if (filter && add_rules(filter) && seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
        seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) == 0)
        error = seccomp_load(filter);
    seccomp_release(filter);
    if (error == 0)
        return true;
    snprintf(why, why_size,
             "the filter of system calls cannot be loaded: %s; --no-seccomp goes without",
             strerror(-error));
    return false;
}
