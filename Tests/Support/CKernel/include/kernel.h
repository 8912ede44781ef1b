#ifndef SHAPEEDIT_TESTS_KERNEL_H
#define SHAPEEDIT_TESTS_KERNEL_H

/* System calls and numbers that Swift's Glibc module leaves out because they need _GNU_SOURCE.
   That macro cannot be set here: it changes types which the Glibc module has already. */
#include <linux/falloc.h>
#include <spawn.h>
#include <sys/syscall.h>

enum {
    RENAME_NOREPLACE = 1,
    RENAME_EXCHANGE = 2,
    SEEK_DATA = 3,
    SEEK_HOLE = 4,
    XATTR_CREATE = 1,
    XATTR_REPLACE = 2,
    PR_SET_PDEATHSIG = 1,
    PR_SET_DUMPABLE = 4,
    MFD_CLOEXEC = 1,
};

/* These are of C's type int, as flags and commands are. */
static const int O_PATH = 010000000;
static const int O_NOATIME = 01000000;
#ifdef __aarch64__
static const int O_DIRECT = 0200000;
#else
static const int O_DIRECT = 040000;
#endif
static const int F_OFD_GETLK = 36;
static const int F_OFD_SETLK = 37;
static const int F_OFD_SETLKW = 38;

/* utimensat's special nanoseconds. */
static const long UtimeNow = (1l << 30) - 1;
static const long UtimeOmit = (1l << 30) - 2;

/* The system call as it is, without glibc's emulations: the result, or -errno. */
long kernel_call(long number, long a, long b, long c, long d, long e, long f);

/* A fork without glibc's handlers: 0 in the child. The caller must have one thread. */
long kernel_fork(void);

/* Makes a program to be spawned start in directory. */
int kernel_spawn_in(posix_spawn_file_actions_t *actions, const char *directory);

#endif
