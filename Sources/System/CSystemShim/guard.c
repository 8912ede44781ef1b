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

/* Fails all requests of a connection, so that nobody waits for the dead any more. */
static void abort_connection(unsigned connection) {
    const char *control = "/sys/fs/fuse/connections";
    char path[64];
    snprintf(path, sizeof path, "%s/%u/abort", control, connection);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT && unshare(CLONE_NEWNS) == 0) {
        /* Not mounted: root mounts it where nobody else sees it. */
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
        mount("fusectl", control, "fusectl", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
        file = open(path, O_WRONLY | O_CLOEXEC);
    }
    if (file < 0) return;
    (void)!write(file, "1", 1);
    close(file);
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
    /* The first thread sends the signal when it ends. As long as others are there, one of them counts
       as the parent, with the same number. */
    while (getppid() == daemon && sender.si_pid != daemon)
        if (sigwaitinfo(&death, &sender) < 0) sender.si_pid = 0;
    /* A process that ends needs a moment, and more with much memory; one that still has threads then
       is helped, or would have lost its mount anyway. */
    long threads = 0;
    for (int round = 0; round < 25; round++) {
        threads = threads_of_dead(daemon);
        if (threads < 0 || threads == 1) return;
        pause_milliseconds(20);
    }
    unsigned connection;
    if (threads > 1 && read(told, &connection, sizeof connection) == sizeof connection)
        abort_connection(connection);
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
