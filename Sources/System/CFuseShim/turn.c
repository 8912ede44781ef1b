#define _GNU_SOURCE
#include "turn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum {
    /* As many requests, one after the other, that were there already when they were looked for are more than
       one thread can do. Some are of a single client, too: the next one while the last is cleaned up after. */
    QUEUE = 256,
    /* How long a request is looked for again and again, in nanoseconds: as long as a client takes from one
       to the next, and less than a thread that sleeps takes to be woken. */
    LONGEST_LOOK = 50000,
    /* As many looks in vain, and there are no more of them until requests come soon again. */
    VAIN_LOOKS = 8,
    /* Of so many that come soon one is looked for, if such looks were in vain again and again. */
    MOST_DOUBT = 64,
    /* Of the processor, between two looks. */
    PAUSES = 10,
    /* Nanoseconds. */
    TICK = 1000000,
    /* As many ticks without a request end the watch. */
    QUIET_TICKS = 3,
    /* How often the turn is looked at before a thread sleeps: some microseconds, as long as a read takes. */
    LOOKS = 200,
};

enum turn { FREE, READING, WAITING };

static _Atomic enum turn turn;
static atomic_uint taken;     /* Requests. */
static atomic_int sleepers;   /* Threads that sleep until they are called. */
static atomic_int called;     /* One of them is on its way. */
static atomic_int watching;
static sem_t calls, watches;
static pthread_t watcher;
static int has_watch; /* Otherwise another thread is called for each request. */
static int has_processors; /* More than one: where a client can run while a thread looks. */
/* Of who has the turn. */
static unsigned found; /* Requests that did not have to be waited for, one after the other. */
static unsigned vain;  /* Looks. */
static unsigned soon;  /* Requests, since they are not looked for any more. */
static unsigned doubt = 1; /* As many of them, and one is looked for. */

void turn_call(void) {
    if (atomic_load(&sleepers) > 0 && !atomic_exchange(&called, 1)) sem_post(&calls);
}

/* Whether requests may wait though somebody could read them. Who goes to sleep later does so because another has
   the turn, and that one starts the watch when it gives it back. */
static int is_needed(void) { return atomic_load(&turn) == FREE && atomic_load(&sleepers) > 0; }

/* Looks until there is nothing more to do. */
static void watch(void) {
    unsigned last = atomic_load(&taken);
    for (int quiet = 0; quiet < QUIET_TICKS;) {
        struct timespec tick = {.tv_nsec = TICK};
        nanosleep(&tick, NULL);
        unsigned now = atomic_load(&taken);
        if (now != last) {
            quiet = 0;
        } else if (is_needed()) {
            quiet = 0;
            turn_call();
        } else {
            quiet++;
        }
        last = now;
    }
}

static void *watch_always(void *nothing) {
    for (;;) {
        while (sem_wait(&watches) != 0) {}
        do {
            watch();
            atomic_store(&watching, 0);
            /* Who gave the turn back before that relies on this watch. */
        } while (is_needed() && !atomic_exchange(&watching, 1));
    }
    return nothing;
}

int turn_start(int device) {
    int flags = fcntl(device, F_GETFL);
    if (flags < 0 || fcntl(device, F_SETFL, flags | O_NONBLOCK) < 0) return -errno;
    if (sem_init(&calls, 0, 0) != 0 || sem_init(&watches, 0, 0) != 0) return -errno;
    cpu_set_t processors;
    has_processors =
        sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) > 1;
    /* Signals are for the thread that waits for the end. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    has_watch = pthread_create(&watcher, NULL, watch_always, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (has_watch) pthread_setname_np(watcher, "watch");
    return 0;
}

void turn_end(void) {
    if (!has_watch) return;
    pthread_cancel(watcher);
    pthread_join(watcher, NULL);
}

/* Between looks at what another thread is about to change. */
static void pause_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static int try_take(void) {
    enum turn expected = FREE;
    return atomic_compare_exchange_strong(&turn, &expected, READING);
}

static void take(void) {
    for (;;) {
        /* Who reads a request that is there is done sooner than a thread can be woken. */
        for (int look = 0; look < LOOKS && atomic_load(&turn) == READING; look++)
            pause_processor();
        if (try_take()) return;
        atomic_fetch_add(&sleepers, 1);
        /* Who gave it back before we could be called. */
        int has = try_take();
        while (!has && sem_wait(&calls) != 0) {}
        atomic_fetch_sub(&sleepers, 1);
        if (has) return;
        atomic_store(&called, 0);
    }
}

static void give_back(void) {
    atomic_store(&turn, FREE);
    if (has_watch && !atomic_load(&watching) && !atomic_exchange(&watching, 1)) sem_post(&watches);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Waits for a request, or an error: EINTR after a signal, too. */
static ssize_t await(int device, void *buffer, size_t length) {
    int64_t start = now();
    ssize_t result;
    int looks = has_processors && vain < VAIN_LOOKS;
    if (looks) {
        do {
            for (int count = 0; count < PAUSES; count++) pause_processor();
            result = read(device, buffer, length);
            if (result >= 0 || errno != EAGAIN) {
                vain = 0;
                doubt = 1;
                return result;
            }
        } while (now() - start < LONGEST_LOOK);
        if (++vain == VAIN_LOOKS) {
            soon = 0;
            if (doubt < MOST_DOUBT) doubt *= 2;
        }
    }
    do {
        struct pollfd ready = {.fd = device, .events = POLLIN};
        if (poll(&ready, 1, -1) < 0) return -1;
        result = read(device, buffer, length);
    } while (result < 0 && errno == EAGAIN);
    /* To be woken took a part of that time. */
    if (!looks && now() - start < 2 * LONGEST_LOOK && ++soon >= doubt) vain = VAIN_LOOKS - 1;
    return result;
}

/* A request, or an error. */
static ssize_t next(int device, void *buffer, size_t length) {
    ssize_t result = read(device, buffer, length);
    if (result >= 0 || errno != EAGAIN) {
        found++;
        return result;
    }
    found = 0;
    atomic_store(&turn, WAITING);
    return await(device, buffer, length);
}

ssize_t turn_read(int device, void *buffer, size_t length) {
    take();
    ssize_t result = next(device, buffer, length);
    int error = errno;
    int is_queued = found >= QUEUE;
    if (is_queued) found = 0;
    atomic_fetch_add(&taken, 1);
    give_back();
    if (is_queued || !has_watch) turn_call();
    errno = error;
    return result;
}
