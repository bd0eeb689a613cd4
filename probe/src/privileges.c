/* SPDX-License-Identifier: Apache-2.0 */
#include "privileges.h"

#include "syscall_filter.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEFAULT_USER "nobody"

/* The leak sanitizer stops all threads by ptrace(), from a process of its own. */
#if defined(__SANITIZE_ADDRESS__)
#define CKP_HAS_SANITIZER true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CKP_HAS_SANITIZER true
#endif
#endif
#ifndef CKP_HAS_SANITIZER
#define CKP_HAS_SANITIZER false
#endif

bool ckp_privileges_check(struct ckp_options *options)
{
    const char *name = ckp_option_text(options, CKP_OPTION_USER);
    const struct passwd *user = name ? getpwnam(name) : NULL;

    if (!name || (user && (geteuid() == 0 || user->pw_uid == geteuid())))
        return true;
    snprintf(options->error, sizeof options->error,
             user ? "option --user: only root can become '%s'"
                  : "option --user: '%s' is no user of this machine",
             name);
    return false;
}

/* Root of a container may have been left without the right to become another. */
static bool can_become_another(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct mine[_LINUX_CAPABILITY_U32S_3] = {0};
    const uint32_t needed = 1u << CAP_SETUID | 1u << CAP_SETGID;

    return syscall(SYS_capget, &header, mine) == 0 && (mine[0].effective & needed) == needed;
}

/* The C library does this for all threads; capabilities go with the user. */
static bool become(const struct passwd *user)
{
    return setgroups(0, NULL) == 0 && setresgid(user->pw_gid, user->pw_gid, user->pw_gid) == 0 &&
           setresuid(user->pw_uid, user->pw_uid, user->pw_uid) == 0;
}

/* Who is not root may have got some by the program's file, and root may stay root. */
bool ckp_privileges_drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

    return syscall(SYS_capset, &header, none) == 0;
}

bool ckp_privileges_drop(const struct ckp_options *options, char *why, size_t why_size)
{
    const char *name = ckp_option_text(options, CKP_OPTION_USER);
    const struct passwd *user = NULL;
    bool is_root = geteuid() == 0;

    if (is_root && !can_become_another()) {
        if (name && strcmp(name, "root") != 0) {
            snprintf(why, why_size,
                     "this root cannot become %s: it lacks CAP_SETUID or CAP_SETGID, without which "
                     "it stays root if there is no --user",
                     name);
            return false;
        }
        is_root = false; /* with no more rights than anyone who keeps his identity */
    }
    if (is_root) {
        errno = 0;
        user = getpwnam(name ? name : DEFAULT_USER);
        if (!user) {
            snprintf(why, why_size, "root cannot be given up: there is no user %s, see --user",
                     name ? name : DEFAULT_USER);
            return false;
        }
    }
    if ((user && user->pw_uid != 0 && !become(user)) || !ckp_privileges_drop_capabilities() ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        snprintf(why, why_size, "privileges cannot be given up: %s; with --user root it stays root",
                 strerror(errno));
        return false;
    }
    return CKP_HAS_SANITIZER || ckp_option_text(options, CKP_OPTION_NO_SECCOMP) != NULL ||
           ckp_syscall_filter_load(why, why_size);
}
