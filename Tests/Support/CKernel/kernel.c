#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not kernel.h: its enumerators are glibc's macros here. */
long kernel_call(long number, long a, long b, long c, long d, long e, long f);

long kernel_call(long number, long a, long b, long c, long d, long e, long f) {
    long result = syscall(number, a, b, c, d, e, f);
    return result == -1 ? -(long)errno : result;
}

long kernel_fork(void);

long kernel_fork(void) {
    /* clone, because arm64 has no fork system call. */
    return kernel_call(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
}

int kernel_spawn_in(posix_spawn_file_actions_t *actions, const char *directory);

int kernel_spawn_in(posix_spawn_file_actions_t *actions, const char *directory) {
    return posix_spawn_file_actions_addchdir_np(actions, directory);
}
