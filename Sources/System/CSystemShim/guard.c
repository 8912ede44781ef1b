#define _GNU_SOURCE
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* In the child only system calls are made: other threads of the parent may have held locks. */

/* The field of /proc/PID/stat that comes so many later. */
static char *next_field(char *field, int count) {
    for (; count > 0 && field != NULL; count--) {
        field = strchr(field, ' ');
        if (field != NULL) field++;
    }
    return field;
}

/* Who looks for the daemon by its arguments, to end it, does not mean the guard. */
static void take_name(void) {
    char text[1024];
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (count <= 0) return;
    text[count] = 0;
    char *field = strrchr(text, ')');
    if (field != NULL) field = next_field(field + 2, 48 - 3);
    if (field == NULL) return;
    /* Where the arguments begin and end. */
    char *rest;
    char *start = (char *)strtoul(field, &rest, 10), *end = (char *)strtoul(rest, NULL, 10);
    if (start == NULL || end <= start) return;
    memset(start, 0, end - start);
    strncpy(start, "guard", end - start - 1);
}

/* The threads of a process whose first one is dead, with that; 0 if that is not dead yet, -1 if the
   process is gone. */
static long threads_of_dead(pid_t process) {
    char text[1024];
    snprintf(text, sizeof text, "/proc/%d/stat", (int)process);
    int file = open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return -1;
    text[count] = 0;
    /* The name in parentheses may hold anything; the state is field 3, the threads field 20. */
    char *field = strrchr(text, ')');
    if (field == NULL || field[1] == 0) return -1;
    if (field[2] != 'Z') return field[2] == 'X' ? -1 : 0;
    field = next_field(field + 2, 20 - 3);
    if (field == NULL) return -1;
    return strtol(field, NULL, 10);
}

static void pause_milliseconds(long count) {
    struct timespec time = {count / 1000, count % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* The file that ends a connection, opened while that is there: of it alone, also when another mount has its
   number by then. -1 if it cannot be had. */
static int open_abort(unsigned connection) {
    char path[64];
    snprintf(path, sizeof path, "/sys/fs/fuse/connections/%u/abort", connection);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file >= 0 || errno != ENOENT) return file;
    /* Not mounted: root mounts it where nobody sees it. */
    int context = fsopen("fusectl", FSOPEN_CLOEXEC);
    if (context < 0) return -1;
    int folder = -1;
    if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        folder = fsmount(
            context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    close(context);
    if (folder < 0) return -1;
    snprintf(path, sizeof path, "%u/abort", connection);
    file = openat(folder, path, O_WRONLY | O_CLOEXEC);
    close(folder);
    return file;
}

/* What tells how to end the connection that the guard is told of; -1 if there is none, -2 if it was not told
   yet. */
static int take_connection(int told) {
    unsigned connection;
    ssize_t count = read(told, &connection, sizeof connection);
    if (count < 0) return -2;
    return count == sizeof connection ? open_abort(connection) : -1;
}

static void guard(pid_t daemon, int told) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (told > 0) syscall(SYS_close_range, 0, told - 1, 0);
    syscall(SYS_close_range, told + 1, ~0U, 0);
    prctl(PR_SET_NAME, "guard");
    take_name();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigset_t death;
    sigemptyset(&death);
    sigaddset(&death, SIGTERM);
    siginfo_t sender;
    sender.si_pid = 0;
    int control = -2;
    /* The first thread sends the signal when it ends. As long as others are there, one of them counts
       as the parent, with the same number. */
    while (getppid() == daemon && sender.si_pid != daemon) {
        /* Looks for the mount until it is there. */
        const struct timespec pace = {0, 50 * 1000000};
        if (control == -2) control = take_connection(told);
        if (sigtimedwait(&death, &sender, control == -2 ? &pace : NULL) < 0) sender.si_pid = 0;
    }
    if (control == -2) control = take_connection(told);
    /* A process that ends needs a moment, and more with much memory; one that still has threads then
       is helped, or would have lost its mount anyway. */
    long threads = 0;
    for (int round = 0; round < 25; round++) {
        threads = threads_of_dead(daemon);
        if (threads < 0 || threads == 1) return;
        pause_milliseconds(20);
    }
    /* All its requests fail, so that nobody waits for the dead any more. Of a mount that is gone nothing is
       left to fail. */
    if (threads > 1 && control >= 0) (void)!write(control, "1", 1);
}

int shim_guard_mount(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    pid_t daemon = getpid();
    pid_t child = fork();
    if (child == 0) {
        guard(daemon, ends[0]);
        _exit(0);
    }
    close(ends[0]);
    if (child > 0) return ends[1];
    close(ends[1]);
    return -1;
}
