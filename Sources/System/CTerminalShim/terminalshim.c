#define _GNU_SOURCE
#include "terminalshim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static int terminal = -1;
static struct termios original;
static struct termios raw;
/* Whether the terminal is ours to give back. */
static volatile sig_atomic_t is_entered = 0;
static char leaving[512];
static volatile sig_atomic_t leaving_count = 0;
static int pipe_ends[2] = {-1, -1};
static unsigned grace = 0;
/* The first signal that asked the process to end. */
static volatile sig_atomic_t ending = 0;

/* Those that ask for an end, and those that end whoever does not expect them. */
static const int ending_signals[] = {
    SIGHUP,  SIGINT,    SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
    SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGSTKFLT,
};
static const int other_signals[] = {SIGTSTP, SIGCONT, SIGWINCH};
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Whether we were asked to end in the background, where we need the terminal no more and would only be
   stopped again. Another thread may be about to learn of that. */
static int is_to_end_in_background(int descriptor) {
    int is_background = shim_terminal_is_background(descriptor);
    for (int turn = 0; is_background && !ending && turn < 10; turn++) usleep(10000);
    return ending && is_background;
}

int shim_terminal_enter(int descriptor) {
    /* Started in the background, this stops us until we are in the foreground, and changes nothing. Until
       then the settings are those of the shell, whose line editor has the terminal. */
    do {
        if (is_to_end_in_background(descriptor)) shim_terminal_die(ending);
    } while (tcflow(descriptor, TCOON) != 0 && errno == EINTR);
    if (tcgetattr(descriptor, &original) != 0) return -1;
    raw = original;
    cfmakeraw(&raw);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    static int registered = 0;
    if (!registered) registered = atexit(shim_terminal_leave) == 0;
    terminal = descriptor;
    if (shim_terminal_reenter() == 0) return 0;
    /* Whoever was started in the background and is asked to end there has not begun yet. */
    if (ending) shim_terminal_die(ending);
    return -1;
}

int shim_terminal_reenter(void) {
    is_entered = 1;
    /* Resumed in the background, this stops us until we are in the foreground, and the signal that
       resumes us there interrupts it. */
    do {
        if (is_to_end_in_background(terminal)) {
            is_entered = 0;
            errno = EIO;
            return -1;
        }
        if (tcsetattr(terminal, TCSANOW, &raw) == 0) return 0;
    } while (errno == EINTR);
    return -1;
}

int shim_terminal_set_leaving(const char *text, size_t count) {
    if (count >= sizeof leaving) {
        errno = EINVAL;
        return -1;
    }
    leaving_count = 0;
    memcpy(leaving, text, count);
    leaving_count = (sig_atomic_t)count;
    return 0;
}

void shim_terminal_leave(void) {
    if (!is_entered) return;
    is_entered = 0;
    int saved = errno;
    /* In the background the terminal is somebody else's, and changing it would stop us. */
    if (!shim_terminal_is_background(terminal)) {
        /* The settings first: writing may have to wait for a terminal that does not read. */
        tcsetattr(terminal, TCSANOW, &original);
        struct pollfd output = {.fd = terminal, .events = POLLOUT};
        int is_ready = poll(&output, 1, 200) == 1;
        if (!is_ready) {
            /* It does not read, but may later. What it did not read of the screen it need not: it is to
               go back to the other one. */
            tcflush(terminal, TCOFLUSH);
            is_ready = poll(&output, 1, 0) == 1;
        }
        if (is_ready && output.revents & POLLOUT) {
            ssize_t written = write(terminal, leaving, (size_t)leaving_count);
            (void)written;
        }
        /* Answers and clicks still under way are not for the shell. */
        tcflush(terminal, TCIFLUSH);
    }
    errno = saved;
}

static void set_default(int signal) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, NULL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void shim_terminal_die(int signal) {
    shim_terminal_leave();
    set_default(signal);
    kill(getpid(), signal);
    _exit(128 + signal);
}

static void tell(int signal) {
    int saved = errno;
    unsigned char byte = (unsigned char)signal;
    ssize_t written = write(pipe_ends[1], &byte, 1);
    (void)written;
    errno = saved;
}

static void when_ending(int signal) {
    if (!ending) {
        ending = signal;
        alarm(grace);
    }
    tell(signal);
}

static void when_late(int signal) {
    /* From somebody else it asks for an end as the others do. */
    if (!ending) return when_ending(signal);
    shim_terminal_die(ending);
}

/* Was reset to its default on delivery. */
static void when_crashing(int signal) {
    shim_terminal_leave();
    shim_terminal_die(signal);
}

static int install(const int *signals, size_t count, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    for (size_t index = 0; index < count; index++) {
        if (sigaction(signals[index], &action, NULL) != 0) return -1;
    }
    return 0;
}

int shim_terminal_watch(unsigned grace_seconds) {
    grace = grace_seconds;
    if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    /* A crash may be that of a full stack. */
    static char room[65536];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    const int late = SIGALRM;
    const int broken = SIGPIPE;
    if (sigaltstack(&stack, NULL) != 0
        || install(ending_signals, COUNT(ending_signals), when_ending, 0) != 0
        || install(other_signals, COUNT(other_signals), tell, 0) != 0
        || install(&late, 1, when_late, 0) != 0
        || install(&broken, 1, SIG_IGN, 0) != 0
        || install(
               crash_signals, COUNT(crash_signals), when_crashing,
               SA_ONSTACK | (int)SA_RESETHAND | SA_NODEFER)
            != 0)
        return -1;
    return pipe_ends[0];
}

int shim_terminal_stop(void) {
    const int stop = SIGTSTP;
    set_default(stop);
    raise(stop);
    /* Somebody resumed us, or nobody could have: then it did not stop. */
    return install(&stop, 1, tell, 0);
}

int shim_terminal_suspend(void) {
    shim_terminal_leave();
    /* The others of the job too, as the key does it: of a script that waits for us the shell would
       not learn that anything stopped, and nobody would have the terminal. All at once: who stopped
       after them could do so when the shell has resumed the job already. */
    const int stop = SIGTSTP;
    set_default(stop);
    kill(0, stop);
    /* Somebody resumed us, or nobody could have: then it did not stop. */
    if (install(&stop, 1, tell, 0) != 0) return -1;
    return shim_terminal_reenter();
}

int shim_terminal_is_same(int first, int second) {
    unsigned numbers[2];
    /* Which one /dev/tty is cannot be seen from its own number. */
    if (ioctl(first, TIOCGDEV, &numbers[0]) == 0 && ioctl(second, TIOCGDEV, &numbers[1]) == 0)
        return numbers[0] == numbers[1];
    struct stat one;
    struct stat other;
    return fstat(first, &one) == 0 && fstat(second, &other) == 0 && one.st_rdev == other.st_rdev;
}

int shim_terminal_is_background(int descriptor) {
    pid_t foreground = tcgetpgrp(descriptor);
    return foreground > 0 && foreground != getpgrp();
}

int shim_terminal_size(int descriptor, int size[4]) {
    struct winsize window;
    if (ioctl(descriptor, TIOCGWINSZ, &window) != 0) return -1;
    size[0] = window.ws_col;
    size[1] = window.ws_row;
    size[2] = window.ws_xpixel;
    size[3] = window.ws_ypixel;
    return 0;
}
